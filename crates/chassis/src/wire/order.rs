//! Orders, levers and their parameters on the wire.

use std::collections::BTreeMap;

use model::{EdgeId, InstanceId, LeverPull, Order, ParamValue, Params};
use proto::control::v1 as pb;
use proto::control::v1::param_value::Value;

use super::{WireError, narrow, present};

/// Parameters for the wire.
pub fn params_out(params: &Params) -> BTreeMap<String, pb::ParamValue> {
    let value_out = |value: &ParamValue| match value {
        ParamValue::Flag(flag) => Value::Flag(*flag),
        ParamValue::Number(number) => Value::Number(*number),
        ParamValue::Text(text) => Value::Text(text.clone()),
    };
    let pairs = params.0.iter();
    pairs
        .map(|(name, value)| (name.clone(), pb::ParamValue { value: Some(value_out(value)) }))
        .collect()
}

/// Parameters from the wire.
///
/// # Errors
/// Where one has no value.
pub fn params_in(params: &BTreeMap<String, pb::ParamValue>) -> Result<Params, WireError> {
    let mut values = BTreeMap::new();
    for (name, value) in params {
        let value = match present("args", value.value.as_ref())? {
            Value::Flag(flag) => ParamValue::Flag(*flag),
            Value::Number(number) => ParamValue::Number(*number),
            Value::Text(text) => ParamValue::Text(text.clone()),
        };
        values.insert(name.clone(), value);
    }
    Ok(Params(values))
}

/// An order for the wire.
pub fn order_out(order: &Order) -> pb::Order {
    pb::Order {
        target: u32::from(order.target.0),
        verb: order.verb.clone(),
        args: params_out(&order.args),
    }
}

/// An order from the wire.
///
/// # Errors
/// Where a part does not fit the model.
pub fn order_in(order: &pb::Order) -> Result<Order, WireError> {
    Ok(Order {
        target: InstanceId(narrow("order.target", order.target)?),
        verb: order.verb.clone(),
        args: params_in(&order.args)?,
    })
}

/// A lever pull for the wire.
pub fn pull_out(pull: &LeverPull) -> pb::LeverPull {
    pb::LeverPull {
        id: pull.id,
        target: u32::from(pull.target.0),
        edge: pull.edge.map(|edge| u32::from(edge.0)),
        lever: pull.lever.clone(),
        args: params_out(&pull.args),
    }
}

/// A lever pull from the wire.
///
/// # Errors
/// Where a part does not fit the model.
pub fn pull_in(pull: &pb::LeverPull) -> Result<LeverPull, WireError> {
    let edge = pull.edge.map(|edge| narrow("pull.edge", edge).map(EdgeId)).transpose()?;
    Ok(LeverPull {
        id: pull.id,
        target: InstanceId(narrow("pull.target", pull.target)?),
        edge,
        lever: pull.lever.clone(),
        args: params_in(&pull.args)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::samples::Samples;
    use machine::encode;
    use prost::Message;

    #[test]
    fn orders_and_levers_come_back_bit_for_bit() {
        for seed in 0..500 {
            let mut samples = Samples::new(seed);
            let order = Order {
                target: InstanceId(samples.bits() as u16),
                verb: samples.text(),
                args: samples.params(),
            };
            let bytes = order_out(&order).encode_to_vec();
            let back = order_in(&pb::Order::decode(&bytes[..]).unwrap()).unwrap();
            assert_eq!(encode("order", &back), encode("order", &order), "seed {seed}");
            let pull = LeverPull {
                id: samples.bits(),
                target: InstanceId(samples.bits() as u16),
                edge: samples.flag().then(|| EdgeId(samples.bits() as u16)),
                lever: samples.text(),
                args: samples.params(),
            };
            let bytes = pull_out(&pull).encode_to_vec();
            let back = pull_in(&pb::LeverPull::decode(&bytes[..]).unwrap()).unwrap();
            assert_eq!(encode("pull", &back), encode("pull", &pull), "seed {seed}");
        }
    }

    #[test]
    fn a_parameter_without_a_value_is_refused() {
        let args = BTreeMap::from([("x".to_string(), pb::ParamValue { value: None })]);
        assert_eq!(params_in(&args).unwrap_err().to_string(), "field args: is missing");
    }
}
