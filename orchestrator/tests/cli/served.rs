//! `mayday orchestrator` and `mayday grader` as processes.

use crate::kit::{LIBRARY, Server, mayday};
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use proto::orchestrator::v1::{
    CreateRequest, ListRequest, ListScenariosRequest, ObserveRequest, ScoreRequest, StepRequest,
    Summary,
};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

type Client = EpisodesClient<Channel>;

const PLAN: [&str; 4] = [
    r#"{"action":"metrics","component":"web"}"#,
    r#"{"action":"rollback","component":"web"}"#,
    r#"{"action":"wait","seconds":60}"#,
    r#"{"action":"resolve"}"#,
];
/// What an agent must not read anywhere.
const SECRETS: [&str; 5] =
    ["bad_deploy", "broken-release", "canary", "server.version", "fails half"];

fn orchestrator(more: &[&str], token: Option<&str>) -> Server {
    let args = ["orchestrator", "--listen", "127.0.0.1:0", "--library", LIBRARY];
    Server::start(&[&args[..], more].concat(), token)
}

async fn client(server: &Server) -> Client {
    let address = format!("http://{}", server.address("orchestrator"));
    EpisodesClient::connect(address).await.unwrap()
}

async fn create(client: &mut Client, seed: u64) -> String {
    let tasks = client.list_scenarios(ListScenariosRequest {}).await.unwrap().into_inner().tasks;
    let task = tasks[0].task.clone();
    assert!(task.starts_with("task-") && tasks.len() == 1 && tasks[0].steps == 20);
    let request = CreateRequest { task, seed: Some(seed) };
    let created = client.create(request).await.unwrap().into_inner();
    harmless(&created.observation_json);
    created.episode
}

fn harmless(json: &[u8]) {
    let text = std::str::from_utf8(json).unwrap();
    assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
}

async fn step(client: &mut Client, episode: &str, action: &str) -> Result<f64, Status> {
    let (episode, action_json) = (episode.to_string(), action.as_bytes().to_vec());
    let request = StepRequest { episode, action_json, number: None };
    let reply = client.step(request).await?.into_inner();
    harmless(&reply.observation_json);
    Ok(reply.reward)
}

async fn listed(client: &mut Client, episode: &str) -> Summary {
    let all = client.list(ListRequest { newest: 0 }).await.unwrap().into_inner().episodes;
    all.into_iter().find(|one| one.episode == episode).unwrap()
}

async fn score(client: &mut Client, episode: &str) -> f64 {
    let request = ScoreRequest { episode: episode.to_string() };
    client.score(request).await.unwrap().into_inner().score
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_episode_outlives_its_orchestrator() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db").display().to_string();
    let mut server = orchestrator(&["--records", &db], None);
    let mut calls = client(&server).await;
    let (whole, broken) = (create(&mut calls, 5).await, create(&mut calls, 5).await);
    let mut paid = Vec::new();
    for action in PLAN {
        paid.push(step(&mut calls, &whole, action).await.unwrap());
    }
    let expected = listed(&mut calls, &whole).await;
    let best = score(&mut calls, &whole).await;
    for (at, action) in PLAN.iter().enumerate() {
        server.kill();
        server = orchestrator(&["--records", &db], None);
        calls = client(&server).await;
        assert!(!listed(&mut calls, &broken).await.live);
        assert_eq!(step(&mut calls, &broken, action).await.unwrap(), paid[at], "step {at}");
    }
    let outlived = listed(&mut calls, &broken).await;
    assert_eq!((&outlived.world, outlived.steps), (&expected.world, 4));
    assert!(outlived.live && !outlived.world.is_empty());
    assert_eq!(outlived.end, "resolved");
    assert_eq!(score(&mut calls, &broken).await, best);
    assert!((paid.iter().sum::<f64>() - best).abs() < 1e-9 && best > 0.8, "{paid:?} {best}");
    assert_eq!(server.stop(), Some(0));
    // The record that came about that way is as good as any other.
    let replayed = mayday(&["replay", &broken, "--records", &db]);
    assert_eq!(replayed.status.code(), Some(0));
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_grader_elsewhere_gives_the_same_rewards() {
    let grader = Server::start(&["grader", "--listen", "127.0.0.1:0"], Some("s3cret"));
    let address = grader.address("grader");
    let servers = [
        orchestrator(&[], Some("s3cret")),
        orchestrator(&["--grader", &address], Some("s3cret")),
        orchestrator(&["--grader", &address, "--fleet", "remote"], Some("s3cret")),
    ];
    let mut all = Vec::new();
    for server in &servers {
        let address = format!("http://{}", server.address("orchestrator"));
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        let shown = |mut request: Request<()>| {
            request.metadata_mut().insert(chassis::token::METADATA, "s3cret".parse().unwrap());
            Ok(request)
        };
        let mut calls = EpisodesClient::with_interceptor(channel, shown);
        let task = calls.list_scenarios(ListScenariosRequest {}).await.unwrap().into_inner();
        let request = CreateRequest { task: task.tasks[0].task.clone(), seed: Some(8) };
        let episode = calls.create(request).await.unwrap().into_inner().episode;
        let mut paid = Vec::new();
        for action in PLAN {
            let (episode, action_json) = (episode.clone(), action.as_bytes().to_vec());
            let request = StepRequest { episode, action_json, number: None };
            paid.push(calls.step(request).await.unwrap().into_inner().reward);
        }
        let score = calls.score(ScoreRequest { episode }).await.unwrap().into_inner();
        all.push((paid, score));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    assert!(all[0].1.score > 0.8);
    for server in servers {
        assert_eq!(server.stop(), Some(0));
    }
    assert_eq!(grader.stop(), Some(0));
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn refusals_say_why_and_tell_nothing() {
    let server = orchestrator(&[], None);
    let mut calls = client(&server).await;
    let episode = create(&mut calls, 1).await;
    for (action, code) in [
        ("{", Code::InvalidArgument),
        (r#"{"action":"rollbak","component":"web"}"#, Code::InvalidArgument),
        (r#"{"action":"rollback","component":"wbe"}"#, Code::InvalidArgument),
    ] {
        let refused = step(&mut calls, &episode, action).await.unwrap_err();
        assert_eq!(refused.code(), code, "{refused}");
        harmless(refused.message().as_bytes());
    }
    let number = Some(7);
    let action_json = PLAN[0].as_bytes().to_vec();
    let request = StepRequest { episode: episode.clone(), action_json, number };
    assert_eq!(calls.step(request).await.unwrap_err().code(), Code::FailedPrecondition);
    for (name, code) in [("xyz", Code::InvalidArgument), ("ff", Code::NotFound)] {
        let request = ObserveRequest { episode: name.to_string() };
        assert_eq!(calls.observe(request).await.unwrap_err().code(), code);
    }
    let request = ScoreRequest { episode: episode.clone() };
    assert_eq!(calls.score(request).await.unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(listed(&mut calls, &episode).await.steps, 0);
    let address = server.address("orchestrator");
    assert_eq!(mayday(&["health", &address]).status.code(), Some(0));
    let guarded = orchestrator(&[], Some("s3cret"));
    let mut calls = client(&guarded).await;
    let refused = calls.list_scenarios(ListScenariosRequest {}).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert_eq!(mayday(&["health", &guarded.address("orchestrator")]).status.code(), Some(0));
}
