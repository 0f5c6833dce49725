//! `cp`: a second file with the same content, or an emptied one from `/dev/null`.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::{Access, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["cp", "install"],
    summary: "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY",
    usage: "cp [-afinprRuv] SOURCE... DEST",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("archive", 'a'),
        ("force", 'f'),
        ("no-clobber", 'n'),
        ("preserve", 'p'),
        ("recursive", 'r'),
        ("verbose", 'v'),
        ("target-directory", 't'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("afinprRuvt:", LONG)?;
    let Some((sources, target)) = super::mv::pair(call, &given).await? else { return Ok(1) };
    let recursive = given.has('r') || given.has('R') || given.has('a');
    let (keep, verbose) = (given.has('n'), given.has('v'));
    let mut code = 0;
    for name in sources {
        let from = call.path(&name);
        let Some(to) = super::mv::destination(call, &name, &target).await? else {
            code = 1;
            continue;
        };
        let tree = call.tree().await?;
        let user = call.shell.session.user.clone();
        let problem = match tree.at(&from) {
            Node::Missing => Some(format!("cannot stat '{name}': No such file or directory")),
            Node::Folder(_) if !recursive => {
                Some(format!("-r not specified; omitting directory '{name}'"))
            }
            _ if !tree.may(&user, &from, Access::Read) => {
                Some(format!("cannot open '{name}' for reading: Permission denied"))
            }
            _ if from == to => Some(format!("'{name}' and '{target}' are the same file")),
            _ => None,
        };
        if let Some(problem) = problem {
            call.complain(problem);
            code = 1;
            continue;
        }
        if keep && tree.exists(&to) || matches!(tree.at(&to), Node::Device) {
            continue;
        }
        let pairs: Vec<(String, String)> = match tree.at(&from) {
            Node::Device => {
                let args = [("path", to.as_str().into()), ("size", 0.0.into())];
                if let Err(reason) = call.order("truncate", &args).await? {
                    call.complain(format!("cannot create regular file '{target}': {reason}"));
                    code = 1;
                }
                continue;
            }
            Node::Folder(_) => tree
                .files()
                .filter(|f| f.path.starts_with(&format!("{from}/")) || f.path == from)
                .map(|f| (f.path.clone(), format!("{to}{}", &f.path[from.len()..])))
                .collect(),
            _ => vec![(from, to)],
        };
        for (from, to) in pairs {
            code = code.max(copy(call, &from, &to, verbose).await?);
        }
    }
    Ok(code)
}

/// Copies one file; what does not fit is cut and said.
async fn copy(call: &mut Call<'_, '_>, from: &str, to: &str, verbose: bool) -> Done {
    let tree = call.tree().await?;
    let room = tree.host.disk.capacity - tree.host.disk.used;
    let told = call.order("copy", &[("from", from.into()), ("to", to.into())]).await?;
    let told = match tree.size(from) > room {
        true => told.and(Err("No space left on device".into())),
        false => told,
    };
    if let Err(reason) = told {
        call.complain(format!("error writing '{to}': {reason}"));
        return Ok(1);
    }
    if verbose {
        call.say(format!("'{from}' -> '{to}'"));
    }
    Ok(0)
}
