//! `gzip`: a compressed file in a file's place.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;

pub(crate) const COMMAND: Command = Command {
    names: &["gzip", "bzip2", "xz", "zstd"],
    summary: "Compress FILEs by removing redundancy",
    usage: "gzip [-123456789cfknqv] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("force", 'f'), ("keep", 'k'), ("verbose", 'v'), ("best", '9'), ("fast", '1')];
    let given = call.options("123456789cfknqvT:", long)?;
    if given.has('c') || given.operands.is_empty() {
        return call.fail(1, "compressed data not written to a terminal; name files to compress");
    }
    let end = match call.name.as_str() {
        "bzip2" => ".bz2",
        "xz" => ".xz",
        "zstd" => ".zst",
        _ => ".gz",
    };
    let mut code = 0;
    for name in given.operands.clone() {
        let path = call.path(&name);
        let tree = call.tree().await?;
        let to = format!("{path}{end}");
        let problem = match tree.at(&path) {
            Node::Missing => Some(format!("{name}: No such file or directory")),
            Node::Folder(_) => Some(format!("{name} is a directory -- ignored")),
            Node::Device => Some(format!("{name} is not a directory or a regular file - ignored")),
            Node::File(_) if name.ends_with(end) => {
                Some(format!("{name} already has {end} suffix -- unchanged"))
            }
            Node::File(_) if tree.exists(&to) && !given.has('f') => {
                Some(format!("{name}{end} already exists; not overwritten"))
            }
            Node::File(_) => None,
        };
        let told = match problem {
            Some(problem) => {
                call.complain(problem);
                code = 1;
                continue;
            }
            None => match call.shell.writable(&to).await? {
                Ok(()) => {
                    let args = [("from", path.as_str().into()), ("to", to.as_str().into())];
                    call.order("compress", &args).await?
                }
                Err(reason) => Err(reason.to_string()),
            },
        };
        if let Err(reason) = told {
            call.complain(format!("{name}{end}: {reason}"));
            code = 1;
        } else if given.has('v') {
            call.warn(format!("{name}:\t 92.0% -- replaced with {name}{end}"));
        }
    }
    Ok(code)
}
