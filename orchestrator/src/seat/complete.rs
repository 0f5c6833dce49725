//! What the word at the cursor can become.

use super::line::{LOCAL, signals_of};
use action::{ActionSpec, Site};
use model::ParamKind;

/// Where the word at the end of `line` begins, and what it can become, in alphabetical order.
pub fn complete(line: &str, at: Option<&str>, site: &Site<'_>) -> (usize, Vec<String>) {
    if at.is_some() {
        return (line.len(), Vec::new());
    }
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &line[start..];
    let before: Vec<_> = line[..start].split_whitespace().collect();
    let mut known = match before.first() {
        None => first_words(),
        Some(&"help" | &"?") => action::all().iter().map(|spec| spec.name.into()).collect(),
        Some(&"ssh") => hosts(site),
        Some(name) => match action::find(name) {
            Some(spec) => arguments(spec, &before[1..], word, site),
            None => Vec::new(),
        },
    };
    known.retain(|candidate| candidate.starts_with(word));
    known.sort();
    known.dedup();
    (start, known)
}

fn first_words() -> Vec<String> {
    let local = LOCAL.iter().map(|(name, _)| *name);
    action::all().iter().map(|spec| spec.name).chain(local).map(String::from).collect()
}

fn hosts(site: &Site<'_>) -> Vec<String> {
    let hosts = site.topology.instances.iter().filter(|i| i.kind == "host");
    hosts.map(|i| i.name.clone()).collect()
}

fn arguments(spec: &ActionSpec, before: &[&str], word: &str, site: &Site<'_>) -> Vec<String> {
    let (prefix, names) = match word.split_once('=') {
        Some((key, _)) => (format!("{key}="), vec![key]),
        None => (String::new(), spec.args.iter().map(|arg| arg.name).collect()),
    };
    let given = |name: &str| before.iter().any(|b| b.starts_with(&format!("{name}=")));
    let mut known = Vec::new();
    for arg in spec.args.iter().filter(|arg| names.contains(&arg.name) && !given(arg.name)) {
        let values: Vec<String> = match arg.kind {
            ParamKind::Component if arg.name == "host" => hosts(site),
            ParamKind::Component => {
                let of = site.topology.instances.iter().filter(|i| i.kind != "host");
                of.map(|i| i.name.clone()).collect()
            }
            ParamKind::Class => site.topology.classes.iter().map(|c| c.name.clone()).collect(),
            ParamKind::Choice(words) => words.iter().map(ToString::to_string).collect(),
            ParamKind::Flag => vec!["false".into(), "true".into()],
            ParamKind::Text if arg.name == "signals" => {
                let of = before.iter().map(|word| word.trim_start_matches("component="));
                of.flat_map(|of| signals_of(of, site)).map(String::from).collect()
            }
            ParamKind::Text if arg.name == "record" => {
                site.topology.names.iter().map(|n| n.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        known.extend(values.into_iter().map(|value| format!("{prefix}{value}")));
        if prefix.is_empty() {
            known.push(format!("{}=", arg.name));
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::LibraryArgs;

    fn of(line: &str) -> Vec<String> {
        let shelf = LibraryArgs::default().open().unwrap();
        let scenario = shelf.load("change/bad-deploy").unwrap();
        let kinds = fleet::kinds();
        complete(line, None, &Site::new(&scenario.topology, &kinds)).1
    }

    #[test]
    fn the_word_at_the_cursor_becomes_what_fits_there() {
        assert_eq!(of("restar"), ["restart"]);
        assert_eq!(of("restart pay"), ["payment"]);
        assert_eq!(of("restart component=pay"), ["component=payment"]);
        assert_eq!(of("ssh node-"), ["node-1", "node-2"]);
        assert_eq!(of("shed gateway che"), ["checkout"]);
        let signals = ["latency.p50.seconds", "latency.p95.seconds", "latency.p99.seconds"];
        assert_eq!(of("metrics gateway latency."), signals);
        assert_eq!(of("start_unit host=node-"), ["host=node-1", "host=node-2"]);
        assert!(of("nonsense pay").is_empty());
        assert!(of("").contains(&"quit".to_string()));
    }
}
