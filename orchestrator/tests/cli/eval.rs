//! `mayday eval`: agents of their own, over HTTP, by the rules of an evaluation.

use crate::kit::{LIBRARY, SCENARIO, Server, command, json, signal, skip, until, wait};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SECRET: (&str, &str) = ("MAYDAY_EVAL_SECRET", "a secret of these tests");
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/eval_agent.py");
const REPORT: [&str; 3] = ["report.json", "report.md", "report.html"];

/// Whether the agents of these tests can run here.
fn has_python(test: &str) -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        skip(test, "there is no python3");
    }
    found
}

fn agent(how: &str) -> String {
    format!("python3 {AGENT} {how}")
}

/// `mayday eval` in this folder.
fn eval(folder: &Path, how: &[&str]) -> Command {
    let out = folder.display().to_string();
    let mut args = vec!["eval", "--out", &out];
    args.extend(how);
    let mut command = command(&args);
    command.env(SECRET.0, SECRET.1);
    command
}

/// With an agent's command.
fn with_agent(folder: &Path, how: &str, more: &[&str]) -> Command {
    let agent = agent(how);
    let args = ["--library", LIBRARY, "--name", "me", "--linger", "1", "--agent-cmd", &agent];
    eval(folder, &[&args[..], more].concat())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Its report, where it succeeds.
fn report(folder: &Path, mut command: Command) -> Value {
    let output = command.output().unwrap();
    let logs = || {
        let files = std::fs::read_dir(folder.join("logs")).into_iter().flatten().flatten();
        let texts = files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
        texts.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(output.status.code(), Some(0), "{}\n{}", said(&output), logs());
    assert!(String::from_utf8_lossy(&output.stdout).contains("pass@1"));
    read(folder)
}

fn read(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(REPORT[0])).unwrap()).unwrap()
}

fn episodes(report: &Value) -> &Vec<Value> {
    report["episodes"].as_array().unwrap()
}

#[test]
fn noop_and_reference_score_what_they_score_in_this_process() {
    if !has_python("noop_and_reference_score_what_they_score_in_this_process") {
        return;
    }
    for how in ["noop", "reference"] {
        let folder = tempfile::tempdir().unwrap();
        let report = report(folder.path(), with_agent(folder.path(), how, &["--seeds", "3"]));
        assert_eq!((&report["complete"], episodes(&report).len()), (&json!(true), 3));
        for one in episodes(&report) {
            let seed = format!("{0}..={0}", one["world_seed"]);
            let args = [
                "run",
                SCENARIO,
                "--library",
                LIBRARY,
                "--agents",
                how,
                "--json",
                "--seeds",
                &seed,
            ];
            let own = &json(&args)["episodes"][0];
            for (here, there) in [
                ("score", "score"),
                ("impact", "impact"),
                ("world", "world"),
                ("end", "end"),
                ("steps", "steps"),
                ("terms", "terms"),
            ] {
                assert_eq!(one[here], own[there], "{how}, {here}");
            }
            let curve = one["curves"]["agent"].as_array().unwrap();
            assert_eq!(curve == one["curves"]["noop"].as_array().unwrap(), how == "noop");
            assert_eq!(one["passed"], how == "reference");
            assert_eq!(one["command"], "exit code 0");
        }
        // What is over is reported on again, by another measure if need be.
        let again = ["--seeds", "3", "--json", "--pass", "0.001"];
        let again = with_agent(folder.path(), how, &again).output().unwrap();
        let again: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(again, read(folder.path()));
        assert_eq!(
            (&again["pass"], &again["episodes"][0]["score"]),
            (&json!(0.001), &report["episodes"][0]["score"])
        );
        let faults = &report["summary"]["faults"];
        let passes = if how == "noop" { 0.0 } else { 1.0 };
        assert_eq!((&faults["pass_at_1"], &faults["worlds"]), (&json!(passes), &json!(3)));
    }
}

#[test]
fn agents_that_go_wrong_get_what_the_rules_say() {
    if !has_python("agents_that_go_wrong_get_what_the_rules_say") {
        return;
    }
    for (how, end, seconds, later, command, good) in [
        ("crash", "abandoned", 30, 0, "exit code 3", true),
        ("hang", "abandoned", 10, 0, "ended at the deadline", false),
        ("twice", "abandoned", 10, 2, "exit code 0", false),
        ("idle", "abandoned", 0, 0, "exit code 0", false),
        ("absent", "absent", 0, 0, "exit code 0", false),
        ("linger", "resolved", 90, 0, "ended after the episode", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let deadline = if how == "hang" { "3" } else { "60" };
        let more = ["--seeds", "1", "--deadline", deadline];
        let report = report(folder.path(), with_agent(folder.path(), how, &more));
        let one = &episodes(&report)[0];
        let shown = json!([one["end"], one["seconds"], one["later_resets"], one["command"]]);
        assert_eq!(shown, json!([end, seconds, later, command]), "{how}");
        let score = one["score"].as_f64().unwrap();
        assert!(if good { score > 0.9 } else { score == 0.0 }, "{how}: {score}");
        let page = std::fs::read_to_string(folder.path().join(REPORT[2])).unwrap();
        assert_eq!(page.matches("<figure").count(), 1, "{how}");
    }
}

/// Lines of the journal.
fn lines(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("journal.jsonl")).unwrap_or_default();
    text.lines().count()
}

#[test]
fn what_was_interrupted_goes_on_to_the_same_report() {
    if !has_python("what_was_interrupted_goes_on_to_the_same_report") {
        return;
    }
    let plan = ["--seeds", "4", "--repeats", "3", "--concurrency", "2"];
    let whole = tempfile::tempdir().unwrap();
    report(whole.path(), with_agent(whole.path(), "reference", &plan));
    for how in [Signal::KILL, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let mut first = with_agent(folder.path(), "reference", &plan);
        let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("two episodes are played", || (lines(folder.path()) >= 3).then_some(()));
        signal(&first, how);
        let code = wait(&mut first);
        assert_eq!(code, if how == Signal::INT { Some(130) } else { None });
        let played = lines(folder.path()) - 1;
        assert!((2..12).contains(&played), "{played}");
        if how == Signal::INT {
            assert_eq!(read(folder.path())["complete"], false);
        } else {
            // It died while it was writing.
            let path = folder.path().join("journal.jsonl");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, format!("{text}{{\"scenario\":\"la")).unwrap();
        }
        let again = with_agent(folder.path(), "reference", &plan).output().unwrap();
        assert_eq!(again.status.code(), Some(0), "{}", said(&again));
        assert!(said(&again).contains(&format!("{played} of 12 episodes")), "{}", said(&again));
        for file in REPORT {
            let bytes = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
            assert!(bytes(folder.path()) == bytes(whole.path()), "{file} after {how:?}");
        }
    }
    let other = with_agent(whole.path(), "noop", &plan).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(said(&other).contains("another --agent-cmd"), "{}", said(&other));
}

#[test]
fn what_the_simulator_spoils_is_played_again() {
    if !has_python("what_the_simulator_spoils_is_played_again") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut grader = Server::start(&["grader", "--listen", "127.0.0.1:0"], None);
    let address = grader.address("grader");
    let how = format!("killer {} {}", folder.path().display(), grader.child.id());
    let mut first = with_agent(folder.path(), &how, &["--seeds", "1", "--grader", &address]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the agent is refused", || folder.path().join("refused").exists().then_some(()));
    grader.kill();
    let _again = Server::start(&["grader", "--listen", &address], None);
    assert_eq!(wait(&mut first), Some(0));
    let report = read(folder.path());
    let one = &episodes(&report)[0];
    assert!(one["reruns"].as_u64() >= Some(1) && one["end"] == "resolved", "{one}");
    assert!(one["score"].as_f64() > Some(0.99), "{one}");
}

#[test]
fn what_the_simulator_always_spoils_is_not_scored() {
    if !has_python("what_the_simulator_always_spoils_is_not_scored") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut grader = Server::start(&["grader", "--listen", "127.0.0.1:0"], None);
    let address = grader.address("grader");
    let how = format!("killer {} {}", folder.path().display(), grader.child.id());
    let more = ["--seeds", "1", "--reruns", "0", "--grader", &address];
    let output = with_agent(folder.path(), &how, &more).output().unwrap();
    grader.kill();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("1 of 1 episodes, which are not scored"), "{}", said(&output));
    let report = read(folder.path());
    assert_eq!((&report["complete"], episodes(&report).len()), (&json!(false), 0));
    assert_eq!(report["failed"].as_array().unwrap().len(), 1);
}

/// Whether a process has a handler for SIGINT by now: before that, Ctrl-C ends it at once.
fn listens(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}

#[test]
fn agents_come_to_a_server_by_themselves() {
    if !has_python("agents_come_to_a_server_by_themselves") {
        return;
    }
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plan = ["--seeds", "3", "--repeats", "2"];
    let own = report(here.path(), with_agent(here.path(), "reference", &plan));
    let args = ["serve", "--evaluate", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"];
    let server =
        Server::start_in(&[&args[..], &["--library", LIBRARY]].concat(), Some("s3cret"), &[SECRET]);
    let url = server.address("control");
    let with = |token: &str| {
        let name = ["--name", "me", "--url", &url];
        let mut command = eval(there.path(), &[&name[..], &plan].concat());
        command.env("MAYDAY_TOKEN", token).stdout(Stdio::null());
        command
    };
    let refused = with("wrong").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("set MAYDAY_TOKEN as there"), "{}", said(&refused));
    // While nobody comes it can be stopped, and it does not wait for ever.
    let mut idle = with("s3cret").stderr(Stdio::null()).spawn().unwrap();
    until("it listens to Ctrl-C", || listens(idle.id()).then_some(()));
    signal(&idle, Signal::INT);
    assert_eq!(wait(&mut idle), Some(130));
    let output = with("s3cret").args(["--patience", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("no agent has begun a task for 1 s"), "{}", said(&output));
    // Who evaluates dies on the way; agents and server do not care.
    let mut first = with("s3cret").stderr(Stdio::null()).spawn().unwrap();
    let mut agents: Vec<_> = (0..2)
        .map(|_| {
            let mut agent = Command::new("python3");
            agent.args([AGENT, "queue"]).stderr(Stdio::null()).stdout(Stdio::null());
            for name in ["MAYDAY_TASK", "MAYDAY_TOKEN", SECRET.0] {
                agent.env_remove(name);
            }
            let url = format!("http://{}", server.address("agents"));
            agent.env("MAYDAY_URL", url).spawn().unwrap()
        })
        .collect();
    until("an episode is played", || (lines(there.path()) >= 2).then_some(()));
    signal(&first, Signal::KILL);
    wait(&mut first);
    let output = with("s3cret").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for agent in &mut agents {
        assert_eq!(wait(agent), Some(0));
    }
    let report = read(there.path());
    assert_eq!(report["secret"], own["secret"]);
    for (mine, theirs) in episodes(&own).iter().zip(episodes(&report)) {
        for field in ["scenario", "world_seed", "score", "world", "end", "curves"] {
            assert_eq!(mine[field], theirs[field], "{field}");
        }
    }
    assert_eq!(own["summary"], report["summary"]);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn bad_options_are_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x\n").unwrap();
    let file = file.display().to_string();
    let (fresh, held) = (folder.path().join("fresh"), folder.path().join("held"));
    let (fresh, held) = (fresh.display().to_string(), held.display().to_string());
    std::fs::create_dir(&held).unwrap();
    std::fs::write(format!("{held}/journal.jsonl"), "no journal\n").unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = silent.to_string();
    for (args, code, says) in [
        (&[][..], 2, "--agent-cmd <CMD>|--url <ADDR>"),
        (&["--agent-cmd", "x", "--url", "y"], 2, "cannot be used with"),
        (&["--agent-cmd", " "], 2, "--agent-cmd is empty"),
        (&["--agent-cmd", "x", "--seeds", "a"], 2, "`a` is no seed"),
        (&["--agent-cmd", "x", "--repeats", "0"], 2, "0 is not in 1..=1000"),
        (&["--agent-cmd", "x", "--concurrency", "0"], 2, "0 is not in 1..=1024"),
        (&["--agent-cmd", "x", "--deadline", "0"], 2, "0 is not in"),
        (&["--agent-cmd", "x", "--pass", "0"], 2, "above 0, up to 1"),
        (&["--agent-cmd", "x", "--pass", "nan"], 2, "above 0, up to 1"),
        (&["--agent-cmd", "x", "--reward", "dense"], 2, "tells the agent what is true"),
        (&["--agent-cmd", "x", "lab/brokn-release"], 2, "did you mean `lab/broken-release`"),
        (&["--agent-cmd", "x", "a.yaml"], 2, "put it under scenarios/"),
        (&["--agent-cmd", "/no/such/agent"], 2, "cannot be run: sh: 1: /no/such/agent: not found"),
        (&["--agent-cmd", "x", "--out", &file], 2, "choose another folder"),
        (&["--agent-cmd", "x", "--out", &held], 2, "line 1"),
        (&["--agent-cmd", "x", "--patience", "1"], 2, "cannot be used with"),
        (
            &["--url", "y", "--records", "off", "--linger", "1"],
            2,
            "--linger, --records, --library cannot be used with --url",
        ),
        (&["--url", "not an address"], 2, "--url: \"not an address\" is not an address"),
        (&["--url", &silent], 1, "is it the control port of `mayday serve --evaluate`"),
    ] {
        let first = if args.contains(&"--out") { &[][..] } else { &["--out", &fresh] };
        let library = match args {
            ["--url", _] => &[][..],
            _ => &["--library", LIBRARY],
        };
        let args = [&["eval"], library, first, args].concat();
        let output = command(&args).env(SECRET.0, SECRET.1).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?}: {text}");
        let own = text.lines().filter(|line| line.starts_with("mayday: ")).count();
        assert!(code == 2 && text.starts_with("error: ") || own == 1, "{args:?}: {text}");
    }
    let plain = Server::start(
        &["serve", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--library", LIBRARY],
        None,
    );
    let url = plain.address("control");
    let output = command(&["eval", "--out", &fresh, "--url", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("does not evaluate"), "{}", said(&output));
    let short = command(&["serve", "--evaluate"]).env(SECRET.0, "short").output().unwrap();
    assert!(said(&short).contains("16 characters or more"), "{}", said(&short));
    // As in a container.
    let off = command(&["serve", "--control", "off"]).env("MAYDAY_EVALUATE", "1").output().unwrap();
    assert!(said(&off).contains("leave --control off out"), "{}", said(&off));
}
