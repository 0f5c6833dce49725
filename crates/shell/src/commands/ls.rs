//! `ls`: what is in a folder.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::Date;
use crate::options::Given;
use crate::show;
use crate::tree::{self, Access, Node, Tree};

pub(crate) const COMMAND: Command = Command {
    names: &["ls", "ll"],
    summary: "List information about files",
    usage: "ls [-1aAdFhilnrRsStX] [FILE]...",
    misuse: 2,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

struct Row {
    shown: String,
    path: String,
    folder: bool,
    size: f64,
    owner: String,
    mode: u32,
    modified: i64,
    listing: String,
}

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("all", 'a'),
        ("almost-all", 'A'),
        ("directory", 'd'),
        ("human-readable", 'h'),
        ("inode", 'i'),
        ("recursive", 'R'),
        ("reverse", 'r'),
        ("size", 's'),
        ("color", 'G'),
        ("classify", 'F'),
        ("full-time", 'l'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("1aAdFGhilnpgorRsStuUXZ", LONG)?;
    let tree = call.tree().await?;
    let here = [".".to_string()];
    let names = if given.operands.is_empty() { &here[..] } else { &given.operands };
    let (mut files, mut folders, mut code) = (Vec::new(), Vec::new(), 0);
    for name in names {
        let path = call.path(name);
        match tree.at(&path) {
            Node::Missing => {
                call.complain(format!("cannot access '{name}': No such file or directory"));
                code = 2;
            }
            Node::Folder(_) if !given.has('d') => folders.push((name.clone(), path)),
            _ => files.push(row(&tree, name.clone(), path)),
        }
    }
    let titled = names.len() > 1 || given.has('R');
    if !files.is_empty() {
        print(call, &given, files, false);
    }
    let mut first = code == 0 && call.out.is_empty();
    while !folders.is_empty() {
        let (name, path) = folders.remove(0);
        if !tree.may(&call.shell.session.user, &path, Access::Read) {
            call.complain(format!("cannot open directory '{name}': Permission denied"));
            code = 2;
            continue;
        }
        if titled {
            let gap = if first { "" } else { "\n" };
            call.put(&format!("{gap}{name}:\n"));
        }
        first = false;
        let rows: Vec<Row> = tree
            .names(&path)
            .into_iter()
            .filter(|n| !n.starts_with('.') || given.has('a') || given.has('A'))
            .map(|n| row(&tree, n.clone(), tree::join(&path, &n)))
            .collect();
        if given.has('R') {
            let below = rows.iter().filter(|r| r.folder);
            let below = below.map(|r| (tree::join(&name, &r.shown), r.path.clone()));
            folders.splice(0..0, below.collect::<Vec<_>>());
        }
        print(call, &given, rows, true);
        note_small_files(call, &tree, &path);
        call.shell.fuel.step()?;
    }
    Ok(code)
}

/// Folders of small files have no names to list; their number says what a list would.
fn note_small_files(call: &mut Call<'_, '_>, tree: &Tree, path: &str) {
    if let Node::Folder(Some(file)) = tree.at(path)
        && file.inodes > 1.0
    {
        let (count, size) = (file.inodes - 1.0, show::human(file.size));
        call.say(format!("[{count:.0} small files, {size} in all, are not listed]"));
    }
}

fn row(tree: &Tree, shown: String, path: String) -> Row {
    let (folder, file) = match tree.at(&path) {
        Node::Folder(file) => (true, file),
        Node::File(file) => (false, Some(file)),
        Node::Device | Node::Missing => (false, None),
    };
    let date = Date::at(file.map_or(model::Tick(-86_400), |f| f.modified));
    Row {
        shown,
        folder,
        size: if folder { 4096.0 } else { file.map_or(0.0, |f| f.size) },
        owner: file.map_or("root".into(), |f| f.owner.clone()),
        mode: file.map_or(if folder { 0o755 } else { 0o666 }, |f| f.mode),
        modified: date.unix,
        listing: date.listing(),
        path,
    }
}

fn print(call: &mut Call<'_, '_>, given: &Given, mut rows: Vec<Row>, total: bool) {
    match given.last("StU") {
        Some('S') => rows.sort_by(|a, b| b.size.total_cmp(&a.size)),
        Some('t') => rows.sort_by_key(|r| -r.modified),
        _ => {}
    }
    if given.has('r') {
        rows.reverse();
    }
    let long = given.has('l') || given.has('n') || call.name == "ll";
    let size = |bytes: f64| match given.has('h') {
        true => show::human(bytes),
        false => format!("{bytes:.0}"),
    };
    if total && (long || given.has('s')) {
        let blocks: f64 = rows.iter().map(|r| show::blocks(r.size)).sum();
        let text = if given.has('h') { show::human(blocks * 1024.0) } else { format!("{blocks:.0}") };
        call.say(format!("total {text}"));
    }
    let name = |r: &Row| match (r.folder, given.has('F') || given.has('p')) {
        (true, true) => format!("{}/", r.shown),
        _ => r.shown.clone(),
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let mut cells = Vec::new();
            if given.has('s') {
                cells.push(format!("{:.0}", show::blocks(r.size)));
            }
            if long {
                cells.push(show::mode(r.folder, r.mode));
                cells.push(if r.folder { "2".into() } else { "1".into() });
                cells.extend([r.owner.clone(), r.owner.clone(), size(r.size), r.listing.clone()]);
            }
            cells.push(name(r));
            cells
        })
        .collect();
    let right = if given.has('s') { [0, 2, 5] } else { [1, 1, 4] };
    let right = if long { &right[..] } else { &[] };
    call.put(&show::table(&cells, right, " "));
}
