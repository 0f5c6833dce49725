//! `timeout`, `nohup`, `nice`, `time`, `watch` and others that only run a program.

use super::{Command, nothing};
use crate::call::{Call, Done};
use crate::interpreter::Jump;
use crate::options::Given;
use crate::units;

pub(crate) const COMMAND: Command = Command {
    names: &["timeout", "nohup", "nice", "ionice", "time", "watch", "setsid", "stdbuf", "strace"],
    summary: "Run a command, once",
    usage: "timeout [-p] [-k SECONDS] [-s SIGNAL] SECONDS COMMAND [ARG]...",
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
        return limited(call, &given, command).await;
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

/// A program that is cut when it has waited for so long. Looks and changes end at once on a host,
/// however long whoever typed them takes for them.
async fn limited(call: &mut Call<'_, '_>, given: &Given, mut command: Vec<String>) -> Done {
    if command.len() < 2 {
        return call.misuse("missing operand");
    }
    let interval = command.remove(0);
    let Some(seconds) = nothing::seconds(&interval) else {
        return call.misuse(format!("invalid time interval '{interval}'"));
    };
    let outer = call.shell.left;
    // 0 is no limit; one that is not shorter than the outer one never comes to act.
    let own = (seconds > 0.0 && outer.is_none_or(|left| seconds < left)).then_some(seconds);
    let Some(own) = own else { return call.run(command).await };
    call.shell.left = Some(own);
    let code = call.run(command).await?;
    let used = own - call.shell.left.unwrap_or(0.0);
    call.shell.left = outer.map(|left| left - used);
    if call.shell.jump != Some(Jump::Cut) {
        return Ok(code);
    }
    call.shell.jump = None;
    let killed = given.value('s').and_then(units::signal_name) == Some("KILL");
    Ok(match (killed, given.has('p')) {
        (true, _) => 137,
        (false, true) => 143,
        (false, false) => 124,
    })
}
