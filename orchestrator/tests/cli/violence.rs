//! Component processes that are killed or frozen at random steps, in the middle of mutating calls
//! too: the digests of every tick stay those of the embedded body. `MAYDAY_SOAK` asks for fifty of
//! each. Processes are found by their parent, which only Linux tells.
#![cfg(target_os = "linux")]

use crate::kit::Server;
use action::{Action, Site};
use episode::Episode;
use fleet::{EmbeddedFleet, Fleet, Links, RemoteConfig, RemoteFleet};
use model::{Digest, EpisodeId, Noise, Params};
use rustix::process::{Pid, Signal, kill_process};
use scenario::{Library, Scenario};
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// A frozen process stays so for this long.
const FROZEN: Duration = Duration::from_secs(5);
const STEPS: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Harm {
    Kill,
    Freeze,
}

/// One blow: at which step, how long after its beginning, whom and how.
#[derive(Clone, Copy, Debug)]
struct Blow {
    step: u64,
    after: Duration,
    kind: &'static str,
    harm: Harm,
}

#[expect(clippy::disallowed_methods, reason = "the switch to the full counts")]
fn count() -> u64 {
    if std::env::var_os("MAYDAY_SOAK").is_some() { 50 } else { 2 }
}

fn scenarios() -> Vec<Arc<Scenario>> {
    let library = Library::shipped();
    let load = |name: &String| scenario::load(&library, name, &fleet::kinds()).expect("sound");
    library.ordinary().map(|name| Arc::new(load(name))).collect()
}

fn plan(scenario: &Scenario, dice: Noise) -> Vec<Action> {
    let kinds = fleet::kinds();
    let variants = action::variants(&Site::new(&scenario.topology, &kinds));
    let wait = Action::new("wait", &Params::default().with("seconds", 45.0)).expect("fits");
    let pick = |n: u64| match n % 2 {
        0 => variants[dice.bits(n as i64) as usize % variants.len()].clone(),
        _ => wait.clone(),
    };
    (0..STEPS).map(pick).collect()
}

/// The process of `kind` below the supervisor, if it lives now.
fn process(supervisor: u32, kind: &str) -> Option<Pid> {
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let read =
            |file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
        let status = read("status");
        let child = status.lines().any(|line| line == format!("PPid:\t{supervisor}"));
        let words: Vec<_> = read("cmdline").split('\0').map(str::to_string).collect();
        if child && words.iter().any(|word| word == "component") && words.iter().any(|w| w == kind)
        {
            return Pid::from_raw(id);
        }
    }
    None
}

/// Strikes when told that a step begins; a victim that died meanwhile is struck already.
#[expect(clippy::disallowed_methods, reason = "the length of a fault, not a wait for a state")]
fn strike(supervisor: u32, blow: Blow) {
    let begin = Instant::now();
    while begin.elapsed() < blow.after {
        std::thread::yield_now();
    }
    let Some(victim) = process(supervisor, blow.kind) else { return };
    match blow.harm {
        Harm::Kill => {
            let _ = kill_process(victim, Signal::KILL);
        }
        Harm::Freeze => {
            let _ = kill_process(victim, Signal::STOP);
            // The length of the fault, not a wait for anything.
            std::thread::sleep(FROZEN);
            let _ = kill_process(victim, Signal::CONT);
        }
    }
}

/// Every tick's digest and the record's bytes.
async fn play<F: Fleet>(
    fleet: F,
    scenario: &Arc<Scenario>,
    (id, seed): (u64, u64),
    plan: &[Action],
    begins: Option<(Blow, &Sender<Blow>)>,
) -> (Vec<Digest>, String) {
    let kinds = fleet::kinds();
    let id = EpisodeId(id);
    let mut episode = Episode::prepare(fleet, kinds, scenario.clone(), id, seed, 1).expect("fits");
    episode.keep_tick_digests();
    episode.begin().await.expect("begun");
    for (n, action) in plan.iter().enumerate() {
        if let Some((blow, to)) = begins.filter(|(blow, _)| blow.step == n as u64) {
            to.send(blow).expect("somebody listens");
        }
        if episode.ended().is_none() {
            episode.step(action).await.expect("healed");
        }
    }
    let record = episode.record().to_jsonl();
    let digests = episode.tick_digests().to_vec();
    let _ = episode.fleet_mut().drop_episode().await;
    (digests, record)
}

fn blow(n: u64, harm: Harm) -> Blow {
    let dice = Noise::root(n).branch("violence");
    let kinds: Vec<_> = fleet::kinds().iter().map(|kind| kind.name()).collect();
    Blow {
        step: dice.bits(0) % STEPS,
        after: Duration::from_micros(dice.bits(1) % 15_000),
        kind: kinds[dice.bits(2) as usize % kinds.len()],
        harm,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_frozen_processes_change_no_digest() {
    let up = Server::start(&["up", "--json"], Some("s3cret"));
    let supervisor = up.child.id();
    let kinds = fleet::kinds().iter().map(|kind| kind.name());
    let said = |kind: &str| up.said["components"][kind].as_str().map(str::to_string);
    let addresses = kinds.filter_map(|kind| Some((kind.to_string(), said(kind)?))).collect();
    let token = chassis::Token::new("s3cret").expect("a token");
    let (to, blows) = channel();
    let striker =
        std::thread::spawn(move || blows.into_iter().map(|blow| strike(supervisor, blow)).count());
    let scenarios = scenarios();
    let mut struck = 0;
    for n in 0..2 * count() {
        let harm = if n % 2 == 0 { Harm::Kill } else { Harm::Freeze };
        let (blow, scenario) = (blow(n, harm), &scenarios[n as usize * 7 % scenarios.len()]);
        let plan = plan(scenario, Noise::root(n).branch("plan"));
        let links = Links::tcp(&addresses, Some(&token)).expect("addresses");
        let remote = RemoteFleet::new(links, RemoteConfig::default());
        let ids = (1000 + n, n);
        let hurt = play(remote, scenario, ids, &plan, Some((blow, &to))).await;
        let calm = play(EmbeddedFleet::new(fleet::kinds()), scenario, ids, &plan, None).await;
        assert_eq!(hurt.0, calm.0, "{} {blow:?}", scenario.name);
        assert_eq!(hurt.1, calm.1, "{} {blow:?}", scenario.name);
        struck += 1;
    }
    drop(to);
    assert_eq!(striker.join().expect("struck"), struck);
    assert_eq!(up.stop(), Some(0));
}
