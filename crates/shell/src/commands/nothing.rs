//! `true`, `false`, `:`, `sleep`, `sync`, `wait`, `clear`: programs that change nothing.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["true", "false", ":", "sleep", "sync", "wait", "clear", "reset", "stty", "usleep"],
    summary: "Do nothing, successfully or not",
    usage: "true | false | sleep NUMBER[SUFFIX]... | sync",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    if call.name == "sleep" {
        let args = call.args.clone();
        if args.is_empty() {
            return call.misuse("missing operand");
        }
        let mut sum = 0.0;
        for arg in args {
            match seconds(&arg) {
                Some(seconds) => sum += seconds,
                None => return call.misuse(format!("invalid time interval '{arg}'")),
            }
        }
        call.shell.wait(sum).await?;
    }
    Ok(i32::from(call.name == "false"))
}

/// A number with the suffix of its unit, in seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let number: f64 = number.parse().ok().filter(|n: &f64| *n >= 0.0)?;
    let factor = match unit {
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => 1.0,
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_units() {
        assert_eq!(seconds("90"), Some(90.0));
        assert_eq!(seconds("1.5m"), Some(90.0));
        assert_eq!(seconds("1d"), Some(86_400.0));
        assert_eq!((seconds("-1"), seconds("m"), seconds("nan")), (None, None, None));
    }
}
