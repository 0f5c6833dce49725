//! `kill`: a signal to processes.

use super::Command;
use crate::call::{Call, Done};
use crate::units;

pub(crate) const COMMAND: Command = Command {
    names: &["kill"],
    summary: "Send a signal to a job",
    usage: "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut args = std::mem::take(&mut call.args);
    call.name = "bash: kill".into();
    let usage = "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | \
         jobspec ... or kill -l [sigspec]";
    let mut signal = "TERM";
    match args.first().map(String::as_str) {
        None => {
            call.warn(usage);
            return Ok(2);
        }
        Some("-l" | "-L") => {
            call.say(" 1) SIGHUP\t 2) SIGINT\t 3) SIGQUIT\t 6) SIGABRT\t 9) SIGKILL");
            call.say("10) SIGUSR1\t12) SIGUSR2\t15) SIGTERM\t18) SIGCONT\t19) SIGSTOP");
            return Ok(0);
        }
        Some("-s" | "-n") => {
            args.remove(0);
            if args.is_empty() {
                return call.fail(2, "-s: option requires an argument");
            }
            let text = args.remove(0);
            match units::signal_name(&text) {
                Some(name) => signal = name,
                None => return call.fail(1, format!("{text}: invalid signal specification")),
            }
        }
        Some("--") => drop(args.remove(0)),
        Some(option) if option.starts_with('-') && option.len() > 1 => {
            match units::signal_name(&option[1..]) {
                Some(name) => signal = name,
                None => {
                    let text = option[1..].to_string();
                    return call.fail(1, format!("{text}: invalid signal specification"));
                }
            }
            args.remove(0);
        }
        Some(_) => {}
    }
    if args.first().is_some_and(|a| a == "--") {
        args.remove(0);
    }
    if args.is_empty() {
        call.warn(usage);
        return Ok(2);
    }
    let mut code = 0;
    for text in args {
        if text.starts_with('%') {
            call.complain(format!("{text}: no such job"));
            code = 1;
            continue;
        }
        let Ok(pid) = text.parse::<u32>() else {
            call.complain(format!("{text}: arguments must be process or job IDs"));
            code = 1;
            continue;
        };
        if let Err(reason) = units::signal(call, pid, signal).await? {
            call.complain(format!("({pid}) - {reason}"));
            code = 1;
        }
    }
    Ok(code)
}
