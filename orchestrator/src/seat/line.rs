//! What a typed line means: an action in short syntax or JSON, a line for a host's terminal, or a
//! word to the seat itself.

use super::words;
use action::near::{nearest, suggestion};
use action::{Action, ActionSpec, Site};
use model::{ParamKind, ParamSpec, ParamValue, Params};

/// Words to the seat itself, with what they do.
pub const LOCAL: &[(&str, &str)] = &[
    ("alerts", "what fires now; takes no time"),
    ("exit", "leaves a host's terminal, else ends the episode here"),
    ("help", "this help, or `help ACTION`"),
    ("quit", "ends the episode here; `resolve` says that the incident is over"),
    (
        "ssh",
        "`ssh HOST`: a terminal there until `exit`; `ssh HOST LINE`: one line, in quotes or not",
    ),
];

/// The action that runs a line in a terminal.
const SHELL: &str = "shell";

/// What a line means.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    /// Nothing.
    Nothing,
    /// Help on everything, or on one action.
    Help(Option<&'static ActionSpec>),
    /// What fires now.
    Alerts,
    /// A terminal of this host from now on; none: no terminal.
    Terminal(Option<String>),
    /// The episode ends here.
    Leave,
    /// An action that fits the system.
    Act(Action),
}

/// Reads a line typed in the terminal of host `at`, or in none.
///
/// # Errors
/// One sentence with what is allowed.
pub fn read(line: &str, at: Option<&str>, site: &Site<'_>) -> Result<Typed, String> {
    let line = line.trim();
    if let Some(host) = at {
        return match line {
            "" => Ok(Typed::Nothing),
            "exit" | "logout" => Ok(Typed::Terminal(None)),
            line => typed_at(host, line, site),
        };
    }
    if line.is_empty() || line.starts_with('#') {
        return Ok(Typed::Nothing);
    }
    if line.starts_with('{') {
        let action = Action::parse(line).map_err(|error| error.to_string())?;
        return fitting(action, site);
    }
    if let Some(command) = line.strip_prefix('$') {
        // What begins with a substitution has no prompt in front of it.
        let command = if command.starts_with(['(', '{']) { line } else { command.trim() };
        return typed_at(only_host(site)?, command, site);
    }
    if line.split_whitespace().next() == Some("ssh") {
        return ssh(&line["ssh".len()..], site);
    }
    let words = words::split(line)?;
    let Some((first, rest)) = words.split_first() else { return Ok(Typed::Nothing) };
    match first.as_str() {
        "help" | "?" => match rest.first() {
            None => Ok(Typed::Help(None)),
            Some(name) => Ok(Typed::Help(Some(spec(name)?))),
        },
        "alerts" => Ok(Typed::Alerts),
        "quit" | "exit" => Ok(Typed::Leave),
        name => {
            let spec = spec(name)?;
            let args = arguments(spec, rest, site)?;
            let action = Action::new(spec.name, &args).map_err(|error| error.to_string())?;
            fitting(action, site)
        }
    }
}

/// An action that fits this system; one that does not costs nothing.
fn fitting(action: Action, site: &Site<'_>) -> Result<Typed, String> {
    match action.effect(site) {
        Ok(_) => Ok(Typed::Act(action)),
        Err(error) => Err(error.to_string()),
    }
}

/// The action of a name, or of the beginning of one.
fn spec(name: &str) -> Result<&'static ActionSpec, String> {
    let all = action::all();
    let begins = |spec: &&ActionSpec| spec.name.starts_with(name);
    let mut beginning = all.iter().filter(begins);
    match (all.iter().find(|spec| spec.name == name), beginning.next(), beginning.next()) {
        (Some(spec), _, _) | (None, Some(spec), None) => Ok(spec),
        _ => {
            let local = LOCAL.iter().map(|(name, _)| *name);
            let mut known: Vec<_> = all.iter().map(|spec| spec.name).chain(local).collect();
            known.sort_unstable();
            Err(suggestion("action", name, &known))
        }
    }
}

fn hosts<'a>(site: &Site<'a>) -> Vec<&'a str> {
    let hosts = site.topology.instances.iter().filter(|i| i.kind == "host");
    hosts.map(|i| i.name.as_str()).collect()
}

fn only_host<'a>(site: &Site<'a>) -> Result<&'a str, String> {
    match hosts(site)[..] {
        [only] => Ok(only),
        ref hosts => {
            Err(format!("on which host? `ssh HOST LINE` with one of {}", hosts.join(", ")))
        }
    }
}

/// `ssh` with what was typed behind it.
fn ssh(rest: &str, site: &Site<'_>) -> Result<Typed, String> {
    let (known, rest) = (hosts(site), rest.trim());
    let (host, command) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    if host.is_empty() {
        return Err(format!("ssh: which host? One of {}", known.join(", ")));
    }
    if !known.contains(&host) {
        return Err(suggestion("host", host, &known));
    }
    match command.trim() {
        "" => spec(SHELL).map(|_| Typed::Terminal(Some(host.to_string()))),
        command => match words::whole(command) {
            Some(inner) => typed_at(host, &inner, site),
            // As it was typed: its quotes are the terminal's affair.
            None => typed_at(host, command, site),
        },
    }
}

fn typed_at(host: &str, command: &str, site: &Site<'_>) -> Result<Typed, String> {
    let args = Params::default().with("host", host).with("command", command);
    let action = Action::new(SHELL, &args).map_err(|error| error.to_string())?;
    fitting(action, site)
}

/// Arguments by name (`group=canary`) or by what they can only be.
fn arguments(
    spec: &'static ActionSpec,
    words: &[String],
    site: &Site<'_>,
) -> Result<Params, String> {
    let mut args = Params::default();
    for word in words {
        let named =
            word.split_once('=').filter(|(key, _)| spec.args.iter().any(|a| a.name == *key));
        let (arg, text) = match named {
            Some((key, text)) => (key, text),
            None => (place(spec, &args, word, site)?, word.as_str()),
        };
        let before = args.text(arg).to_string();
        let text = if arg == "signals" { signals(text, &args, site)? } else { text.to_string() };
        let text = if before.is_empty() { text } else { format!("{before},{text}") };
        args.0.insert(arg.into(), value(&text));
    }
    Ok(args)
}

fn value(text: &str) -> ParamValue {
    match text {
        "true" | "yes" | "on" => ParamValue::Flag(true),
        "false" | "no" | "off" => ParamValue::Flag(false),
        _ => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => ParamValue::Number(number),
            _ => ParamValue::Text(text.to_string()),
        },
    }
}

/// The argument that a word without a name is for: one whose words are known and that knows it,
/// else the first one that must be given, else a text.
fn place(
    spec: &'static ActionSpec,
    args: &Params,
    word: &str,
    site: &Site<'_>,
) -> Result<&'static str, String> {
    let open = || spec.args.iter().filter(|arg| !args.has(arg.name));
    let knows = open().find(|arg| knows(arg, word, site));
    let needed = || open().find(|arg| arg.default.is_none());
    let text = || {
        let free = |arg: &&ParamSpec| matches!(arg.kind, ParamKind::Text | ParamKind::Content);
        // Several signals may follow each other.
        spec.args.iter().filter(free).find(|arg| !args.has(arg.name) || arg.name == "signals")
    };
    knows.or_else(needed).or_else(text).map(|arg| arg.name).ok_or_else(|| {
        let names: Vec<_> = open().map(|arg| arg.name).collect();
        match names.is_empty() {
            true => format!("{}: `{word}` is one argument too many", spec.name),
            false => {
                let names = names.join("=, ");
                format!("{}: `{word}` fits no argument; name it: {names}=", spec.name)
            }
        }
    })
}

/// Whether an argument with a closed vocabulary has this word.
fn knows(arg: &ParamSpec, word: &str, site: &Site<'_>) -> bool {
    let number = || word.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match arg.kind {
        ParamKind::Component => site.topology.instance(word).is_some(),
        ParamKind::Class => site.topology.classes.iter().any(|c| c.name == word || c.route == word),
        ParamKind::Choice(words) => words.contains(&word),
        ParamKind::Flag => matches!(value(word), ParamValue::Flag(_)),
        ParamKind::Text | ParamKind::Content => false,
        _ => number(),
    }
}

/// Signals by their names or a part of them, e.g. `latency`.
fn signals(words: &str, args: &Params, site: &Site<'_>) -> Result<String, String> {
    let known = signals_of(args.text("component"), site);
    let mut chosen = Vec::new();
    for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let exact: Vec<_> = known.iter().filter(|name| **name == word).collect();
        let matching = match exact.is_empty() {
            true => known.iter().filter(|name| name.contains(word)).collect(),
            false => exact,
        };
        if matching.is_empty() && !known.is_empty() {
            return Err(match nearest(word, &known) {
                Some(near) => format!("no signal with `{word}`; did you mean `{near}`?"),
                None => format!("no signal with `{word}`; there is {}", known.join(", ")),
            });
        }
        chosen.extend(matching.into_iter().copied());
    }
    Ok(if chosen.is_empty() { words.to_string() } else { chosen.join(",") })
}

/// Signals of a component.
pub fn signals_of(component: &str, site: &Site<'_>) -> Vec<&'static str> {
    let Some(id) = site.topology.instance(component) else { return Vec::new() };
    let kind = site.kinds.find(&site.instance(id).kind);
    kind.map_or(Vec::new(), |kind| kind.signals().iter().map(|signal| signal.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::LibraryArgs;
    use std::sync::Arc;

    fn shop() -> Arc<scenario::Scenario> {
        let shelf = LibraryArgs::default().open().unwrap();
        shelf.load("change/bad-deploy").unwrap()
    }

    fn meaning(line: &str) -> String {
        let (scenario, kinds) = (shop(), fleet::kinds());
        match read(line, None, &Site::new(&scenario.topology, &kinds)) {
            Ok(Typed::Act(action)) => action.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn short_lines_are_actions() {
        for (line, action) in [
            ("restart payment", r#"{"action":"restart","component":"payment"}"#),
            ("rollback shop", r#"{"action":"rollback","component":"shop"}"#),
            ("scale payment 4", r#"{"action":"scale","component":"payment","replicas":4}"#),
            ("scale 4 payment", r#"{"action":"scale","component":"payment","replicas":4}"#),
            ("shed gateway 50%", r#"{"action":"shed","component":"gateway","ratio":0.5}"#),
            (
                "shed gateway checkout ratio=0.2",
                r#"{"action":"shed","class":"checkout","component":"gateway","ratio":0.2}"#,
            ),
            (
                "logs gateway \"no such host\" 10",
                r#"{"action":"logs","component":"gateway","contains":"no such host","minutes":10}"#,
            ),
            ("wait 60", r#"{"action":"wait","seconds":60}"#),
            (
                "declare payment process",
                r#"{"action":"declare","cause":"process","component":"payment"}"#,
            ),
            ("resolve", r#"{"action":"resolve"}"#),
            ("topo", r#"{"action":"topology"}"#),
            (r#"{"action": "wait", "seconds": 5}"#, r#"{"action":"wait","seconds":5}"#),
        ] {
            assert_eq!(meaning(line), action, "{line}");
        }
        let metrics = meaning("metric gateway latency queue.depth 3");
        assert!(metrics.contains("latency.p50.seconds,latency.p95.seconds"), "{metrics}");
        assert!(metrics.contains("queue.depth") && metrics.contains(r#""minutes":3"#), "{metrics}");
    }

    #[test]
    fn what_is_not_understood_is_told_with_the_nearest_name() {
        for (line, part) in [
            ("restrat payment", "did you mean `restart`?"),
            ("restart paymnt", "did you mean `payment`?"),
            ("logs paymnt", "did you mean `payment`?"),
            ("re payment", "unknown action `re`"),
            ("restart", "component"),
            ("wait soon", "seconds"),
            ("wait 5 6", "one argument too many"),
            ("metrics gateway latencee", "no signal with `latencee`"),
            ("logs 'gateway", "is not closed"),
            ("{\"action\": ", "is not JSON"),
            ("ssh node-9", "did you mean `node-1`?"),
            ("$ ls", "on which host?"),
        ] {
            let said = meaning(line);
            assert!(said.contains(part), "{line}: {said}");
        }
    }

    /// What is run, and on which host, for a line typed in this one's terminal, or in none.
    fn run(line: &str, at: Option<&str>) -> (String, String) {
        let (scenario, kinds) = (shop(), fleet::kinds());
        match read(line, at, &Site::new(&scenario.topology, &kinds)) {
            Ok(Typed::Act(action)) => {
                assert_eq!(action.name(), SHELL);
                let of = |name| action.args().text(name).to_string();
                (of("host"), of("command"))
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_for_a_terminal_reach_it_as_they_were_meant() {
        for (line, command) in [
            ("ssh node-2 df -h", "df -h"),
            ("ssh root@node-2   df   -h  ", "df   -h"),
            ("ssh node-2 'df -h | head -1'", "df -h | head -1"),
            (r#"ssh node-2 "echo \"\$HOME\" 'a b'""#, r#"echo "$HOME" 'a b'"#),
            ("ssh node-2 grep 'no such' /var/log/x", "grep 'no such' /var/log/x"),
            ("ssh node-2 'echo a'; echo 'b'", "'echo a'; echo 'b'"),
            ("ssh node-2 echo $(hostname) $HOME", "echo $(hostname) $HOME"),
            ("ssh node-2 echo it\\'s", "echo it\\'s"),
            ("ssh node-2 {ls,/tmp}", "{ls,/tmp}"),
        ] {
            assert_eq!(run(line, None), ("node-2".into(), command.into()), "{line}");
        }
        for line in
            ["$(which df) -h", "ssh node-2 'df'", "echo \"$X\" # $Y", "X=1", "$X", "{ ls; }"]
        {
            assert_eq!(run(line, Some("node-1")), ("node-1".into(), line.into()));
        }
    }

    #[test]
    fn words_to_the_seat_are_no_actions() {
        for (line, what) in [
            ("", "Nothing"),
            ("# a note", "Nothing"),
            ("alerts", "Alerts"),
            ("quit", "Leave"),
            ("help", "Help(None)"),
        ] {
            assert_eq!(meaning(line), what, "{line}");
        }
        assert!(meaning("help restart").starts_with("Help(Some("));
    }
}
