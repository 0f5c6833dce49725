//! Attributes of OTLP, in the order in which they are written: never through a map of random order.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};

pub(crate) fn value(text: impl Into<String>) -> AnyValue {
    AnyValue { value: Some(Value::StringValue(text.into())) }
}

pub(crate) fn text(key: &str, text: impl Into<String>) -> KeyValue {
    KeyValue { key: key.into(), value: Some(value(text)), key_strindex: 0 }
}

pub(crate) fn texts<'a>(key: &str, texts: impl Iterator<Item = &'a str>) -> KeyValue {
    let array = Value::ArrayValue(ArrayValue { values: texts.map(value).collect() });
    KeyValue { key: key.into(), value: Some(AnyValue { value: Some(array) }), key_strindex: 0 }
}
