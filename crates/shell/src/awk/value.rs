//! Values of awk: texts that are numbers where they look like ones.

/// A text that is a number too if it looks like one.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    /// From input: compares as a number if it looks like one.
    Input(String),
}

impl Value {
    pub(super) fn number(&self) -> f64 {
        match self {
            Value::Number(n) => *n,
            Value::Text(text) | Value::Input(text) => leading(text),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Value::Number(n) if n.fract() == 0.0 && n.abs() < 1e16 => format!("{n:.0}"),
            Value::Number(n) => {
                // Six significant digits, as `%.6g` has them.
                let digits = if n.abs() >= 1.0 {
                    6_usize.saturating_sub(format!("{:.0}", n.abs()).len())
                } else {
                    6
                };
                let text = format!("{n:.digits$}");
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').into()
                } else {
                    text
                }
            }
            Value::Text(text) | Value::Input(text) => text.clone(),
        }
    }

    pub(super) fn holds(&self) -> bool {
        match self {
            Value::Number(n) => *n != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Input(text) => match whole(text) {
                Some(n) => n != 0.0,
                None => !text.is_empty(),
            },
        }
    }
}

pub(super) fn whole(text: &str) -> Option<f64> {
    let text = text.trim();
    let plausible = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if plausible { text.parse().ok().filter(|n: &f64| n.is_finite()) } else { None }
}

fn leading(text: &str) -> f64 {
    let text = text.trim_start();
    let mut end = 0;
    let mut point = false;
    for (at, c) in text.char_indices() {
        let fits = c.is_ascii_digit() || at == 0 && matches!(c, '-' | '+') || c == '.' && !point;
        if !fits {
            break;
        }
        point |= c == '.';
        end = at + c.len_utf8();
    }
    text[..end].parse().unwrap_or(0.0)
}

/// What an operator of numbers gives.
pub(super) fn arithmetic(sign: &str, a: f64, b: f64) -> Result<f64, String> {
    Ok(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        _ if b == 0.0 => return Err("division by zero".into()),
        "/" => a / b,
        _ => a % b,
    })
}
