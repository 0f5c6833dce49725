//! `logrotate`: logs moved aside and compressed; writers are told to open new ones.

use super::Command;
use crate::call::{Call, Done, Stop};
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
        return call.fail(1, "error: error creating output file /var/lib/logrotate/status: \
             Permission denied");
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
            && !matches!(
                &f.content,
                FileContent::Folder | FileContent::View { face: Face::Certificate, .. }
            )
            && f.size > 0.0
            && (given.has('f') || f.size > LARGE)
    };
    let logs = tree.files().filter(log).map(|f| (f.path.clone(), f.handles.clone()));
    let logs: Vec<_> = logs.collect();
    let mut code = 0;
    for (path, handles) in logs {
        if given.has('v') || given.has('d') {
            call.warn(format!("rotating log {path}, log->rotateCount is 7"));
        }
        if given.has('d') {
            continue;
        }
        let told = rotate(call, &path, handles.is_empty()).await?;
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

/// Moves a log aside and compresses it; one that somebody writes on is emptied in its place.
async fn rotate(
    call: &mut Call<'_, '_>,
    path: &str,
    closed: bool,
) -> Result<Result<(), String>, Stop> {
    let emptied = [("path", path.into()), ("size", 0.0.into())];
    if !closed {
        return Ok(call.order("truncate", &emptied).await?);
    }
    let old = format!("{path}.1");
    let moved = [("from", path.into()), ("to", old.as_str().into())];
    if let Err(reason) = call.order("rename", &moved).await? {
        return Ok(Err(reason));
    }
    let zipped = format!("{old}.gz");
    let args = [("from", old.as_str().into()), ("to", zipped.as_str().into())];
    if let Err(reason) = call.order("compress", &args).await? {
        // What could not be compressed goes back.
        let back = [("from", old.as_str().into()), ("to", path.into())];
        return Ok(call.order("rename", &back).await?.and(Err(reason)));
    }
    Ok(call.order("truncate", &emptied).await?)
}
