//! Canonical JSON: sorted keys, no spaces, whole numbers without a fraction. Equal values have
//! equal bytes, so records and hashes can be compared.

use serde_json::Value;

/// Above this, whole numbers of an `f64` are no longer exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// `value` in its canonical text.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// A number as JSON: whole ones without a fraction.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < EXACT_MAX {
        return Value::from(value as i64);
    }
    Value::from(value)
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            // Sorted here: the map may keep the order of insertion.
            let mut names: Vec<_> = fields.keys().collect();
            names.sort();
            text.push('{');
            for (at, name) in names.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(&fields[name], text);
            }
            text.push('}');
        }
        Value::Number(n) if n.is_f64() => {
            text.push_str(&n.as_f64().map_or(Value::Null, number).to_string());
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_numbers_minimal() {
        let value = json!({"b": [1.0, 0.25, -3.0e2, u64::MAX], "a": {"z": null, "y": "\"é\n"}});
        let expected = r#"{"a":{"y":"\"é\n","z":null},"b":[1,0.25,-300,18446744073709551615]}"#;
        assert_eq!(canonical(&value), expected);
    }
}
