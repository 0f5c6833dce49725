//! Records on a PostgreSQL server: the command line, and several orchestrators that share them.

use crate::kit::{self, LIBRARY, SCENARIO, Server, mayday};
use pgtest::{Listen, PASSWORD, USER};
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use proto::orchestrator::v1::{
    CreateRequest, ListRequest, ListScenariosRequest, ObserveRequest, ScoreRequest, StepRequest,
    StepResponse,
};
use rustix::process::Signal;
use serde_json::Value;
use std::sync::OnceLock;
use tonic::transport::Channel;
use tonic::{Code, Status};

type Client = EpisodesClient<Channel>;

const PLAN: [&str; 5] = [
    r#"{"action":"metrics","component":"web"}"#,
    r#"{"action":"wait","seconds":30}"#,
    r#"{"action":"rollback","component":"web"}"#,
    r#"{"action":"wait","seconds":60}"#,
    r#"{"action":"resolve"}"#,
];

/// One database server for all tests that do it no harm.
fn shared(test: &str) -> Option<&'static pgtest::Server> {
    static SERVER: OnceLock<Option<pgtest::Server>> = OnceLock::new();
    let started = SERVER.get_or_init(|| {
        pgtest::found().and_then(|_| pgtest::Server::start("tests on PostgreSQL", Listen::Tcp))
    });
    if started.is_none() {
        pgtest::skip(test, "PostgreSQL's programs are not installed");
    }
    started.as_ref()
}

/// The address of a new database.
pub(crate) fn database(test: &str) -> Option<String> {
    let server = shared(test)?;
    Some(server.address(&server.database()))
}

fn orchestrator(db: &str) -> Server {
    let args = ["orchestrator", "--listen", "127.0.0.1:0", "--library", LIBRARY];
    Server::start(&[&args[..], &["--records", db]].concat(), None)
}

async fn client(server: &Server) -> Client {
    EpisodesClient::connect(format!("http://{}", server.address("orchestrator"))).await.unwrap()
}

async fn create(client: &mut Client, seed: u64) -> String {
    let tasks = client.list_scenarios(ListScenariosRequest {}).await.unwrap().into_inner().tasks;
    let request = CreateRequest { task: tasks[0].task.clone(), seed: Some(seed) };
    client.create(request).await.unwrap().into_inner().episode
}

async fn step(client: &mut Client, episode: &str, at: usize) -> Result<StepResponse, Status> {
    let (episode, action_json) = (episode.to_string(), PLAN[at].as_bytes().to_vec());
    let request = StepRequest { episode, action_json, number: Some(at as u32 + 1) };
    client.step(request).await.map(tonic::Response::into_inner)
}

async fn seconds(client: &mut Client, episode: &str) -> i64 {
    let request = ObserveRequest { episode: episode.to_string() };
    let json = client.observe(request).await.unwrap().into_inner().observation_json;
    serde_json::from_slice::<Value>(&json).unwrap()["seconds"].as_i64().unwrap()
}

async fn score(client: &mut Client, episode: &str) -> f64 {
    let request = ScoreRequest { episode: episode.to_string() };
    client.score(request).await.unwrap().into_inner().score
}

/// The record of an episode but for its name.
fn course(db: &str, episode: &str) -> String {
    kit::out(&["records", "show", episode, "--records", db]).replace(episode, "")
}

/// What an episode comes to whose process is left alone.
async fn undisturbed(db: &str) -> (Vec<StepResponse>, String, f64) {
    let server = orchestrator(db);
    let mut calls = client(&server).await;
    let episode = create(&mut calls, 5).await;
    let mut steps = Vec::new();
    for at in 0..PLAN.len() {
        steps.push(step(&mut calls, &episode, at).await.unwrap());
    }
    (steps, course(db, &episode), score(&mut calls, &episode).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn another_orchestrator_goes_on_after_a_kill() {
    let Some(db) = database("another orchestrator goes on after a kill") else { return };
    let (steps, record, best) = undisturbed(&db).await;
    let (mut a, b) = (orchestrator(&db), orchestrator(&db));
    let (mut at_a, mut at_b) = (client(&a).await, client(&b).await);
    let episode = create(&mut at_a, 5).await;
    for (at, expected) in steps.iter().enumerate().take(2) {
        assert_eq!(step(&mut at_a, &episode, at).await.unwrap(), *expected);
    }
    a.kill();
    for (at, expected) in steps.iter().enumerate().skip(2) {
        assert_eq!(step(&mut at_b, &episode, at).await.unwrap(), *expected, "step {at}");
    }
    assert_eq!(score(&mut at_b, &episode).await, best);
    // Inputs, ticks, replies and worlds: to the last byte.
    assert_eq!(course(&db, &episode), record);
    assert_eq!(mayday(&["replay", &episode, "--records", &db]).status.code(), Some(0));
    assert_eq!(b.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_owner_that_was_stopped_writes_no_more_and_hears_of_it() {
    let test = "an owner that was stopped writes no more";
    let Some(db) = database(test) else { return };
    let (steps, record, best) = undisturbed(&db).await;
    let (a, b) = (orchestrator(&db), orchestrator(&db));
    let (mut at_a, mut at_b) = (client(&a).await, client(&b).await);
    let episode = create(&mut at_a, 5).await;
    assert_eq!(step(&mut at_a, &episode, 0).await.unwrap(), steps[0]);

    // The owner freezes with a step on its way to it, and the other one takes over meanwhile.
    kit::signal(&a.child, Signal::STOP);
    let (mut late, late_episode) = (at_a.clone(), episode.clone());
    let late = tokio::spawn(async move { step(&mut late, &late_episode, 1).await });
    for (at, expected) in steps.iter().enumerate().take(3).skip(1) {
        assert_eq!(step(&mut at_b, &episode, at).await.unwrap(), *expected);
    }
    assert!(!late.is_finished());
    let before = course(&db, &episode);
    kit::signal(&a.child, Signal::CONT);

    // The step that it was asked for before it knew is refused, and nothing is added.
    let refused = late.await.unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    assert_eq!(course(&db, &episode), before);
    // From there on it plays if it is asked, with what has become of the episode.
    let now = seconds(&mut at_b, &episode).await;
    assert_eq!(seconds(&mut at_a, &episode).await, now);
    let owner = |db: &str| owner(db, &episode);
    let before = owner(&db);
    assert_eq!(step(&mut at_a, &episode, 3).await.unwrap(), steps[3]);
    assert_eq!(owner(&db), before, "the look had claimed it");
    // And so does the other one, whose turn it is to hear of it: by what it wanted to add.
    assert_eq!(step(&mut at_b, &episode, 3).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(step(&mut at_b, &episode, 3).await.unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(step(&mut at_b, &episode, 4).await.unwrap(), steps[4]);
    assert_eq!(score(&mut at_a, &episode).await, best);
    assert_eq!(course(&db, &episode), record);
    assert_eq!((a.stop(), b.stop()), (Some(0), Some(0)));
}

/// The epoch that owns an episode.
fn owner(db: &str, episode: &str) -> String {
    let server = shared("asked after another test was skipped").unwrap();
    let name = db.rsplit('/').next().unwrap();
    let sql = format!("SELECT epoch FROM mayday.episodes WHERE episode = '{episode}'");
    server.sql(name, &sql)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_at_once_each_step_is_taken_by_one() {
    let Some(db) = database("of many at once each step is taken by one") else { return };
    let (_, record, best) = undisturbed(&db).await;
    let servers = [orchestrator(&db), orchestrator(&db), orchestrator(&db)];
    let mut clients = Vec::new();
    for server in &servers {
        clients.push(client(server).await);
    }
    let episode = create(&mut clients[0], 5).await;
    for at in 0..PLAN.len() {
        // Everybody insists on the same step until somebody has taken it.
        let all = clients.iter().map(|client| {
            let (mut client, episode) = (client.clone(), episode.clone());
            tokio::spawn(async move {
                loop {
                    match step(&mut client, &episode, at).await {
                        Ok(_) => return 1,
                        Err(status) if status.code() == Code::FailedPrecondition => return 0,
                        Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
                    }
                }
            })
        });
        let mut taken = 0;
        for one in all.collect::<Vec<_>>() {
            taken += one.await.unwrap();
        }
        assert_eq!(taken, 1, "step {at}");
    }
    for client in &mut clients {
        assert_eq!(score(client, &episode).await, best);
    }
    assert_eq!(course(&db, &episode), record);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_database_that_restarts_costs_no_step() {
    let test = "a database that restarts costs no step";
    let Some(server) = pgtest::Server::start(test, Listen::Socket) else { return };
    let db = server.address(&server.database());
    let (steps, record, _) = undisturbed(&db).await;
    let a = orchestrator(&db);
    let mut calls = client(&a).await;
    let episode = create(&mut calls, 5).await;
    for (at, expected) in steps.iter().enumerate() {
        if at % 2 == 0 {
            server.stop()
        } else {
            server.crash()
        }
        let (mut caller, called) = (calls.clone(), episode.clone());
        let stepping = tokio::spawn(async move { step(&mut caller, &called, at).await });
        server.start_again();
        assert_eq!(stepping.await.unwrap().unwrap(), *expected, "step {at}");
    }
    assert_eq!(course(&db, &episode), record);
    let listed = calls.list(ListRequest { newest: 0 }).await.unwrap().into_inner().episodes;
    assert_eq!(listed.len(), 2);
}

#[test]
fn the_command_line_takes_a_server_wherever_it_takes_a_file() {
    let Some(db) = database("the command line takes a server") else { return };
    let run = kit::run(&["--agents", "reference,noop", "--seeds", "1", "--json", "--records", &db]);
    let played = kit::json(&run);
    let again = mayday(&run);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("by --resume"));
    assert_eq!(kit::json(&[&run[..], &["--resume"]].concat()), played);
    let listed = kit::json(&["records", "list", "--json", "--records", &db]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    let episode = listed[0]["episode"].as_str().unwrap();
    assert_eq!(listed[0]["scenario"].as_str(), Some(SCENARIO));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().display().to_string();
    kit::out(&["records", "export", "--records", &db, "--to", &to]);
    let file = folder.path().join(format!("{episode}.jsonl"));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        kit::out(&["records", "show", &episode[..8], "--records", &db,])
    );
    kit::out(&["replay", episode, "--records", &db]);
    let pruned = kit::out(&["records", "prune", "--keep", "1", "--records", &db]);
    assert_eq!(pruned, "1 records removed\n");
}

#[test]
fn a_password_is_in_no_message() {
    let Some(server) = shared("a password is in no message") else { return };
    let name = server.database();
    let at = |password: &str, database: &str| {
        format!("postgres://{USER}:{password}@127.0.0.1:{}/{database}", server.port())
    };
    let wrong = |db: &str, says: &str, variable: bool| {
        let list = ["records", "list", "--records", db];
        let mut command = kit::command(if variable { &list[..2] } else { &list });
        if variable {
            command.env("MAYDAY_RECORDS", db);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
        assert!(!said.contains("s3cret") && !said.contains(PASSWORD), "{said}");
    };
    for variable in [false, true] {
        wrong(&at("s3cret", &name), "does not let user \"mayday\" in", variable);
        wrong(&at(PASSWORD, "nothing"), "has no database \"nothing\"", variable);
        wrong(&(at(PASSWORD, &name) + "?sslmode=s3cret"), "sslmode is none of", variable);
        wrong(&(at(PASSWORD, &name) + "?s3cret=1"), "unknown parameter", variable);
    }
    for args in [["run", "--help"], ["orchestrator", "--help"], ["records", "list"]] {
        let mut command = kit::command(&args);
        let output = command.env("MAYDAY_RECORDS", at(PASSWORD, &name)).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&said).contains(PASSWORD), "{args:?}");
    }
    // Not even where everything is logged.
    let all = ["records", "list", "--log", "trace", "--records", &at(PASSWORD, &name)];
    let output = mayday(&all);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains(PASSWORD), "{said}");
    // The password may come by itself.
    let mut command = kit::command(&["records", "list", "--records"]);
    let named = format!("postgres://{USER}@127.0.0.1:{}/{name}", server.port());
    let output = command.arg(named).env("PGPASSWORD", PASSWORD).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_freezes_at_any_moment_holds_nobody_up() {
    let Some(db) = database("a process that freezes at any moment") else { return };
    let b = orchestrator(&db);
    let mut at_b = client(&b).await;
    let mut episodes = Vec::new();
    for round in 0..5 {
        let a = orchestrator(&db);
        let mut at_a = client(&a).await;
        // Nobody runs ahead of what is counted: an episode has a limit of steps.
        let (tell, mut told) = tokio::sync::mpsc::channel(1);
        let mut played = Vec::new();
        for seed in 0..6 {
            let episode = create(&mut at_a, seed).await;
            episodes.push(episode.clone());
            let (mut calls, tell) = (at_a.clone(), tell.clone());
            // Until it is refused.
            played.push((
                episode.clone(),
                tokio::spawn(async move {
                    let mut kept = 0;
                    while wait_a_second(&mut calls, &episode, None).await.is_ok() {
                        kept += 1;
                        let _ = tell.send(()).await;
                    }
                    kept
                }),
            ));
        }
        for _ in 0..4 + 5 * round {
            told.recv().await.expect("steps are taken");
        }
        kit::signal(&a.child, Signal::STOP);
        drop(told);
        let mut before = Vec::new();
        for (episode, _) in &played {
            let request = ObserveRequest { episode: episode.clone() };
            let seen = at_b.observe(request).await.expect("nothing is locked").into_inner();
            let seen: Value = serde_json::from_slice(&seen.observation_json).unwrap();
            let step = seen["step"].as_u64().unwrap() as u32;
            wait_a_second(&mut at_b, episode, Some(step + 1)).await.expect("it is B's");
            before.push(course(&db, episode));
        }
        kit::signal(&a.child, Signal::CONT);
        for ((episode, playing), before) in played.into_iter().zip(before) {
            let answered = playing.await.unwrap();
            // B saw all that A was answered, and nothing came after.
            assert_eq!(course(&db, &episode), before);
            let steps = before.matches("\"step\"").count();
            assert!(steps > answered, "{answered} of {before}");
        }
        assert_eq!(a.stop(), Some(0));
    }
    for episode in episodes {
        let replayed = mayday(&["replay", &episode, "--records", &db]);
        assert_eq!(replayed.status.code(), Some(0), "{episode}");
    }
}

async fn wait_a_second(
    client: &mut Client,
    episode: &str,
    number: Option<u32>,
) -> Result<StepResponse, Status> {
    let action_json = br#"{"action":"wait","seconds":1}"#.to_vec();
    let request = StepRequest { episode: episode.to_string(), action_json, number };
    client.step(request).await.map(tonic::Response::into_inner)
}
