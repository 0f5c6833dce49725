//! What is asked over HTTP and never changes, and the tasks.

use super::toy::Server;
use crate::Settings;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn what_the_validator_asks_for_is_there() {
    let server = Server::small(2).await;
    assert_eq!(server.get("/health").await, (StatusCode::OK, json!({"status": "healthy"})));
    let (_, about) = server.get("/metadata").await;
    assert_eq!(about.as_object().unwrap().len(), 6, "{about}");
    assert_eq!((&about["name"], &about["author"]), (&json!("toy"), &Value::Null));
    let (_, schema) = server.get("/schema").await;
    for name in ["action", "observation", "state", "reset_observation"] {
        assert!(schema[name].is_object(), "{name}");
    }
    assert_eq!(schema["reset_observation"]["properties"]["reward"], json!({"type": "null"}));
    let first = &schema["observation"]["anyOf"][0];
    assert_eq!(first["required"], json!(["value", "done", "reward", "metadata"]));
    let (_, document) = server.get("/openapi.json").await;
    assert_eq!(document["openapi"], json!("3.1.0"));
    assert_eq!(document["info"]["version"], json!("1.0.0"));
    for page in ["/", "/docs", "/redoc"] {
        let (status, text) = server.get(page).await;
        assert!(status.is_success() && text.as_str().unwrap().contains("toy"), "{page}");
    }
}

#[tokio::test]
async fn every_route_of_the_document_is_served_and_says_what_is_wrong() {
    let server = Server::small(2).await;
    let (_, document) = server.get("/openapi.json").await;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{env_name}", "toy");
        for method in methods.as_object().unwrap().keys() {
            let request = Request::builder().method(method.to_uppercase().as_str()).uri(&path);
            let request = request.header("content-type", "application/json");
            let request = request.header("host", "localhost").body(Body::from("[]")).unwrap();
            let (status, ..) = server.ask(request).await;
            assert!(status.as_u16() < 500 && status != 404 && status != 405, "{path}: {status}");
        }
    }
    let production = Settings { simulation: false, ..Settings::default() };
    let server = Server::start(production).await;
    for path in ["/reset", "/step"] {
        assert_eq!(server.post(path, None, "{}").await.0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(server.get("/state").await.0, StatusCode::NOT_FOUND);
    let (_, document) = server.get("/openapi.json").await;
    assert!(document["paths"]["/reset"].is_null() && document["paths"]["/mcp"].is_object());
}

#[tokio::test]
async fn unknown_paths_methods_and_slashes_are_answered() {
    let server = Server::small(2).await;
    assert_eq!(server.get("/nothing").await.1, json!({"detail": "Not Found"}));
    assert_eq!(server.get("/ws").await.0, StatusCode::NOT_FOUND);
    for path in ["/reset", "/mcp"] {
        let refused = (StatusCode::METHOD_NOT_ALLOWED, json!({"detail": "Method Not Allowed"}));
        assert_eq!(server.get(path).await, refused);
    }
    let (status, headers, _) =
        server.ask(Request::get("/health/?a=b").body(Body::empty()).unwrap()).await;
    assert_eq!(
        (status, &headers["location"]),
        (StatusCode::TEMPORARY_REDIRECT, &"/health?a=b".parse().unwrap())
    );
    for path in ["/ws/", "/elsewhere"] {
        let url = format!("ws://{}{path}", server.address);
        let error = tokio_tungstenite::connect_async(url).await.unwrap_err();
        assert!(error.to_string().contains("403"), "{error}");
    }
}

#[tokio::test]
async fn tasks_are_listed_by_split() {
    let server = Server::small(2).await;
    assert_eq!(server.get("/list_environments").await.1, json!(["toy"]));
    let (_, splits) = server.get("/ToY/splits").await;
    assert_eq!(splits[2]["name"], json!("test"));
    assert_eq!((&splits[2]["type"], &splits[2]["first_seed"]), (&json!("test"), &json!(200)));
    let ask = async |route: &str, body: Value| {
        let (status, _, reply) =
            server.post(&format!("/toy/{route}"), None, body.to_string()).await;
        (status.as_u16(), reply)
    };
    let of = |task: &str, seed: u64| json!({"task": task, "seed": seed});
    assert_eq!(ask("num_tasks", json!({"split": "test"})).await, (200, json!({"num_tasks": 6})));
    let (_, all) = ask("tasks", json!({"split": "test"})).await;
    assert_eq!(all["tasks"][4], of("two", 201));
    assert_eq!(all["env_name"], json!("toy"));
    let one = ask("task", json!({"split": "test", "index": 3})).await;
    assert_eq!(one, (200, json!({"task": of("one", 201)})));
    let some = ask("task_range", json!({"split": "train", "start": 1, "stop": 3})).await;
    assert_eq!(some, (200, json!({"tasks": [of("two", 0), of("three", 0)]})));
    assert_eq!(ask("task_range", json!({"split": "train"})).await.1["tasks"][5], of("three", 1));
    for (route, body, status) in [
        ("task", json!({"split": "test", "index": 6}), 400),
        ("task", json!({"split": "test", "index": -1}), 400),
        ("task", json!({"split": "test", "index": "x"}), 422),
        ("task", json!({"split": "test"}), 422),
        ("task_range", json!({"split": "test", "start": 5, "stop": 2}), 400),
        ("tasks", json!({"split": "x"}), 400),
        ("tasks", json!({"split": 5}), 422),
        ("num_tasks", json!({}), 422),
    ] {
        let (got, reply) = ask(route, body.clone()).await;
        assert_eq!(got, status, "{route} {body} {reply}");
    }
    let (status, _, reply) = server.post("/other/tasks", None, "{}").await;
    assert_eq!((status.as_u16(), reply), (404, json!({"detail": "unknown environment 'other'"})));
}
