//! `du`: space that files take.

use super::Command;
use crate::call::{Call, Done};
use crate::show;
use crate::tree;

pub(crate) const COMMAND: Command = Command {
    names: &["du"],
    summary: "Summarize device usage of the set of files, recursively for directories",
    usage: "du [-abchkmsx] [-d DEPTH] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("all", 'a'),
        ("bytes", 'b'),
        ("total", 'c'),
        ("human-readable", 'h'),
        ("max-depth", 'd'),
        ("summarize", 's'),
        ("one-file-system", 'x'),
        ("inodes", 'i'),
        ("exclude", 'X'),
        ("apparent-size", 'A'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("abcd:hkmsxDHLlSX:", LONG)?;
    let depth = match given.value('d').map(str::parse::<usize>) {
        None if given.has('s') => 0,
        None => usize::MAX,
        Some(Ok(depth)) => depth,
        Some(Err(_)) => {
            let text = given.value('d').unwrap_or_default();
            return call.misuse(format!("invalid maximum depth '{text}'"));
        }
    };
    let tree = call.tree().await?;
    let here = [".".to_string()];
    let names = if given.operands.is_empty() { &here[..] } else { &given.operands };
    let size = |path: &str, folder: bool| {
        if given.has('i') {
            return format!("{:.0}", tree.inodes(path));
        }
        let bytes = tree.size(path) + if folder { 4096.0 } else { 0.0 };
        match given.last("bhkm") {
            Some('h') => show::human(show::blocks(bytes) * 1024.0),
            Some('b') => format!("{bytes:.0}"),
            Some('m') => format!("{:.0}", (bytes / 1_048_576.0).ceil()),
            _ => format!("{:.0}", show::blocks(bytes)),
        }
    };
    let (mut code, mut total) = (0, 0.0);
    for name in names {
        let path = call.path(name);
        if !tree.exists(&path) {
            call.complain(format!("cannot access '{name}': No such file or directory"));
            code = 1;
            continue;
        }
        total += tree.size(&path);
        let all = tree.walk(&path);
        let base = path.matches('/').count() - usize::from(path == "/");
        for one in post_order(&all) {
            call.shell.fuel.step()?;
            let folder = tree.is_folder(&one);
            let below = one.matches('/').count().saturating_sub(base);
            let listed = folder || given.has('a') || one == path;
            if below <= depth && listed {
                let rest = one.strip_prefix(path.as_str()).unwrap_or("").trim_start_matches('/');
                let shown = if rest.is_empty() { name.clone() } else { tree::join(name, rest) };
                call.say(format!("{}\t{shown}", size(&one, folder)));
            }
        }
    }
    if given.has('c') {
        let text = if given.has('h') { show::human(total) } else { format!("{:.0}", show::blocks(total)) };
        call.say(format!("{text}\ttotal"));
    }
    Ok(code)
}

/// Paths with every folder after what is in it, otherwise by name.
fn post_order(paths: &[String]) -> Vec<String> {
    let mut all = paths.to_vec();
    // A `~` sorts after every name, so a folder's key comes after its members' keys.
    all.sort_by_key(|p| p.split('/').map(String::from).chain(["\u{10ffff}".into()]).collect::<Vec<_>>());
    all
}
