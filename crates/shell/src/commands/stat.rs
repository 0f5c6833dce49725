//! `stat`: what is known of a file.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::Date;
use crate::show;
use crate::tree::{self, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["stat"],
    summary: "Display file status",
    usage: "stat [-c FORMAT] FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("c:Lt", &[("format", 'c'), ("printf", 'c'), ("dereference", 'L')])?;
    if given.operands.is_empty() {
        return call.misuse("missing operand");
    }
    let tree = call.tree().await?;
    let mut code = 0;
    for name in &given.operands {
        let path = call.path(name);
        let (folder, file) = match tree.at(&path) {
            Node::Missing => {
                call.complain(format!("cannot statx '{name}': No such file or directory"));
                code = 1;
                continue;
            }
            Node::Folder(file) => (true, file),
            Node::File(file) => (false, Some(file)),
            Node::Device => (false, None),
        };
        let size = if folder { 4096.0 } else { file.map_or(0.0, |f| f.size) };
        let owner = file.map_or("root", |f| f.owner.as_str()).to_string();
        let mode = file.map_or(if folder { 0o755 } else { 0o666 }, |f| f.mode);
        let date = Date::at(file.map_or(model::Tick(-86_400), |f| f.modified));
        let kind = if folder { "directory" } else { "regular file" };
        let blocks = show::blocks(size) * 2.0;
        if let Some(format) = given.value('c') {
            let mut out = format.to_string();
            for (code, value) in [
                ("%n", name.clone()),
                ("%s", format!("{size:.0}")),
                ("%U", owner.clone()),
                ("%G", owner.clone()),
                ("%a", format!("{mode:o}")),
                ("%A", show::mode(folder, mode)),
                ("%F", kind.to_string()),
                ("%b", format!("{blocks:.0}")),
                ("%y", format!("{} {}.000000000 +0000", date.iso(), date.time())),
                ("%Y", date.unix.to_string()),
            ] {
                out = out.replace(code, &value);
            }
            call.say(out);
            continue;
        }
        let when = format!("{} {}.000000000 +0000", date.iso(), date.time());
        let mix = |a: u32, b: u8| a * 31 % 999_983 + u32::from(b);
        let inode = tree::name(&path).bytes().fold(131_072, mix);
        call.say(format!("  File: {name}"));
        call.say(format!("  Size: {size:<10.0}\tBlocks: {blocks:<10.0} IO Block: 4096   {kind}"));
        let links = if folder { 2 } else { 1 };
        call.say(format!("Device: 8,1\tInode: {inode:<11} Links: {links}"));
        let bits = show::mode(folder, mode);
        call.say(format!(
            "Access: ({mode:04o}/{bits})  Uid: ({:5}/{owner:>8})   Gid: ({:5}/{owner:>8})",
            super::id::number(&owner),
            super::id::number(&owner)
        ));
        for label in ["Access", "Modify", "Change"] {
            call.say(format!("{label}: {when}"));
        }
        call.say(" Birth: -");
    }
    Ok(code)
}
