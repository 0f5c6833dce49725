//! `df`: space on the file systems.

use super::Command;
use crate::call::{Call, Done};
use crate::show;

pub(crate) const COMMAND: Command = Command {
    names: &["df"],
    summary: "Show information about the file system on which each FILE resides",
    usage: "df [-hHikTm] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("human-readable", 'h'), ("si", 'H'), ("inodes", 'i'), ("print-type", 'T'), ("all", 'a')];
    let given = call.options("ahHiklmPTx:t:", long)?;
    let host = call.host().await?;
    let tree = call.tree().await?;
    let mut code = 0;
    let mut wanted = given.operands.is_empty();
    let mut memory_too = wanted;
    for name in &given.operands {
        let path = call.path(name);
        if tree.exists(&path) {
            let in_memory = path == "/dev" || path == "/run" || path.starts_with("/dev/shm");
            memory_too |= in_memory;
            wanted |= !in_memory;
        } else {
            call.complain(format!("{name}: No such file or directory"));
            code = 1;
        }
    }
    if !wanted && !memory_too {
        return Ok(code);
    }
    let shown = host.memory / 2.0;
    let mut systems = Vec::new();
    if wanted {
        let d = host.disk;
        systems.push(("/dev/sda1", "ext4", d.capacity, d.used, d.inodes, d.inodes_used, "/"));
    }
    if memory_too {
        systems.push(("tmpfs", "tmpfs", shown, 0.0, 1_000_000.0, 1.0, "/dev/shm"));
    }
    let human = given.has('h') || given.has('H');
    let title = match (given.has('i'), human) {
        (true, _) => ["Inodes", "IUsed", "IFree", "IUse%"],
        (_, true) => ["Size", "Used", "Avail", "Use%"],
        _ if given.has('m') => ["1M-blocks", "Used", "Available", "Use%"],
        _ => ["1K-blocks", "Used", "Available", "Use%"],
    };
    let size = |bytes: f64| match (human, given.has('m')) {
        (true, _) => show::human(bytes),
        (_, true) => format!("{:.0}", (bytes / 1_048_576.0).ceil()),
        _ => format!("{:.0}", (bytes / 1024.0).ceil()),
    };
    let mut head = vec!["Filesystem".to_string()];
    if given.has('T') {
        head.push("Type".into());
    }
    head.extend(title.map(String::from));
    head.push("Mounted on".into());
    let mut rows = vec![head];
    for (device, kind, capacity, used, inodes, inodes_used, mount) in systems {
        let (all, taken) = if given.has('i') { (inodes, inodes_used) } else { (capacity, used) };
        let cell = |n: f64| match (given.has('i'), human) {
            (true, true) => show::human(n),
            (true, false) => format!("{n:.0}"),
            _ => size(n),
        };
        let mut row = vec![device.to_string()];
        if given.has('T') {
            row.push(kind.into());
        }
        let share = format!("{:.0}%", (100.0 * taken / all.max(1.0)).ceil());
        row.extend([cell(all), cell(taken), cell((all - taken).max(0.0)), share, mount.into()]);
        rows.push(row);
    }
    let first = if given.has('T') { 2 } else { 1 };
    call.put(&show::table(&rows, &[first, first + 1, first + 2, first + 3], "  "));
    Ok(code)
}
