//! `true`, `false`, `:`, `sleep`, `sync`, `wait`, `clear`: programs that change nothing.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["true", "false", ":", "sleep", "sync", "wait", "clear", "reset", "stty", "usleep"],
    summary: "Do nothing, successfully or not",
    usage: "true | false | sleep NUMBER | sync",
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
        for arg in args {
            let number = arg.trim_end_matches(['s', 'm', 'h', 'd']);
            if number.parse::<f64>().is_ok_and(|n| n >= 0.0) {
                continue;
            }
            return call.misuse(format!("invalid time interval '{arg}'"));
        }
    }
    Ok(i32::from(call.name == "false"))
}
