//! `chmod`, `chown`, `chgrp`: who may do what with files.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;
use model::ParamValue;

pub(crate) const COMMAND: Command = Command {
    names: &["chmod", "chown", "chgrp"],
    summary: "Change the mode or owner of each FILE",
    usage: "chmod [-Rv] MODE FILE... | chown [-Rv] OWNER[:GROUP] FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    // `-x` and the like are modes, no options.
    if let Some(first) = call.args.first_mut()
        && first.starts_with('-')
        && first[1..].chars().all(|c| "rwxst".contains(c))
        && first.len() > 1
    {
        *first = format!("a{first}");
    }
    let given = call.options("RvcfhH", &[("recursive", 'R'), ("verbose", 'v')])?;
    let mut operands = given.operands.clone();
    if operands.len() < 2 {
        return match operands.first() {
            None => call.misuse("missing operand"),
            Some(what) => call.misuse(format!("missing operand after '{what}'")),
        };
    }
    let what = operands.remove(0);
    let mut code = 0;
    for name in operands {
        let path = call.path(&name);
        let tree = call.tree().await?;
        if matches!(tree.at(&path), Node::Missing) {
            call.complain(format!("cannot access '{name}': No such file or directory"));
            code = 1;
            continue;
        }
        let below = format!("{path}/");
        let mine = |f: &&model::FileView| {
            f.path == path || given.has('R') && f.path.starts_with(&below)
        };
        let files: Vec<_> = tree.files().filter(mine).cloned().collect();
        for file in files {
            let user = call.shell.session.user.clone();
            if user != "root" && (file.owner != user || call.name != "chmod") {
                let text = match call.name.as_str() {
                    "chmod" => format!("changing permissions of '{name}': Operation not permitted"),
                    _ => format!("changing ownership of '{name}': Operation not permitted"),
                };
                call.complain(text);
                code = 1;
                continue;
            }
            let change: (&str, ParamValue) = match call.name.as_str() {
                "chmod" => match mode(&what, file.mode) {
                    Some(mode) => ("mode", f64::from(mode).into()),
                    None => return call.misuse(format!("invalid mode: '{what}'")),
                },
                "chgrp" => continue,
                _ => match what.split([':', '.']).next() {
                    Some(owner) if !owner.is_empty() => ("owner", owner.into()),
                    _ => continue,
                },
            };
            if let Err(reason) = call.order("set_mode", &[("path", file.path.into()), change]).await? {
                call.complain(format!("'{name}': {reason}"));
                code = 1;
            }
        }
    }
    Ok(code)
}

/// `644`, `u+x`, `go-w`, `a=r`.
fn mode(text: &str, now: u32) -> Option<u32> {
    if text.chars().all(|c| c.is_ascii_digit()) {
        return u32::from_str_radix(text, 8).ok().filter(|m| *m <= 0o7777);
    }
    let mut mode = now;
    for part in text.split(',') {
        let at = part.find(['+', '-', '='])?;
        let (who, rest) = part.split_at(at);
        let sign = rest.chars().next()?;
        let mut bits = 0;
        for c in rest[1..].chars() {
            bits |= match c {
                'r' => 0o4,
                'w' => 0o2,
                'x' | 'X' => 0o1,
                _ => return None,
            };
        }
        let who = if who.is_empty() { "a" } else { who };
        for c in who.chars() {
            let shifts: &[u32] = match c {
                'u' => &[6],
                'g' => &[3],
                'o' => &[0],
                'a' => &[6, 3, 0],
                _ => return None,
            };
            for shift in shifts {
                match sign {
                    '+' => mode |= bits << shift,
                    '-' => mode &= !(bits << shift),
                    _ => mode = mode & !(7 << shift) | bits << shift,
                }
            }
        }
    }
    Some(mode)
}
