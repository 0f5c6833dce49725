//! `logrotate`: logs moved aside and compressed; writers are told to open new ones.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;
use model::{Face, FileContent};

pub(crate) const COMMAND: Command = Command {
    names: &["logrotate"],
    summary: "Rotate and compress system logs",
    usage: "logrotate [-dfv] [-s STATEFILE] CONFIGFILE",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Logs larger than this are rotated without being forced.
const LARGE: f64 = 1_073_741_824.0;

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("dfvs:l:", &[("force", 'f'), ("verbose", 'v'), ("debug", 'd'), ("state", 's')])?;
    if given.operands.is_empty() {
        return call.misuse("");
    }
    if !call.shell.is_root() {
        return call.fail(1, "error: error creating output file /var/lib/logrotate/status: Permission denied");
    }
    let tree = call.tree().await?;
    for name in &given.operands {
        // The usual configuration speaks of all logs; another file has to be there.
        let path = call.path(name);
        if !path.starts_with("/etc/logrotate") && !tree.exists(&path) {
            return call.fail(1, format!("error: cannot stat {name}: No such file or directory"));
        }
    }
    let log = |f: &&model::FileView| {
        f.path.starts_with("/var/log/")
            && f.path.ends_with(".log")
            && matches!(&f.content, FileContent::View { face: Face::Log, .. } | FileContent::Opaque | FileContent::Text(_))
            && f.size > 0.0
            && (given.has('f') || f.size > LARGE)
    };
    let logs: Vec<_> = tree.files().filter(log).map(|f| (f.path.clone(), f.handles.clone())).collect();
    let mut code = 0;
    for (path, handles) in logs {
        if given.has('v') || given.has('d') {
            call.warn(format!("rotating log {path}, log->rotateCount is 7"));
        }
        if given.has('d') {
            continue;
        }
        // Copied away and emptied where somebody writes on, otherwise moved.
        let old = format!("{path}.1");
        let moved = match handles.is_empty() {
            true => call.order("rename", &[("from", path.as_str().into()), ("to", old.as_str().into())]).await?,
            false => Ok(()),
        };
        let told = match (moved, handles.is_empty()) {
            (Err(reason), _) => Err(reason),
            (Ok(()), true) => {
                let zipped = format!("{old}.gz");
                let args = [("from", old.as_str().into()), ("to", zipped.as_str().into())];
                match call.order("compress", &args).await? {
                    Ok(()) => {
                        let args = [("path", path.as_str().into()), ("size", 0.0.into())];
                        call.order("truncate", &args).await?
                    }
                    Err(reason) => {
                        // Put back what could not be compressed.
                        let args = [("from", old.as_str().into()), ("to", path.as_str().into())];
                        call.order("rename", &args).await?.and(Err(reason))
                    }
                }
            }
            (Ok(()), false) => {
                call.order("truncate", &[("path", path.as_str().into()), ("size", 0.0.into())]).await?
            }
        };
        if let Err(reason) = told {
            call.warn(format!("error: error rotating {path}: {reason}"));
            code = 1;
        }
        if matches!(call.tree().await?.at(&path), Node::Missing) {
            code = 1;
        }
    }
    Ok(code)
}
