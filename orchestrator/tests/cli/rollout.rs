//! `mayday rollout`: agents of its own, and a trainer at its pipes.

use crate::kit::{self, LIBRARY, SCENARIO};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

fn rollout<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["rollout", "--library", LIBRARY], more].concat()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A worker with its pipes.
struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    hello: Value,
}

impl Worker {
    fn start(more: &[&str]) -> Worker {
        let mut command = kit::command(&rollout(more));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut worker = Worker { child, stdin, stdout, hello: Value::Null };
        worker.hello = worker.read().expect("a greeting");
        worker
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        (!line.is_empty()).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    fn send(&mut self, request: &Value) {
        writeln!(self.stdin.as_mut().expect("open"), "{request}").expect("it reads");
    }

    /// No more requests: the answers that are left, by id, and the exit code.
    fn end(mut self) -> (BTreeMap<i64, Value>, Option<i32>) {
        self.stdin = None;
        let mut answers = BTreeMap::new();
        while let Some(answer) = self.read() {
            let id = answer["id"].as_i64().unwrap_or(-1);
            assert!(answers.insert(id, answer).is_none(), "{id} is answered once");
        }
        (answers, kit::wait(&mut self.child))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A trainer's requests for one episode, from this id on.
fn requests(episode: &str, seed: u64, first: i64) -> Vec<Value> {
    let steps = [
        json!({"action": "status"}),
        json!({"action": "wait", "seconds": 60}),
        json!({"action": "resolve"}),
    ];
    let reset = json!({"id": first, "episode": episode, "type": "reset", "data": {"seed": seed}});
    let steps = steps
        .iter()
        .zip(first + 1..)
        .map(|(step, id)| json!({"id": id, "episode": episode, "type": "step", "data": step}));
    std::iter::once(reset).chain(steps).collect()
}

#[test]
fn agents_leave_trajectories_that_agree_with_their_runs() {
    let agents = ["--agents", "random,reference,noop", "--seeds", "3"];
    let text = kit::out(&rollout(&agents));
    assert_eq!(text, kit::out(&rollout(&agents)), "the same seeds, the same bytes");
    let listed = kit::json(&["scenario", "list", "--library", LIBRARY, "--json"]);
    let listed = listed.as_array().unwrap().iter().find(|s| s["name"] == SCENARIO);
    let task = &listed.unwrap()["task"];
    let here: Vec<_> = lines(&text).into_iter().filter(|one| one["task"] == *task).collect();
    let run = kit::json(&kit::run(&[&agents[..], &["--json"]].concat()));
    assert_eq!(here.len(), 9);
    for (one, at) in here.iter().zip(0..) {
        let agent = ["random", "reference", "noop"][at % 3];
        assert_eq!((&one["seed"], &one["agent"]), (&json!(at / 3), &json!(agent)), "in this order");
        let episodes = run["episodes"].as_array().unwrap();
        let same = |e: &&Value| e["agent"] == one["agent"] && e["seed"] == one["seed"];
        let other = episodes.iter().find(same).unwrap();
        let steps = one["steps"].as_array().unwrap().iter();
        let rewards: Vec<_> = steps.map(|step| step["reward"].clone()).collect();
        assert_eq!((&json!(rewards), &one["done_reason"]), (&other["rewards"], &other["end"]));
        let sums = [&one["return"], &other["score"]].map(|sum| sum.as_f64().unwrap());
        assert!((sums[0] - sums[1]).abs() < 1e-9, "{sums:?}");
    }
    let shown = kit::json(&["scenario", "show", SCENARIO, "--library", LIBRARY, "--json"]);
    for secret in [&shown["title"], &shown["summary"], &shown["truth"]["canary"], &json!(SCENARIO)]
    {
        assert!(!text.contains(secret.as_str().unwrap()), "{secret}");
    }
}

#[test]
fn a_trainer_plays_many_episodes_at_once_as_if_each_were_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let together = |out: &str| {
        let mut worker = Worker::start(&["--out", out]);
        let each: Vec<_> = (0..20).map(|n| requests(&format!("e{n}"), n, 100 * n as i64)).collect();
        for at in 0..4 {
            for requests in &each {
                worker.send(&requests[at]);
            }
        }
        let (answers, code) = worker.end();
        assert_eq!((answers.len(), code), (80, Some(0)));
        answers
    };
    let answers = together(&file("a"));
    assert_eq!(answers, together(&file("b")));
    let kept = std::fs::read_to_string(file("a")).unwrap();
    assert_eq!(kept, std::fs::read_to_string(file("b")).unwrap());
    for n in [0, 7, 19] {
        let mut worker = Worker::start(&[]);
        for request in requests(&format!("e{n}"), n, 100 * n as i64) {
            worker.send(&request);
            let answer = worker.read().unwrap();
            assert_eq!(answer, answers[&answer["id"].as_i64().unwrap()]);
        }
    }
    let trajectories = lines(&kept);
    assert_eq!(trajectories.len(), 20);
    for (n, one) in trajectories.iter().enumerate() {
        assert_eq!((&one["episode"], &one["seed"]), (&json!(format!("e{n}")), &json!(n)));
        let last = &answers[&(100 * n as i64 + 3)];
        assert_eq!(one["steps"][2]["observation"], last["observation"]);
        assert_eq!((&last["done"], &one["done_reason"]), (&json!(true), &json!("resolved")));
        assert_eq!(last["metadata"]["terminated"], one["terminated"]);
    }
}

#[test]
fn what_cannot_be_done_is_said_and_the_rest_goes_on() {
    let mut worker = Worker::start(&["--max-episodes", "2"]);
    assert_eq!(worker.hello["max_episodes"], 2);
    assert_eq!(worker.hello["splits"][0]["name"], "train");
    let titles = worker.hello["actions"].as_array().unwrap().iter().map(|a| &a["title"]);
    assert!(titles.clone().any(|title| title == "restart"));
    let mut ask = |request: Value| {
        worker.send(&request);
        worker.read().unwrap()
    };
    let reset = |episode: &str| json!({"id": 1, "episode": episode, "type": "reset"});
    let step = |data: Value| json!({"id": 2, "episode": "a", "type": "step", "data": data});
    let early = ask(step(json!({"action": "status"})));
    assert_eq!(early["error"]["code"], "NO_EPISODE");
    let first = ask(json!({
        "id": 1, "episode": "a", "type": "reset", "data": {"seed": 5, "prompt": "x"},
    }));
    assert_eq!(first["metadata"], json!({"ignored_options": ["prompt"]}));
    assert_eq!((&first["reward"], &first["done"]), (&json!(null), &json!(false)));
    ask(reset("b"));
    let full = ask(reset("c"));
    assert_eq!(full["error"]["code"], "CAPACITY_REACHED");
    let wrong = ask(step(json!({"action": "restrat"})));
    assert_eq!(wrong["error"]["code"], "VALIDATION_ERROR");
    assert!(wrong["error"]["message"].as_str().unwrap().contains("did you mean `restart`"));
    assert_eq!(wrong["error"]["errors"][0]["loc"][0], "data");
    assert_eq!(ask(step(json!({"action": "status"})))["observation"]["step"], 1);
    assert_eq!(ask(step(json!({"action": "resolve"})))["done"], true);
    assert_eq!(ask(step(json!({"action": "status"})))["error"]["code"], "NO_EPISODE");
    // The place of what is over is free.
    assert_eq!(ask(reset("c"))["done"], false);
    assert_eq!(ask(json!({"id": 3, "episode": "c", "type": "close"}))["closed"], true);
    assert_eq!(ask(json!({"id": 3, "episode": "c", "type": "close"}))["closed"], false);
    assert_eq!(ask(json!("no request"))["error"]["code"], "VALIDATION_ERROR");
    assert_eq!(worker.end(), (BTreeMap::new(), Some(0)));
}

#[test]
fn a_signal_ends_it_and_what_was_played_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept.jsonl");
    let mut worker = Worker::start(&["--out", &out.display().to_string()]);
    let asked = requests("a", 3, 1);
    for request in &asked[..2] {
        worker.send(request);
    }
    assert_eq!(worker.read().unwrap()["id"], 1);
    assert_eq!(worker.read().unwrap()["id"], 2);
    kit::signal(&worker.child, rustix::process::Signal::INT);
    assert_eq!(worker.read(), None);
    assert_eq!(kit::wait(&mut worker.child), Some(130));
    let mut said = String::new();
    worker.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("1 episodes, 1 steps"), "{said}");
    let kept = lines(&std::fs::read_to_string(out).unwrap());
    assert_eq!((kept.len(), kept[0]["steps"].as_array().unwrap().len()), (1, 1));
    assert_eq!(kept[0]["done_reason"], json!(null));
}

#[test]
fn bad_usage_is_said_before_anything_is_played() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let taken = file.path().display().to_string();
    for (args, says) in [
        (&["--agents", "nobody"][..], "unknown agent"),
        (&["--agents", "noop", "--seeds", "9223372036854775808,"], "is no seed"),
        (&["--agents", "noop", "--seeds", "9223372036854775807,9223372036854775808"], "is above"),
        (&["--agents", "noop", "nothing"], "unknown scenario"),
        (&["--seeds", "3"], "--agents"),
        (&["--agents", "noop", "--max-episodes", "3"], "--max-episodes"),
        (&["--out", &taken], "choose another"),
    ] {
        let output = kit::mayday(&rollout(args));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(says), "{args:?}: {stderr}");
    }
}
