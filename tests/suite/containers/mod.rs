//! The fourth body: one container per kind, as `deploy/compose.yaml` has it. The suite's rows give
//! the embedded digests, containers that are killed, paused or cut off change none, the
//! orchestrator is replaced in mid-episode, and agents reach what they may. `MAYDAY_SOAK` asks for
//! full counts.

mod agent;
mod project;
mod violence;

use crate::common::{run, soak};
use crate::determinism::{Row, assert_equal, embedded, play, rows};
use agent::Agent;
use fleet::{Links, RemoteConfig, RemoteFleet};
use project::{Project, TOKEN, docker, shipped, until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Without `MAYDAY_SOAK` one row in so many is played.
const ONE_IN: usize = 5;

fn kinds() -> Vec<&'static str> {
    fleet::kinds().iter().map(|kind| kind.name()).collect()
}

/// Services of the deployment: kinds, grader, orchestrator.
fn services() -> Vec<&'static str> {
    let mut services = kinds();
    services.extend(["grader", "orchestrator"]);
    services
}

/// The name under which agents know a scenario, as the binary itself tells it.
fn task(row: &Row) -> String {
    let mut command = Command::new(shipped());
    command.args(["scenario", "list", "--json"]).env_clear();
    let listed = command.output().expect("it runs").stdout;
    let listed: Vec<Value> = serde_json::from_slice(&listed).expect("a list");
    let found = listed.iter().find(|one| one["name"] == row.scenario.name.as_str());
    let name = found.and_then(|one| one["task"].as_str());
    name.expect("every shipped scenario has a task").to_string()
}

/// The same binary on this machine, everything in one process.
struct Alone {
    child: Child,
    address: String,
}

impl Alone {
    fn start() -> Alone {
        let mut command = Command::new(shipped());
        command.args(["serve", "--listen", "127.0.0.1:0", "--control", "off", "--log", "warn"]);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        Alone { child, address: said["agents"].as_str().expect("an address").to_string() }
    }

    /// All that an agent reads who plays this row.
    fn replies(&self, row: &Row) -> Vec<String> {
        let address = || Some(self.address.clone());
        let (mut agent, first) = Agent::begin(&address, &task(row), row.seed);
        let step = |action: &action::Action| agent.step(&action.to_json()).expect("nothing breaks");
        std::iter::once(first).chain(row.plan.iter().map(step)).collect()
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The record of an agent's episode, played again in one process, has the same digests.
fn replays(project: &Project, agent: &Agent<'_>) {
    let state = agent.state();
    let record = state["record"].as_str().unwrap_or_else(|| panic!("no record: {state}"));
    let words = ["replay", record, "--records", "/data/records.mayday.db"];
    let replayed = project.exec("orchestrator", &words);
    assert!(replayed.is_ok(), "{replayed:?}");
}

#[test]
fn the_rows_give_the_embedded_digests_and_agents_reach_what_they_may() {
    let Some(project) = Project::start("the_rows_give_the_embedded_digests") else { return };
    rows_agree(&project);
    containers_are_confined(&project);
    agents_reach_the_agents_port_only(&project);
    agents_read_the_same(&project);
    the_control_port_follows_its_container(&project);
}

fn rows_agree(project: &Project) {
    let at = |kind: &str| format!("{}:7000", project.address(kind, "control"));
    let addresses = kinds().into_iter().map(|kind| (kind.to_string(), at(kind))).collect();
    let token = chassis::Token::new(TOKEN).expect("a token");
    let step = if soak() { 1 } else { ONE_IN };
    for row in rows().iter().step_by(step) {
        let left = run(async {
            let links = Links::tcp(&addresses, Some(&token)).expect("addresses");
            play(RemoteFleet::new(links, RemoteConfig::default()), row).await
        });
        assert_equal(row, &embedded(row), &left);
    }
}

/// Over the whole way: agents' port, orchestrator, components, grader.
fn agents_read_the_same(project: &Project) {
    let (alone, address) = (Alone::start(), || project.agents());
    let step = if soak() { 1 } else { 2 * ONE_IN };
    for row in rows().iter().skip(1).step_by(step) {
        let (mut agent, first) = Agent::begin(&address, &task(row), row.seed);
        let expected = alone.replies(row);
        assert_eq!(first, expected[0], "{}", row.scenario.name);
        for (action, expected) in row.plan.iter().zip(&expected[1..]) {
            let reply = agent.step(&action.to_json());
            assert_eq!(reply.as_ref(), Some(expected), "{}", row.scenario.name);
        }
        replays(project, &agent);
    }
}

fn containers_are_confined(project: &Project) {
    let path = "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.CapAdd}} \
                {{.HostConfig.SecurityOpt}} {{.HostConfig.Privileged}} {{.Config.User}}";
    let limits = "{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}";
    for service in services() {
        let confined = "true [ALL] [] [no-new-privileges:true] false 65532:65532";
        assert_eq!(project.inspect(service, path), confined, "{service}");
        let limits = project.inspect(service, limits);
        let limited =
            limits.split(' ').all(|limit| limit.parse().is_ok_and(|limit: u64| limit > 0));
        assert!(limited, "{service}: {limits}");
        let networks = project.inspect(service, "{{len .NetworkSettings.Networks}}");
        assert_eq!(networks == "1", service != "orchestrator", "{service}: {networks}");
        project.until_healthy(service);
    }
}

/// From the point of view of a container beside the agents, and by all ports of the one address
/// that it can see.
fn agents_reach_the_agents_port_only(project: &Project) {
    let (network, image) = (project.network("agents"), project.name.clone());
    let label = format!("com.docker.compose.project={}", project.name);
    let run = ["run", "-d", "--rm", "--network", &network, "--label", &label, &image, "grader"];
    let agent = docker(&run).expect("an agent's container");
    let probe = |words: &[&str]| docker(&[&["exec", &agent, "/mayday", "health"], words].concat());
    let seen = probe(&["--agents", "orchestrator:8000"]);
    assert!(seen.as_ref().is_ok_and(|said| said.contains("orchestrator:8000 serves")), "{seen:?}");
    let mut hidden = vec!["control.orchestrator:7100".to_string()];
    for service in services() {
        let port = if service == "orchestrator" { 7100 } else { 7000 };
        hidden.push(format!("{service}:{port}"));
        hidden.push(format!("{}:{port}", project.address(service, "control")));
    }
    hidden.push(format!("{}:8000", project.address("orchestrator", "control")));
    hidden.push(format!("{}:8000", project.address("orchestrator", "published")));
    let probe = &probe;
    std::thread::scope(|scope| {
        for place in &hidden {
            scope.spawn(move || {
                let words = if place.ends_with(":8000") { &["--agents"][..] } else { &[] };
                let error = probe(&[words, &[place]].concat()).expect_err("out of reach");
                assert!(error.contains("gave no answer"), "{place}: {error}");
            });
        }
    });
    docker(&["rm", "-f", &agent]).expect("removed");
    assert_eq!(open(&project.address("orchestrator", "agents")), BTreeSet::from([8000]));
    assert_eq!(open(&project.address("orchestrator", "control")), BTreeSet::from([7100, 8000]));
}

/// A container that was cut off may come back with another address.
fn the_control_port_follows_its_container(project: &Project) {
    let (network, image) = (project.network("control"), project.name.clone());
    let label = format!("com.docker.compose.project={}", project.name);
    let container = project.container("orchestrator");
    let before = project.address("orchestrator", "control");
    let mut others = Vec::new();
    while project.address("orchestrator", "control") == before {
        assert!(others.len() < 9, "the address {before} comes back again and again");
        docker(&["network", "disconnect", &network, &container]).expect("cut off");
        // Somebody else gets the address that is free.
        let run = ["run", "-d", "--network", &network, "--label", &label, &image, "grader"];
        others.push(docker(&run).expect("another container"));
        let alias = ["--alias", "orchestrator", "--alias", "control.orchestrator"];
        let connect = [&["network", "connect"], &alias[..], &[&network, &container]].concat();
        docker(&connect).expect("back again");
    }
    until("the control port is at the new address", || {
        project.exec("orchestrator", &["health", "control.orchestrator:7100"]).ok()
    });
    others.iter().for_each(|other| drop(docker(&["rm", "-f", other])));
}

/// The ports of an address at which somebody listens.
fn open(address: &str) -> BTreeSet<u16> {
    let open = |port: &u16| {
        let at: SocketAddr = format!("{address}:{port}").parse().expect("an address");
        TcpStream::connect_timeout(&at, Duration::from_secs(5)).is_ok()
    };
    (1..=u16::MAX).filter(open).collect()
}

#[test]
fn an_episode_outlives_the_container_of_its_orchestrator() {
    let Some(project) = Project::start("an_episode_outlives_the_container") else { return };
    let (alone, address) = (Alone::start(), || project.agents());
    let row = rows().swap_remove(2);
    let expected = alone.replies(&row);
    let (mut agent, first) = Agent::begin(&address, &task(&row), row.seed);
    let mut replies = vec![first];
    for (at, action) in row.plan.iter().enumerate() {
        let container = project.container("orchestrator");
        match at {
            2 => {
                docker(&["kill", &container]).expect("killed");
                docker(&["start", &container]).expect("started");
            }
            5 => {
                docker(&["rm", "-f", &container]).expect("removed");
                project.compose(&["up", "-d", "--no-build"]);
                assert_ne!(project.container("orchestrator"), container);
            }
            _ => {}
        }
        replies.push(agent.step(&action.to_json()).expect("sent when it was back"));
    }
    assert_eq!(replies, expected);
    replays(&project, &agent);
}
