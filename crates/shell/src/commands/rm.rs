//! `rm`, `unlink`, `rmdir`: takes paths out of the tree. What somebody has open keeps its space.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::tree::{Access, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["rm", "rmdir", "unlink", "shred"],
    summary: "Remove the FILE(s)",
    usage: "rm [-dfirRv] FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("force", 'f'),
        ("recursive", 'r'),
        ("verbose", 'v'),
        ("interactive", 'i'),
        ("dir", 'd'),
        ("no-preserve-root", 'N'),
        ("parents", 'p'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("dfirRvpu", LONG)?;
    if given.operands.is_empty() {
        if given.has('f') {
            return Ok(0);
        }
        return call.misuse("missing operand");
    }
    let recursive = given.has('r') || given.has('R');
    let mut code = 0;
    for name in given.operands.clone() {
        let removed = match call.name.as_str() {
            "rmdir" => folder(call, &name).await?,
            _ => one(call, &name, recursive, given.has('f'), given.has('d')).await?,
        };
        match removed {
            Some(paths) if given.has('v') => {
                for path in paths {
                    call.say(format!("removed '{path}'"));
                }
            }
            Some(_) => {}
            None => code = 1,
        }
    }
    Ok(code)
}

/// Removes what a name stands for; `None`: not, and it was said why.
async fn one(
    call: &mut Call<'_, '_>,
    name: &str,
    recursive: bool,
    force: bool,
    empty_too: bool,
) -> Result<Option<Vec<String>>, Stop> {
    let path = call.path(name);
    let tree = call.tree().await?;
    let mut refuse = |reason: &str| {
        call.complain(format!("cannot remove '{name}': {reason}"));
        Ok(None)
    };
    if name.ends_with("/.") || name.ends_with("/..") || name == "." || name == ".." {
        let why = format!("refusing to remove '.' or '..' directory: skipping '{name}'");
        call.complain(why);
        return Ok(None);
    }
    match tree.at(&path) {
        Node::Missing if force => return Ok(Some(Vec::new())),
        Node::Missing => return refuse("No such file or directory"),
        Node::Device => return refuse("Operation not permitted"),
        Node::Folder(_) if path == "/" && recursive => {
            call.complain("it is dangerous to operate recursively on '/'");
            call.complain("use --no-preserve-root to override this failsafe");
            return Ok(None);
        }
        Node::Folder(_) if !recursive => {
            if empty_too && tree.names(&path).is_empty() {
                return folder(call, name).await;
            }
            return refuse("Is a directory");
        }
        _ => {}
    }
    let mut paths: Vec<String> = tree.files().map(|f| f.path.clone()).collect();
    let below = format!("{path}/");
    paths.retain(|p| *p == path || p.starts_with(&below));
    if paths.is_empty() {
        // A folder of the system in which nothing is told apart.
        return refuse("Device or resource busy");
    }
    let user = call.shell.session.user.clone();
    for path in &paths {
        if !tree.may(&user, path, Access::Write) {
            call.complain(format!("cannot remove '{path}': Permission denied"));
            return Ok(None);
        }
        if let Err(reason) = call.order("unlink", &[("path", path.as_str().into())]).await? {
            call.complain(format!("cannot remove '{path}': {reason}"));
            return Ok(None);
        }
    }
    Ok(Some(paths))
}

async fn folder(call: &mut Call<'_, '_>, name: &str) -> Result<Option<Vec<String>>, Stop> {
    let path = call.path(name);
    let tree = call.tree().await?;
    let reason = match tree.at(&path) {
        Node::Missing => "No such file or directory",
        Node::File(_) | Node::Device => "Not a directory",
        Node::Folder(file) => {
            let full = !tree.names(&path).is_empty() || file.is_some_and(|f| f.inodes > 1.0);
            match file {
                _ if full => "Directory not empty",
                None => "Device or resource busy",
                Some(_) => {
                    let told = call.order("unlink", &[("path", path.as_str().into())]).await?;
                    match told {
                        Ok(()) => return Ok(Some(vec![path])),
                        Err(reason) => {
                            call.complain(format!("failed to remove '{name}': {reason}"));
                            return Ok(None);
                        }
                    }
                }
            }
        }
    };
    call.complain(format!("failed to remove '{name}': {reason}"));
    Ok(None)
}
