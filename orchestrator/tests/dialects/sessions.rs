//! Two clients of one dialect never meet; those who name no session share one, as they do at the
//! originals.

use crate::kit::Site;
use crate::players::sentinel_socket;
use serde_json::{Value, json};

fn act(kind: &str, target: &str) -> Value {
    json!({"type": kind, "target": target})
}

#[tokio::test]
async fn sessions_of_two_clients_never_meet() {
    let site = Site::of("incident-sim").await;
    for (client, task) in [("a", "easy"), ("b", "hard"), ("", "medium")] {
        let reset = site.call("POST", "/reset", client, Some(&json!({"task_id": task}))).await;
        assert_eq!((reset.status, &reset.body["task_id"]), (200, &json!(task)));
    }
    let fix = act("restart_service", "payment-service");
    let solved = site.call("POST", "/step", "a", Some(&fix)).await;
    assert_eq!(solved.body["done"], true);
    for (client, task, step) in [("a", "easy", 1), ("b", "hard", 0), ("", "medium", 0)] {
        let state = site.call("GET", "/state", client, None).await;
        assert_eq!(
            (&state.body["task_id"], &state.body["step_number"]),
            (&task.into(), &step.into())
        );
        let metrics = site.call("GET", "/metrics", client, None).await;
        assert_eq!(metrics.body["total_episodes"], 1, "{client}");
    }
    // Whoever names no session is in the same one as all others who name none.
    let other = site.call("POST", "/reset", "", Some(&json!({"task_id": "easy"}))).await;
    assert_eq!(other.status, 200);
    assert_eq!(site.call("GET", "/state", "", None).await.body["task_id"], "easy");
    let cookie = site.call("GET", "/state?session_id=b", "", None).await;
    assert_eq!(cookie.body["task_id"], "hard");
    let long = "x".repeat(200);
    assert_eq!(site.call("GET", "/state", &long, None).await.status, 400);
}

#[tokio::test]
async fn a_socket_has_a_session_of_its_own_and_may_share_a_named_one() {
    let site = Site::of("sentinel").await;
    let reset = json!({"type": "reset", "data": {"task_id": "api-recovery-easy"}}).to_string();
    let state = json!({"type": "state"}).to_string();
    let mut own = sentinel_socket(&site, "").await;
    assert_eq!(own.ask(reset.clone()).await["type"], "observation");
    assert_eq!(sentinel_socket(&site, "").await.ask(state.clone()).await["data"]["episode_id"], "");
    assert_eq!(site.call("GET", "/state", "", None).await.body["episode_id"], "");
    let mut named = sentinel_socket(&site, "?session_id=me").await;
    named.ask(reset).await;
    let step = json!({"action": {"command": "restart_service", "target": "web-api"}});
    let stepped = site.call("POST", "/step", "me", Some(&step)).await;
    assert_eq!((stepped.status, &stepped.body["reward"]), (200, &json!(0.99)));
    assert_eq!(named.ask(state).await["data"]["resolved"], true);
    let grade = site.call("GET", "/grade/api-recovery-easy", "me", None).await;
    assert_eq!(grade.body["score"], 0.99);
    let unplayed = site.call("GET", "/grade/api-recovery-easy", "other", None).await;
    assert_eq!(unplayed.body["score"], 0.01);
    assert_eq!(site.call("GET", "/grade/nothing", "me", None).await.status, 404);
    let valid = site.call("GET", "/validate", "me", None).await;
    assert_eq!(valid.body["passed"], true);
}

#[tokio::test]
async fn documents_and_unknown_paths_are_answered_as_by_the_originals() {
    for dialect in mayday::dialects::all() {
        let site = Site::of(dialect.name).await;
        let missed = site.call("GET", "/nothing", "", None).await;
        assert_eq!((missed.status, missed.body), (404, json!({"detail": "Not Found"})));
        let openapi = site.call("GET", "/openapi.json", "", None).await;
        assert_eq!(openapi.status, 200);
        for endpoint in dialect.endpoints {
            let method = endpoint.method;
            assert!(openapi.body["paths"][endpoint.path][method].is_object(), "{endpoint:?}");
            if method == "get" && !endpoint.path.contains('{') {
                let status = site.call("GET", endpoint.path, "fresh", None).await.status;
                assert!([200, 400, 404, 405, 422].contains(&status), "{endpoint:?}: {status}");
            }
        }
        let wrong = site.call("DELETE", "/reset", "", None).await;
        assert_eq!((wrong.status, wrong.body), (405, json!({"detail": "Method Not Allowed"})));
        for path in ["/docs", "/redoc"] {
            assert_eq!(site.call("GET", path, "", None).await.status, 200, "{dialect:?}{path}");
        }
        // Who reads no body does not mind one.
        let large = format!("\"{}\"", "x".repeat(3 << 20));
        let answer = site.send("POST", "/reset", "", large).await;
        let expected = if dialect.name == "netarena" { 200 } else { 413 };
        assert_eq!(answer.status, expected, "{dialect:?}");
    }
}
