//! `basename`, `dirname`, `realpath`, `readlink`, `file`: parts and kinds of paths.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::{self, Node};
use model::FileContent;

pub(crate) const COMMAND: Command = Command {
    names: &["basename", "dirname", "realpath", "readlink", "file"],
    summary: "Print parts or the kind of a path",
    usage: "basename NAME [SUFFIX] | dirname NAME... | realpath FILE... | file FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("aefmsbiz", &[("brief", 'b')])?;
    if given.operands.is_empty() {
        return call.misuse("missing operand");
    }
    let mut code = 0;
    let tree = call.tree().await?;
    for (at, name) in given.operands.iter().enumerate() {
        let path = call.path(name);
        match call.name.as_str() {
            "basename" if at > 0 && !given.has('a') => break,
            "basename" => {
                let last = tree::name(name);
                let suffix = given.operands.get(1).filter(|_| !given.has('a'));
                let suffix = suffix.map_or("", String::as_str);
                let bare = last.strip_suffix(suffix).filter(|b| !b.is_empty()).unwrap_or(last);
                call.say(bare);
            }
            "dirname" => {
                let trimmed = name.trim_end_matches('/');
                call.say(if trimmed.contains('/') { tree::parent(trimmed) } else { "." });
            }
            "file" => {
                let text = match tree.at(&path) {
                    Node::Missing => format!("cannot open `{name}' (No such file or directory)"),
                    Node::Folder(_) => "directory".into(),
                    Node::Device => "character special (1/3)".into(),
                    Node::File(f) if f.size == 0.0 => "empty".into(),
                    Node::File(f) => match &f.content {
                        FileContent::Opaque if name.ends_with(".gz") => "gzip compressed data".into(),
                        FileContent::Opaque => "data".into(),
                        _ => "ASCII text".into(),
                    },
                };
                call.say(if given.has('b') { text } else { format!("{name}: {text}") });
            }
            "readlink" if !given.has('f') && !given.has('e') && !given.has('m') => code = 1,
            _ if tree.exists(&path) || given.has('m') || tree.exists(tree::parent(&path)) => {
                call.say(path);
            }
            _ => {
                call.complain(format!("{name}: No such file or directory"));
                code = 1;
            }
        }
    }
    Ok(code)
}
