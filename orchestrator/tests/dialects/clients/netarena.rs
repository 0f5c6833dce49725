//! The requests of NetArena's inference program, and its log.

use super::{Model, rule, word};
use crate::kit::Site;
use serde_json::{Value, json};

const TASKS: [&str; 3] = ["task1", "task2", "task3"];
/// Commands that are sent for each task at most.
const STEPS_MAX: usize = 15;
/// So many times the same command in a row is the last of a task.
const STUCK: usize = 4;

fn message(role: &str, content: String) -> Value {
    json!({"role": role, "content": content})
}

/// The object in a reply, which is sent as it is; a harmless command where there is none.
fn decode(reply: &str) -> Value {
    if reply.trim().is_empty() {
        return json!({"command": "echo 'empty'"});
    }
    let object = reply.find('{').zip(reply.rfind('}')).and_then(|(from, to)| {
        let value: Value = serde_json::from_str(reply.get(from..=to)?).ok()?;
        value["command"].is_string().then_some(value)
    });
    object.unwrap_or(json!({"command": "ls", "explanation": "no JSON"}))
}

/// Plays one task; what the program would log.
async fn play(site: &Site, model: &Model, task: &str) -> Vec<String> {
    let mut log = vec![format!("[START] task={task} env=netarena model=scripted")];
    let reset = site.call("POST", &format!("/reset?task_id={task}"), "", None).await;
    assert_eq!(reset.status, 200);
    let alert = reset.body["stdout"].as_str().expect("an alert");
    let mut history = vec![message("system", "One command, as JSON.".into())];
    history.push(message("user", alert.into()));
    let (mut rewards, mut before, mut same) = (Vec::new(), String::new(), 0);
    for number in 1..=STEPS_MAX {
        let warm = if same > 1 { 0.8 } else { 0.1 };
        let settings = json!({"temperature": warm, "max_tokens": 256});
        let Some(reply) = model.chat(&history, settings).await else { break };
        let action = decode(&reply);
        let command = action["command"].as_str().expect("a text").to_string();
        same = if command == before { same + 1 } else { 1 };
        let step = site.call("POST", &format!("/step?task_id={task}"), "", Some(&action)).await;
        assert_eq!(step.status, 200, "{}", step.body);
        let seen = &step.body["observation"];
        let text = |name: &str| seen[name].as_str().expect("a text").to_string();
        let (out, err) = (text("stdout"), text("stderr"));
        let reward = step.body["reward"]["value"].as_f64().expect("a reward");
        let done = step.body["done"].as_bool().expect("a flag");
        rewards.push(reward);
        let error = if err.is_empty() { "null" } else { err.trim() };
        log.push(format!(
            "[STEP] step={number} action={command} reward={reward:.2} done={} error={error}",
            word(done)
        ));
        if done || out.contains("Task already completed") || same >= STUCK {
            break;
        }
        history.push(message("assistant", action.to_string()));
        history.push(message("user", format!("stdout: {out}\nstderr: {err}")));
        before = command;
    }
    // A sum of nothing is -0.0, which would be printed so.
    let score = (0.0 + rewards.iter().sum::<f64>()).min(1.0);
    let paid: Vec<_> = rewards.iter().map(|reward| format!("{reward:.2}")).collect();
    log.push(format!(
        "[END] success={} steps={} score={score:.2} rewards={}",
        word(score >= 1.0),
        rewards.len(),
        paid.join(",")
    ));
    log
}

fn command(line: &str) -> String {
    json!({"command": line, "explanation": "as it was told"}).to_string()
}

/// Plays all tasks with these replies for each; the last lines of the logs.
async fn ends(replies: [&[&str]; 3]) -> Vec<String> {
    let site = Site::of("netarena").await;
    let hosts = ["prod-web-01", "prod-app-01", "prod-db-01"];
    let of = |at: usize| rule(hosts[at], "assistant_count", replies[at]);
    let model = Model::start((0..3).map(of).collect(), "");
    assert_eq!(site.call("GET", "/health", "", None).await.body, json!({"status": "ok"}));
    let mut ends = Vec::new();
    for task in TASKS {
        ends.extend(play(&site, &model, task).await.pop());
    }
    ends
}

#[tokio::test]
async fn the_best_play_scores_as_at_the_original() {
    let lines = [
        "systemctl status nginx",
        "systemctl start nginx",
        "netstat -tlnp",
        "kill -9 6789",
        "df -h",
        "du -sh /var/log/*",
        "rm /var/log/app.log",
        "systemctl start postgresql",
    ]
    .map(command);
    let lines = lines.each_ref().map(String::as_str);
    assert_eq!(
        ends([&lines[..2], &lines[2..4], &lines[4..]]).await,
        [
            "[END] success=true steps=2 score=1.00 rewards=0.10,1.00",
            "[END] success=true steps=2 score=1.00 rewards=0.10,1.00",
            "[END] success=true steps=4 score=1.00 rewards=0.10,0.00,0.30,1.00",
        ]
    );
}

#[tokio::test]
async fn a_model_that_repeats_itself_is_stopped_and_scores_as_at_the_original() {
    let status = command("systemctl status nginx");
    let (look, wrong, right) =
        (command("ss -tlnp"), command("kill -9 512"), command("kill -9 6789"));
    let (room, empty, again) = (command("df -h"), command("rm /var/log/app.log"), command("df -h"));
    assert_eq!(
        ends([&[&status], &[&look, &wrong, &right], &[&room, &empty, &again]]).await,
        [
            "[END] success=false steps=4 score=0.10 rewards=0.10,0.00,0.00,0.00",
            "[END] success=true steps=3 score=1.00 rewards=0.10,0.00,1.00",
            "[END] success=false steps=6 score=0.40 rewards=0.10,0.30,0.00,0.00,0.00,0.00",
        ]
    );
}

#[tokio::test]
async fn a_model_that_talks_is_played_as_ls_and_one_that_fails_ends_the_task() {
    let (start, kill) = (command("systemctl start nginx"), command("kill -9 6789"));
    let fenced = format!("```json\n{kill}\n```");
    assert_eq!(
        ends([&["no json here", "", &start], &["{\"command\": 5}", &fenced], &["400"]]).await,
        [
            "[END] success=true steps=3 score=1.00 rewards=0.00,0.00,1.00",
            "[END] success=true steps=2 score=1.00 rewards=0.00,1.00",
            "[END] success=false steps=0 score=0.00 rewards=",
        ]
    );
}
