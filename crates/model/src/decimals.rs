//! Numbers as people read them.

/// A number with so many digits after the point; what rounds to nothing has no sign.
pub fn decimals(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if is_nothing(&text) { text.trim_start_matches('-').into() } else { text }
}

/// A difference with its sign and so many digits after the point; nothing is `+0`.
pub fn signed(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    if is_nothing(&text) { text.replace('-', "+") } else { text }
}

fn is_nothing(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, '+' | '-' | '0' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_minus() {
        for (value, digits, plain, with_sign) in [
            (-0.0, 3, "0.000", "+0.000"),
            (-0.0004, 3, "0.000", "+0.000"),
            (-0.0006, 3, "-0.001", "-0.001"),
            (0.25, 1, "0.2", "+0.2"),
            (-0.4, 0, "0", "+0"),
            (-10.0, 0, "-10", "-10"),
            (12.345, 2, "12.35", "+12.35"),
            (f64::NEG_INFINITY, 1, "-inf", "-inf"),
        ] {
            assert_eq!(decimals(value, digits), plain, "{value}");
            assert_eq!(signed(value, digits), with_sign, "{value}");
        }
    }
}
