//! `find`: files by what they are, and what to do with them.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::expand::glob;
use crate::tree::{self, Node, Tree};
use model::FileView;
use regex::Regex;

pub(crate) const COMMAND: Command = Command {
    names: &["find"],
    summary: "Search for files in a directory hierarchy",
    usage: "find [PATH]... [-name PATTERN] [-iname PATTERN] [-path PATTERN] \
         [-type f|d] [-size N] [-mtime N] [-mmin N] [-user NAME] [-empty] \
         [-maxdepth N] [-mindepth N] [-not] [-o] [-print] [-print0] [-ls] \
         [-delete] [-exec COMMAND {} \\;]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// A test or deed of the expression.
#[derive(Clone, Debug)]
enum Part {
    Name(Regex),
    NameAnyCase(Regex),
    Path(Regex),
    Type(char),
    /// Unit in bytes.
    Size(Compare, f64),
    /// Unit in seconds.
    Age(Compare, i64),
    User(String),
    Empty,
    Not,
    Or,
    Print(&'static str),
    List,
    Delete,
    Exec(Vec<String>, bool),
}

#[derive(Clone, Copy, Debug)]
struct Compare {
    sign: char,
    number: f64,
}

impl Compare {
    fn parse(text: &str) -> Option<Compare> {
        let sign = text.chars().next().filter(|c| matches!(c, '+' | '-')).unwrap_or('=');
        let number = text.trim_start_matches(['+', '-']).parse().ok()?;
        Some(Compare { sign, number })
    }

    fn holds(self, value: f64) -> bool {
        match self.sign {
            '+' => value > self.number,
            '-' => value < self.number,
            _ => value == self.number,
        }
    }
}

#[derive(Debug, Default)]
struct Plan {
    parts: Vec<Part>,
    least: usize,
    most: Option<usize>,
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    let args = call.args.clone();
    let options = args.iter().position(|a| a.starts_with(['-', '(', '!'])).unwrap_or(args.len());
    let (roots, expression) = args.split_at(options);
    let here = [".".to_string()];
    let roots = if roots.is_empty() { &here[..] } else { roots };
    let plan = parse(call, expression)?;
    let mut together: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut code = 0;
    for root in roots {
        let path = call.path(root);
        let tree = call.tree().await?;
        if !tree.exists(&path) {
            call.complain(format!("'{root}': No such file or directory"));
            code = 1;
            continue;
        }
        let mut all = tree.walk(&path);
        if plan.parts.iter().any(|p| matches!(p, Part::Delete)) {
            // What is in a folder goes before the folder.
            all.reverse();
        }
        for one in all {
            call.shell.fuel.step()?;
            let rest = one[path.len().min(one.len())..].trim_start_matches('/');
            let depth = if rest.is_empty() { 0 } else { rest.matches('/').count() + 1 };
            if depth < plan.least || plan.most.is_some_and(|most| depth > most) {
                continue;
            }
            let shown = if rest.is_empty() { root.clone() } else { tree::join(root, rest) };
            code = code.max(visit(call, &plan, &tree, &one, &shown, &mut together).await?);
        }
    }
    for (mut command, names) in together {
        command.extend(names);
        call.run(command).await?;
    }
    Ok(code)
}

/// Judges one path: tests joined by "and", alternatives by `-o`.
async fn visit(
    call: &mut Call<'_, '_>,
    plan: &Plan,
    tree: &Tree,
    path: &str,
    shown: &str,
    together: &mut Vec<(Vec<String>, Vec<String>)>,
) -> Result<i32, Stop> {
    let deeds = |p: &Part| {
        matches!(p, Part::Print(_) | Part::List | Part::Delete | Part::Exec(..))
    };
    let mut code = 0;
    let silent = plan.parts.iter().any(deeds);
    for branch in plan.parts.split(|p| matches!(p, Part::Or)) {
        let (mut holds, mut negate) = (true, false);
        for part in branch {
            if !holds {
                break;
            }
            if matches!(part, Part::Not) {
                negate = !negate;
                continue;
            }
            if deeds(part) {
                code = code.max(act(call, part, tree, path, shown, together).await?);
                continue;
            }
            holds = test(tree, part, path) != negate;
            negate = false;
        }
        if holds {
            if !silent {
                call.say(shown);
            }
            break;
        }
    }
    Ok(code)
}

fn test(tree: &Tree, part: &Part, path: &str) -> bool {
    let (folder, file) = match tree.at(path) {
        Node::Folder(file) => (true, file),
        Node::File(file) => (false, Some(file)),
        Node::Device | Node::Missing => (false, None),
    };
    let size = |f: &FileView| if folder { 4096.0 } else { f.size };
    match part {
        Part::Name(pattern) => pattern.is_match(tree::name(path)),
        Part::NameAnyCase(pattern) => pattern.is_match(&tree::name(path).to_lowercase()),
        Part::Path(pattern) => pattern.is_match(path),
        Part::Type(kind) => match kind {
            'd' => folder,
            'f' => !folder && file.is_some(),
            _ => false,
        },
        Part::Size(compare, unit) => {
            let bytes = file.map_or(4096.0, size);
            compare.holds((bytes / unit).ceil())
        }
        Part::Age(compare, unit) => {
            let modified = file.map_or(model::Tick(-86_400), |f| f.modified);
            compare.holds((tree.host.now.since(modified) / unit) as f64)
        }
        Part::User(user) => file.map_or("root", |f| f.owner.as_str()) == user,
        Part::Empty if folder => {
            tree.names(path).is_empty() && file.is_none_or(|f| f.inodes <= 1.0)
        }
        Part::Empty => file.is_some_and(|f| f.size == 0.0),
        _ => true,
    }
}

async fn act(
    call: &mut Call<'_, '_>,
    part: &Part,
    tree: &Tree,
    path: &str,
    shown: &str,
    together: &mut Vec<(Vec<String>, Vec<String>)>,
) -> Result<i32, Stop> {
    match part {
        Part::Print(end) => {
            call.put(shown);
            call.put(end);
            Ok(0)
        }
        Part::List => call.run(vec!["ls".into(), "-ld".into(), shown.into()]).await,
        Part::Delete => {
            let bulk = matches!(tree.at(path), Node::Folder(Some(f)) if f.inodes > 1.0);
            let args = match tree.is_folder(path) && !bulk {
                true => vec!["rmdir".to_string(), path.into()],
                false => vec!["rm".to_string(), "-rf".into(), path.into()],
            };
            let output = call.shell.invoke(args).await?;
            if output.code != 0 {
                let reason = output.err.trim().rsplit(": ").next().unwrap_or_default().to_string();
                call.complain(format!("cannot delete '{shown}': {reason}"));
            }
            Ok(output.code)
        }
        Part::Exec(command, false) => {
            let args = command.iter().map(|a| a.replace("{}", shown)).collect();
            call.run(args).await?;
            Ok(0)
        }
        Part::Exec(command, true) => {
            match together.iter_mut().find(|(c, _)| c == command) {
                Some((_, names)) => names.push(shown.into()),
                None => together.push((command.clone(), vec![shown.into()])),
            }
            Ok(0)
        }
        _ => Ok(0),
    }
}

fn parse(call: &mut Call<'_, '_>, args: &[String]) -> Result<Plan, Stop> {
    let mut plan = Plan::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let plain = match arg.as_str() {
            "-print" => Some(Part::Print("\n")),
            "-print0" => Some(Part::Print("\0")),
            "-ls" => Some(Part::List),
            "-delete" => Some(Part::Delete),
            "-empty" => Some(Part::Empty),
            "!" | "-not" => Some(Part::Not),
            "-o" | "-or" => Some(Part::Or),
            "-a" | "-and" | "-xdev" | "-mount" | "-depth" | "-noleaf" => continue,
            "(" | ")" => {
                return call.fail(1, "parentheses in expressions are not supported by this terminal");
            }
            _ => None,
        };
        if let Some(part) = plain {
            plan.parts.push(part);
            continue;
        }
        if matches!(arg.as_str(), "-exec" | "-execdir" | "-ok") {
            let mut command = Vec::new();
            let mut ended = None;
            for word in args.by_ref() {
                if word == ";" || word == "+" && command.last().is_some_and(|w| w == "{}") {
                    ended = Some(word == "+");
                    break;
                }
                command.push(word.clone());
            }
            let Some(many) = ended.filter(|_| !command.is_empty()) else {
                return call.fail(1, format!("missing argument to `{arg}'"));
            };
            if many {
                command.pop();
            }
            plan.parts.push(Part::Exec(command, many));
            continue;
        }
        const TAKES_VALUE: &[&str] = &[
            "-name", "-iname", "-path", "-wholename", "-type", "-size", "-mtime", "-mmin", "-ctime",
            "-atime", "-cmin", "-amin", "-user", "-maxdepth", "-mindepth",
        ];
        if !TAKES_VALUE.contains(&arg.as_str()) {
            return match arg.starts_with('-') {
                true => call.fail(1, format!("unknown predicate `{arg}'")),
                false => call.fail(1, format!("paths must precede expression: `{arg}'")),
            };
        }
        let Some(value) = args.next() else {
            return call.fail(1, format!("missing argument to `{arg}'"));
        };
        match valued(arg, value, &mut plan) {
            Some(part) => plan.parts.extend(part),
            None => return call.fail(1, format!("invalid argument `{value}' to `{arg}'")),
        }
    }
    Ok(plan)
}

/// A test with a value; `None`: the value does not fit.
fn valued(name: &str, value: &str, plan: &mut Plan) -> Option<Option<Part>> {
    let age = |unit| Compare::parse(value).map(|c| Some(Part::Age(c, unit)));
    match name {
        "-name" => Some(Some(Part::Name(glob(value)))),
        "-iname" => Some(Some(Part::NameAnyCase(glob(&value.to_lowercase())))),
        "-path" | "-wholename" => Some(Some(Part::Path(glob(value)))),
        "-type" => matches!(value, "f" | "d" | "l" | "s" | "p" | "b" | "c")
            .then(|| Some(Part::Type(value.chars().next().unwrap_or('f')))),
        "-size" => {
            let unit = match value.chars().last()? {
                'c' => 1.0,
                'w' => 2.0,
                'k' => 1024.0,
                'M' => 1_048_576.0,
                'G' => 1_073_741_824.0,
                _ => 512.0,
            };
            let number = value.trim_end_matches(['c', 'w', 'b', 'k', 'M', 'G']);
            Compare::parse(number).map(|c| Some(Part::Size(c, unit)))
        }
        "-mtime" | "-ctime" | "-atime" => age(86_400),
        "-mmin" | "-cmin" | "-amin" => age(60),
        "-user" => Some(Some(Part::User(value.into()))),
        "-maxdepth" => {
            plan.most = Some(value.parse().ok()?);
            Some(None)
        }
        _ => {
            plan.least = value.parse().ok()?;
            Some(None)
        }
    }
}
