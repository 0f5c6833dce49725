//! Laws of the dialect `triage`: statuses are computed and hold on other seeds, figures change
//! nothing, acts pay once, equivalent repairs count and exploits do not.

use crate::kit::{Site, soak};
use serde_json::{Value, json};

/// What a client of the dialect does.
struct Client {
    site: Site,
}

impl Client {
    async fn plain() -> Client {
        Client { site: Site::of("triage").await }
    }

    async fn ask(&self, method: &str, path: &str, session: &str, body: &str) -> (u16, Value) {
        let answer = self.site.send(method, path, session, body.to_string()).await;
        (answer.status, answer.body)
    }

    async fn reset(&self, (task, seed): Asked) -> Value {
        let body = json!({"task_name": task, "seed": seed});
        let (status, seen) = self.ask("POST", "/reset", "", &body.to_string()).await;
        assert_eq!(status, 200, "{seen}");
        seen
    }

    async fn act(&self, (kind, target, name, value): Acted<'_>) -> Value {
        let body = json!({
            "action_type": kind,
            "target": target,
            "parameters": if name.is_empty() { json!({}) } else { json!({name: value}) },
        });
        let (status, seen) = self.ask("POST", "/step", "", &body.to_string()).await;
        assert_eq!(status, 200, "{seen}");
        seen
    }

    /// Begins a situation and acts; everything that was seen.
    async fn play(&self, situation: Asked, acts: &[Acted<'_>]) -> Vec<Value> {
        let mut seen = vec![self.reset(situation).await];
        for act in acts {
            seen.push(self.act(*act).await);
        }
        seen
    }

    async fn score(&self) -> f64 {
        self.ask("GET", "/grade", "", "").await.1["score"].as_f64().unwrap()
    }

    async fn state(&self) -> Value {
        self.ask("GET", "/state", "", "").await.1
    }
}

/// A task and a seed.
type Asked = (&'static str, Option<u64>);
/// Type, target, and one parameter with its value.
type Acted<'a> = (&'a str, &'a str, &'a str, &'a str);

const POOL: Asked = ("single_incident", None);
const DISK: Asked = ("single_incident", Some(0));
const CERTIFICATE: Asked = ("single_incident", Some(5));
const LEAK: Asked = ("multi_incident", None);
const DNS: Asked = ("multi_incident", Some(0));
const STACK: Asked = ("cascading_failure", None);

/// What is not healthy, in the order of names.
fn troubled(seen: &Value) -> Vec<(String, String)> {
    let statuses = seen["observation"]["system_status"].as_object().unwrap();
    let word = |facts: &Value| facts["status"].as_str().unwrap().to_string();
    let all = statuses.iter().map(|(name, facts)| (name.clone(), word(facts)));
    all.filter(|(_, status)| status != "healthy").collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, status)| (name.to_string(), status.to_string())).collect()
}

/// What is not healthy at the page of each situation.
const AT_THE_PAGE: &[(Asked, &[(&str, &str)])] = &[
    (POOL, &[("app_server_1", "degraded"), ("database_primary", "degraded")]),
    (DISK, &[("app_server_1", "degraded")]),
    (CERTIFICATE, &[("load_balancer", "critical")]),
    (
        LEAK,
        &[
            ("app_server_1", "critical"),
            ("cache_redis", "degraded"),
            ("database_primary", "degraded"),
        ],
    ),
    (DNS, &[("app_server_1", "degraded"), ("auth_service", "degraded"), ("dns", "degraded")]),
    (
        STACK,
        &[
            ("app_server_1", "critical"),
            ("app_server_2", "critical"),
            ("cache_redis", "degraded"),
            ("database_primary", "critical"),
            ("load_balancer", "critical"),
            ("message_queue", "degraded"),
        ],
    ),
];

/// A repair of each situation that the original took, and one that it turned down although it is
/// as sound.
const REPAIRS: &[(Asked, [(&str, &str); 2])] = &[
    (POOL, [("database_primary", "kill stale connections"), ("app_server_1", "restart")]),
    (DISK, [("app_server_1", "rotate logs"), ("app_server_1", "remove old log files")]),
    (CERTIFICATE, [("load_balancer", "renew certificate"), ("load_balancer", "rotate the cert")]),
    (LEAK, [("app_server_1", "rolling restart"), ("app_server_1", "reboot the process")]),
    (DNS, [("dns", "restore the A record"), ("dns", "revert the zone change")]),
    (
        STACK,
        [("database_primary", "cancel migration"), ("database_primary", "abort the ALTER TABLE")],
    ),
];

#[tokio::test]
async fn the_page_looks_the_same_on_other_seeds_and_stays_so_until_somebody_acts() {
    let client = Client::plain().await;
    for (situation, expected) in AT_THE_PAGE {
        let wait = ("verify", "cdn", "", "");
        let seen = client.play(*situation, &[wait; 9]).await;
        for (step, seen) in seen.iter().enumerate() {
            assert_eq!(troubled(seen), pairs(expected), "{situation:?}, step {step}");
        }
        let chosen = client.state().await["scenario_id"].clone();
        let (task, _) = situation;
        let mut others = 0;
        for seed in 0..40 {
            if others == 5 {
                break;
            }
            let seen = client.reset((task, Some(seed))).await;
            if client.state().await["scenario_id"] == chosen {
                others += 1;
                assert_eq!(troubled(&seen), pairs(expected), "{situation:?}, seed {seed}");
            }
        }
    }
}

#[tokio::test]
async fn repairs_count_whatever_words_and_component_they_come_from() {
    let client = Client::plain().await;
    for (situation, repairs) in REPAIRS {
        for (target, words) in repairs {
            let seen = client.play(*situation, &[("remediate", target, "action", words)]).await;
            assert_eq!(seen[1]["reward"], 0.2, "{words}: {}", seen[1]);
            let left = troubled(&seen[1]);
            // The release that left the sessions open is still there, and fails requests.
            let leaks_on = *situation == POOL;
            let expected = if leaks_on { &[("app_server_1", "degraded")][..] } else { &[] };
            assert_eq!(left, pairs(expected), "{words}");
            let over = situation.0 != "single_incident";
            assert_eq!(seen[1]["done"], over, "{words}");
            let remaining = &seen[1]["observation"]["incidents_remaining"];
            assert_eq!(remaining == 0, over, "{words}");
        }
    }
}

/// One text for each thing that can be done.
const WORDS: &[&str] = &[
    "rollback",
    "kill idle connections",
    "cancel migration",
    "kill pid 4521",
    "failover",
    "flush cache",
    "rotate logs",
    "purge messages",
    "set log level info",
    "renew certificate",
    "restart",
    "restore record",
    "scale",
];

/// A rollback takes longest. What repairs nothing within its step repairs nothing later either, so
/// no later step is paid for it.
#[tokio::test]
async fn a_repair_is_paid_in_its_own_step_or_never() {
    let client = Client::plain().await;
    let words = if soak() { WORDS } else { &WORDS[..1] };
    let (idle, other) = (("escalate", "nobody", "", ""), ("remediate", "cdn", "action", "scale"));
    for (situation, _) in AT_THE_PAGE {
        let seen = client.reset(*situation).await;
        let members = seen["observation"]["system_status"].as_object().unwrap().clone();
        for (member, word) in members.keys().flat_map(|m| words.iter().map(move |w| (m, *w))) {
            let act = ("remediate", member.as_str(), "action", word);
            let seen = client.play(*situation, &[act, other, idle, other]).await;
            for late in [&seen[2], &seen[4]] {
                let paid = late["reward"].as_f64().unwrap();
                assert!(paid <= 0.0, "{situation:?}: {word} on {member}: {late}");
            }
        }
    }
}

#[tokio::test]
async fn figures_are_only_shown() {
    let with = Client::plain().await;
    let without = Client { site: Site::altered("triage", false, |_| {}).await };
    for (situation, [(target, words), _]) in REPAIRS {
        let look = ("investigate", *target, "aspect", "all");
        let acts = [look, ("remediate", target, "action", words), ("verify", target, "", "")];
        let (shown, bare) =
            (with.play(*situation, &acts).await, without.play(*situation, &acts).await);
        for (shown, bare) in shown.iter().zip(&bare) {
            assert_eq!(troubled(shown), troubled(bare), "{situation:?}");
            for field in ["reward", "done"] {
                assert_eq!(shown[field], bare[field], "{situation:?}");
            }
        }
        let cpu = |seen: &[Value]| {
            seen[0]["observation"]["system_status"]["load_balancer"]["cpu_percent"].clone()
        };
        assert_eq!((cpu(&shown), cpu(&bare)), (json!(12.3), json!(0.0)));
        assert_eq!(with.score().await, without.score().await);
    }
}

#[tokio::test]
async fn credit_is_given_once_and_a_single_incident_closes_when_its_repair_has_held() {
    let client = Client::plain().await;
    let diagnose = ("diagnose", "alert_001", "root_cause", "stale connections");
    let rank = ("prioritize", "database_primary", "priority", "p1");
    let escalate = ("escalate", "alert_001", "team", "dba");
    let repair = ("remediate", "database_primary", "action", "terminate idle sessions");
    let verify = ("verify", "database_primary", "", "");
    let acts = [diagnose, diagnose, rank, rank, escalate, repair, verify, verify, verify];
    let seen = client.play(POOL, &acts).await;
    let rewards: Vec<_> = seen[1..].iter().map(|seen| seen["reward"].as_f64().unwrap()).collect();
    assert_eq!(rewards, [0.15, -0.03, 0.08, -0.03, 0.02, 0.2, 0.1, -0.03, -0.03]);
    let done: Vec<_> = seen.iter().map(|seen| seen["done"].as_bool().unwrap()).collect();
    assert_eq!(done.iter().position(|done| *done), Some(9), "three steps after the repair");
    assert_eq!(seen[9]["observation"]["alerts"][0]["severity"], "resolved");
    assert_eq!(client.score().await, 0.9);
    let after = client.act(verify).await;
    assert_eq!(after["observation"]["last_action_error"], "Episode already done");
    assert_eq!((&after["reward"], &after["done"]), (&json!(0.0), &json!(true)));
    assert_eq!(client.state().await["step_count"], 9);
}

#[tokio::test]
async fn guesses_are_worth_nothing_and_idling_neither() {
    let client = Client::plain().await;
    let guess = |cause| ("diagnose", "alert_303", "root_cause", cause);
    let acts = [guess("packet loss"), guess("disk full"), guess("table lock")];
    let seen = client.play(STACK, &acts).await;
    assert!(seen[1..].iter().all(|seen| seen["reward"] == -0.1), "{seen:?}");
    assert_eq!(client.score().await, 0.01);
    client.play(STACK, &[]).await;
    assert_eq!(client.score().await, 0.01);
}

#[tokio::test]
async fn sessions_do_not_meet_and_bad_requests_change_nothing() {
    let client = Client::plain().await;
    let (status, seen) = client.ask("POST", "/step", "a", "{}").await;
    assert_eq!((status, seen["detail"].is_string()), (400, true));
    assert_eq!(client.ask("GET", "/grade", "a", "").await.1["score"], 0.0);
    client.ask("POST", "/reset", "a", r#"{"task_name":"single_incident","episode_id":"x"}"#).await;
    client.ask("POST", "/reset", "b", r#"{"task_name":"multi_incident"}"#).await;
    for body in ["[1]", "{", "", "7", r#"{"action_type":"verify","parameters":null}"#] {
        let (status, seen) = client.ask("POST", "/step", "a", body).await;
        assert_eq!((status, seen["detail"].is_array()), (422, true), "{body}");
    }
    for body in [
        r#"{"task_name":"nope"}"#,
        r#"{"task_name":null}"#,
        r#"{"seed":"seven"}"#,
        r#"{"seed":1.5}"#,
        r#"{"episode_id":7}"#,
        "[]",
        "7",
    ] {
        let (status, seen) = client.ask("POST", "/reset", "a", body).await;
        assert!(matches!(status, 400 | 422) && !seen["detail"].is_null(), "{body}: {seen}");
    }
    let one = client.ask("GET", "/state", "a", "").await.1;
    let two = client.ask("GET", "/state", "b", "").await.1;
    assert_eq!((&one["episode_id"], &one["step_count"]), (&json!("x"), &json!(0)));
    assert_eq!(two["scenario_id"], "memory_leak_cascade");
    let (status, seen) =
        client.ask("POST", "/step", "a", r#"{"action_type":null,"target":5}"#).await;
    assert_eq!((status, &seen["reward"]), (200, &json!(-0.05)));
    assert_eq!(client.ask("GET", "/state", "b", "").await.1["step_count"], 0);
    assert_eq!(client.ask("GET", "/nope", "", "").await, (404, json!({"detail": "Not Found"})));
}
