//! `xargs`: a program with arguments from standard input.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["xargs"],
    summary: "Run COMMAND with arguments read from standard input",
    usage: "xargs [-0rt] [-n MAX-ARGS] [-I REPLACE] [-P MAX-PROCS] [COMMAND [ARG]...]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("null", '0'),
        ("no-run-if-empty", 'r'),
        ("max-args", 'n'),
        ("replace", 'I'),
        ("max-procs", 'P'),
        ("verbose", 't'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("0rtn:I:P:d:L:", LONG)?;
    let command = match given.operands.is_empty() {
        true => vec!["echo".to_string()],
        false => given.operands.clone(),
    };
    let input = call.stdin();
    let separator = match given.has('0') {
        true => Some("\0"),
        false => given.value('d').map(|d| if d == "\\n" { "\n" } else { d }),
    };
    let items: Vec<String> = match (separator, given.value('I')) {
        (Some(separator), _) => {
            input.split(separator).filter(|i| !i.is_empty()).map(String::from).collect()
        }
        (None, Some(_)) => input.lines().map(|l| l.trim().to_string()).collect(),
        (None, None) => input
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'']).to_string())
            .collect(),
    };
    let mut runs: Vec<Vec<String>> = Vec::new();
    if let Some(mark) = given.value('I') {
        for item in items.iter().filter(|i| !i.is_empty()) {
            runs.push(command.iter().map(|a| a.replace(mark, item)).collect());
        }
    } else {
        let most = match given.value('n').or(given.value('L')).map(str::parse::<usize>) {
            None => usize::MAX,
            Some(Ok(most)) if most > 0 => most,
            _ => return call.misuse("invalid number for -n option"),
        };
        for chunk in items.chunks(most.min(items.len().max(1))) {
            runs.push(command.iter().chain(chunk).cloned().collect());
        }
        if items.is_empty() && !given.has('r') {
            runs.push(command);
        }
    }
    let mut code = 0;
    for args in runs {
        call.shell.fuel.step()?;
        if given.has('t') {
            call.warn(args.join(" "));
        }
        match call.run(args).await? {
            0 => {}
            127 => return Ok(127),
            _ => code = 123,
        }
    }
    Ok(code)
}
