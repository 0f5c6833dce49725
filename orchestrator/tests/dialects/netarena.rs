//! Laws of the dialect `netarena`: clients do not meet, and every sound way counts.

use crate::kit::Site;
use serde_json::{Value, json};

async fn reset(site: &Site, task: &str, who: &str) -> String {
    let reply = site.call("POST", &format!("/reset?task_id={task}"), who, None).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body["stdout"].as_str().expect("an alert").to_string()
}

async fn step(site: &Site, task: &str, command: &str, who: &str) -> Value {
    let body = json!({"command": command});
    let reply = site.call("POST", &format!("/step?task_id={task}"), who, Some(&body)).await;
    assert_eq!(reply.status, 200, "{command}: {}", reply.body);
    reply.body
}

#[tokio::test]
async fn two_clients_never_meet_and_those_without_a_name_share() {
    let site = Site::of("netarena").await;
    for who in ["a", "b", ""] {
        assert!(reset(&site, "task1", who).await.contains("prod-web-01"));
    }
    step(&site, "task1", "systemctl start nginx", "a").await;
    for (who, nginx) in [("a", "running"), ("b", "inactive"), ("", "inactive")] {
        let state = site.call("GET", "/state?task_id=task1", who, None).await.body;
        assert_eq!((&state["nginx_status"], &state["max_steps"]), (&json!(nginx), &json!(15)));
    }
    let reply = step(&site, "task1", "systemctl restart nginx", "").await;
    assert_eq!((&reply["done"], &reply["reward"]["value"]), (&json!(true), &json!(1.0)));
    let reply = step(&site, "task1", "systemctl stop nginx", "").await;
    assert_eq!(reply["observation"]["stdout"], "Task already completed.");
    let other = site.call("GET", "/state?task_id=task2", "b", None).await;
    assert_eq!(other.status, 404, "task2 was not begun");
    let nameless = site.call("GET", "/state", "", None).await;
    let place = &nameless.body["detail"][0]["loc"];
    assert_eq!((nameless.status, place), (422, &json!(["query", "task_id"])));
    assert_eq!(site.call("POST", "/reset?task_id=task4", "", None).await.status, 400);
}

#[tokio::test]
async fn fixes_that_the_original_turned_down_are_paid() {
    let site = Site::of("netarena").await;
    for (task, lines) in [
        ("task1", &["service nginx start"][..]),
        ("task1", &["nginx"]),
        ("task2", &["fuser -k 8080/tcp"]),
        ("task2", &["pkill zombie_proc"]),
        ("task2", &["kill -9 $(lsof -t -i:8080)"]),
        ("task3", &["> /var/log/app.log", "systemctl start postgresql"]),
        ("task3", &["find /var/log -size +1G -delete; service postgresql start"]),
    ] {
        reset(&site, task, "").await;
        let mut last = Value::Null;
        for line in lines {
            last = step(&site, task, line, "").await;
        }
        assert_eq!(last["reward"]["value"], 1.0, "{lines:?}: {last}");
        assert_eq!(last["done"], true, "{lines:?}");
    }
}
