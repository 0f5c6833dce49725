//! `mayday play`: over a pipe, and at a terminal of its own.

use crate::kit::{DEADLINE, LIBRARY, SCENARIO, command, skip};
use std::io::{Read, Write};
use std::process::{Output, Stdio};
use std::time::Instant;

/// What the seat says to these lines.
fn played(lines: &str, more: &[&str]) -> Output {
    let mut args = vec!["play", SCENARIO, "--library", LIBRARY];
    args.extend(more);
    played_bytes(lines.as_bytes(), &args)
}

fn played_bytes(lines: &[u8], args: &[&str]) -> Output {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A process that has heard enough does not read on.
    let _ = child.stdin.take().expect("a pipe").write_all(lines);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_pipe_plays_an_episode_to_its_score() {
    let lines = "topology\nstatus\nlogs web 5\nmetric web latency\n\n# a note\nalerts\n\
                 rollback web\nwait 120\nresolve\nwait 5\n";
    let output = played(lines, &["--seed", "3"]);
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{noted}");
    assert!(noted.is_empty(), "{noted}");
    for part in [
        "FIRING page ",
        "[t+00:00:00 tick 0, step 0, ",
        "components\n",
        "latency.p95.seconds",
        "rollback accepted",
        "cleared page",
        "The episode is over: resolved at t+00:",
        "doing nothing",
        "reference",
        "the reference does: ",
        "cause: ",
    ] {
        assert!(said.contains(part), "{part:?} is missing in {said}");
    }
    assert!(!said.contains('\u{1b}'), "no decoration for a pipe");
    let score = said.split("\nscore ").nth(1).and_then(|rest| rest.lines().next());
    let score: f64 = score.expect("a score").parse().expect("a number");
    assert!(score > 0.5, "the rollback was right: {said}");
}

/// What each step was answered, without its clock.
fn answers(lines: &str) -> Vec<String> {
    let output = played(lines, &[]);
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{noted}");
    let (mut answers, mut answer) = (Vec::new(), String::new());
    for line in said.lines().filter(|line| !line.starts_with("`help`")) {
        match line.starts_with("[t+") {
            true => answers.push(std::mem::take(&mut answer)),
            false => answer = answer + line + "\n",
        }
    }
    // The page is no answer.
    answers.split_off(1)
}

#[test]
fn lines_of_a_terminal_do_what_the_action_does() {
    let lines = [
        "echo on $(hostname) as $USER at $HOME",
        "X=5; echo $X",
        "echo $X $(echo \"$X\" | tr 5 6) '$X' \"$(echo a; echo b)\"",
        "for n in 1 2; do echo $n; done; false",
        "timeout 3 sleep 60; echo $?",
        "ls /nowhere",
    ];
    let acted: String = lines
        .iter()
        .map(|line| {
            let action = serde_json::json!({"action": "shell", "host": "host-1", "command": line});
            format!("{action}\n")
        })
        .collect();
    let acted = answers(&acted);
    assert_eq!(acted.len(), lines.len());
    assert!(acted[0].contains("on host-1 as root at /root"), "{acted:?}");
    assert!(acted[2].contains("5 6 $X a\nb"), "{acted:?}");
    let typed = |line: fn(&str) -> String| answers(&lines.map(line).concat());
    assert_eq!(typed(|line| format!("$ {line}\n")), acted);
    assert_eq!(typed(|line| format!("ssh host-1 {line}\n")), acted);
    assert_eq!(
        typed(|line| format!("ssh root@host-1 '{}'\n", line.replace('\'', "\"")))[0],
        acted[0]
    );
    let inside = format!("ssh host-1\n{}\nexit\n", lines.join("\n"));
    assert_eq!(answers(&inside), acted);
    assert_eq!(answers("$(echo echo) on $(hostname) as $USER at $HOME\n"), acted[..1]);
}

#[test]
fn lines_that_are_not_understood_cost_no_time_and_are_told() {
    let output = played("rollbak web\nrestart wep\nlogs 'web\n", &[]);
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}{noted}");
    for part in [
        "did you mean `rollback`?",
        "did you mean `web`?",
        "a quote ' is not closed",
        "mayday: 3 lines were not understood",
    ] {
        assert!(noted.contains(part), "{part:?} is missing in {noted}");
    }
    assert!(said.contains("over: abandoned at t+00:00:00 after 0 steps"), "{said}");
}

#[test]
fn a_line_that_is_no_text_is_one_slip_and_the_rest_is_played() {
    let args = ["play", SCENARIO, "--library", LIBRARY];
    let output = played_bytes(b"status \xff\xfe\nwait 30\nresolve\n", &args);
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}{noted}");
    assert!(noted.contains("a line was not understood"), "{noted}");
    assert!(said.contains("over: resolved at t+00:00:"), "{said}");
}

#[test]
fn the_end_of_the_pipe_hands_over_and_the_record_plays_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("seat.db");
    let db = db.to_str().expect("UTF-8");
    let output = played("rollback web\nwait 60\n", &["--records", db]);
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{noted}");
    assert!(said.contains("over: abandoned at t+00:01:30 after 2 steps"), "{said}");
    let episode = noted.split("episode ").nth(1).and_then(|rest| rest.split(' ').next());
    let again = crate::kit::out(&["replay", episode.expect("an episode"), "--records", db]);
    assert!(again.contains("2 steps, all digests as recorded; abandoned"), "{again}");
}

#[test]
fn help_names_every_action_and_unknown_scenarios_are_refused() {
    let output = played("help\nhelp restart\nquit\n", &[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("rollback(component") && said.contains("ssh HOST"), "{said}");
    for (word, part) in [("broken-releas", "did you mean"), ("", "unknown")] {
        let args = ["play", word, "--library", LIBRARY];
        let output = command(&args).output().expect("the binary starts");
        let noted = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{word}: {noted}");
        assert!(noted.contains(part), "{word}: {noted}");
    }
}

/// With a terminal there is a prompt, completion by the tabulator, and Ctrl-D hands over.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_completes_names_and_ctrl_d_hands_over() {
    let whole = command(&[]);
    let program = whole.get_program().to_str().expect("UTF-8");
    let line = format!("'{program}' play {SCENARIO} --library '{LIBRARY}'");
    let script = std::process::Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = script else {
        return skip("a_terminal_completes_names_and_ctrl_d_hands_over", "no program `script`");
    };
    let mut keys = child.stdin.take().expect("a pipe");
    let mut screen = child.stdout.take().expect("a pipe");
    let (tell, said) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut bytes) {
            if tell.send(text(&bytes[..read])).is_err() {
                return;
            }
        }
    });
    let mut seen = String::new();
    let mut wait_for = |part: &str| {
        let deadline = Instant::now() + DEADLINE;
        let end = loop {
            if let Some(at) = seen.find(part) {
                break at + part.len();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            seen += &said.recv_timeout(left).unwrap_or_else(|_| panic!("no {part:?} in {seen}"));
        };
        seen.drain(..end);
    };
    wait_for("t+00:00:00 > ");
    keys.write_all(b"rollback we\t\r").expect("typed");
    wait_for("rollback accepted");
    // Between two lines the terminal itself would take Ctrl-D.
    wait_for("t+00:00:30 > ");
    keys.write_all(&[4]).expect("typed");
    wait_for("over: abandoned at t+00:00:30 after 1 step");
    assert_eq!(crate::kit::wait(&mut child), Some(0));
    let _ = reader.join();
}
