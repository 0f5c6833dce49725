//! `seq`: numbers in a row.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["seq"],
    summary: "Print numbers from FIRST to LAST, in steps of INCREMENT",
    usage: "seq [-s SEP] [FIRST [INCREMENT]] LAST",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("s:w", &[("separator", 's')])?;
    let mut numbers = Vec::new();
    for text in &given.operands {
        match text.parse::<i64>() {
            Ok(number) => numbers.push(number),
            Err(_) => return call.misuse(format!("invalid floating point argument: '{text}'")),
        }
    }
    let (first, step, last) = match numbers[..] {
        [last] => (1, 1, last),
        [first, last] => (first, 1, last),
        [first, step, last] => (first, step, last),
        [] => return call.misuse("missing operand"),
        _ => return call.misuse(format!("extra operand '{}'", given.operands[3])),
    };
    if step == 0 {
        return call.misuse("invalid Zero increment value: '0'");
    }
    let separator = given.value('s').unwrap_or("\n").to_string();
    let (mut at, mut any) = (first, false);
    while if step > 0 { at <= last } else { at >= last } {
        if any {
            call.put(&separator);
        }
        any = true;
        call.put(&at.to_string());
        if call.is_full() {
            break;
        }
        match at.checked_add(step) {
            Some(next) => at = next,
            None => break,
        }
    }
    if any {
        call.put("\n");
    }
    Ok(0)
}
