//! The measurements themselves. Each is a median over repeats, so that a busy machine shows less.

use super::machine::resident;
use crate::failure::Failure;
use crate::supervisor::{Plan, Supervisor};
use action::Action;
use episode::{ControlOrder, Episode};
use fleet::{EmbeddedFleet, Fleet, Links, RemoteConfig, RemoteFleet};
use grader::Worlds;
use model::{EpisodeId, LeverPull, Params, Tick};
use scenario::{Library, Scenario};
use std::sync::Arc;
use std::time::Instant;

pub(super) const WORLD: &str = include_str!("world.yaml");

/// One figure.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was measured.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The figure.
    pub value: f64,
    /// What it should not exceed; `None`: shown for information.
    pub budget: Option<f64>,
    /// What the figure is made of.
    pub note: &'static str,
}

impl Measured {
    /// Whether it keeps its budget.
    pub fn within(&self) -> bool {
        self.budget.is_none_or(|budget| self.value <= budget)
    }

    /// A figure with its unit.
    pub fn show(&self, value: f64) -> String {
        let digits = if value >= 100.0 { 0 } else { 2 };
        format!("{value:.digits$} {}", self.unit)
    }
}

/// Measures everything; `say` is told what is being done.
///
/// # Errors
/// Where component processes cannot be started.
pub async fn measure(quick: bool, say: &mut dyn FnMut(&str)) -> Result<Vec<Measured>, Failure> {
    let repeats = if quick { 5 } else { 40 };
    let world = world()?;
    let mut rows = Vec::new();
    say("ticks");
    rows.extend(ticks(&world, repeats).await?);
    say("resets and forks");
    rows.extend(resets(&world, repeats).await?);
    say("memory");
    rows.extend(memory(&world, if quick { 20 } else { 200 }).await?);
    say("remote steps");
    rows.push(remote(&world, repeats).await?);
    Ok(rows)
}

fn world() -> Result<Arc<Scenario>, Failure> {
    scenario::parse(&Library::shipped(), "bench/world", WORLD, &fleet::kinds())
        .map(Arc::new)
        .map_err(Failure::failed)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

async fn begun(world: &Arc<Scenario>, seed: u64) -> Result<Episode<EmbeddedFleet>, Failure> {
    let fleet = EmbeddedFleet::new(fleet::kinds());
    let id = EpisodeId(seed);
    let mut episode = Episode::prepare(fleet, fleet::kinds(), world.clone(), id, seed, 1)
        .map_err(Failure::failed)?;
    episode.begin().await.map_err(Failure::failed)?;
    Ok(episode)
}

/// An embedded world waits for nothing: between two of them a signal is noticed.
async fn breathe() {
    tokio::task::yield_now().await;
}

/// Seconds that `ticks` ticks take.
async fn play(episode: &mut Episode<EmbeddedFleet>, ticks: i64) -> Result<f64, Failure> {
    let until = episode.tick().plus(ticks);
    let begin = Instant::now();
    episode.play_to(until).await.map_err(Failure::failed)?;
    Ok(begin.elapsed().as_secs_f64())
}

async fn ticks(world: &Arc<Scenario>, repeats: usize) -> Result<[Measured; 2], Failure> {
    let mut calm = begun(world, 1).await?;
    let mut per_tick = Vec::new();
    for _ in 0..repeats {
        breathe().await;
        per_tick.push(play(&mut calm, 200).await? * 1e6 / 200.0);
    }
    let mut moving = Vec::new();
    for repeat in 0..repeats {
        breathe().await;
        let mut episode = calm.fork();
        let target = world.topology.instance("orders-db").unwrap_or_default();
        let args = Params::default().with("factor", 8.0);
        let id = (1 << 33) + repeat as u64;
        let pull = LeverPull { id, target, edge: None, lever: "server.slow".into(), args };
        let order = ControlOrder::Inject(vec![pull]);
        episode.control(&order).await.map_err(Failure::failed)?;
        moving.push(play(&mut episode, 4).await? * 1e6 / 4.0);
    }
    Ok([
        Measured {
            what: "one calm tick of a 12-component world, embedded, history kept",
            unit: "µs",
            value: median(per_tick),
            budget: Some(6.0),
            note: "exchange, twelve machines (those whose inputs are unchanged answer from memory), \
                   the tick digest over every outbox, history rows, users, alerts. After each step of \
                   demand some twenty ticks are computed in full, until what callers see has come to \
                   rest. Then look-ups of parameters by name and copies of outboxes.",
        },
        Measured {
            what: "one tick of it at an onset (sixteen rounds)",
            unit: "µs",
            value: median(moving),
            budget: None,
            note: "sixteen rounds in which no machine can answer from memory.",
        },
    ])
}

async fn resets(world: &Arc<Scenario>, repeats: usize) -> Result<[Measured; 3], Failure> {
    let (mut reset, mut forks, mut episodes) = (Vec::new(), Vec::new(), Vec::new());
    for repeat in 0..repeats {
        breathe().await;
        let begin = Instant::now();
        let mut episode = begun(world, repeat as u64).await?;
        reset.push(begin.elapsed().as_secs_f64() * 1e3);
        play(&mut episode, 1200).await?;
        episodes.push(begin.elapsed().as_secs_f64() * 1e3);
        let begin = Instant::now();
        let seed = 1000 + repeat as u64;
        let worlds = Worlds::new(fleet::kinds(), world.clone(), seed, Vec::new())
            .await
            .map_err(Failure::failed)?;
        short(&worlds).await?;
        forks.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok([
        Measured {
            what: "reset with a warm-up of 300 ticks",
            unit: "ms",
            value: median(reset),
            budget: Some(4.0),
            note: "creating twelve machines and 300 ticks, the first ones moving.",
        },
        Measured {
            what: "noop and reference forks of a fresh seed (1,200 + 300 ticks each)",
            unit: "ms",
            value: median(forks),
            budget: Some(40.0),
            note: "one warm-up and two worlds of 1,500 ticks; kept afterwards.",
        },
        Measured {
            what: "a whole episode of 300 + 1,200 ticks, one thread",
            unit: "ms",
            value: median(episodes),
            budget: None,
            note: "reset and 1,200 calm ticks.",
        },
    ])
}

/// Two worlds of 1,500 ticks after the page.
async fn short(worlds: &Worlds) -> Result<(), Failure> {
    let wait = Action::new("wait", &Params::default().with("seconds", 300.0));
    let wait = wait.map_err(Failure::failed)?;
    for plan in [vec![], vec![wait]] {
        let mut world = worlds.page().fork();
        for action in &plan {
            world.step(action).await.map_err(Failure::failed)?;
        }
        world.play_to(Tick(1500)).await.map_err(Failure::failed)?;
    }
    Ok(())
}

async fn memory(world: &Arc<Scenario>, count: u64) -> Result<Option<Measured>, Failure> {
    let Some(before) = resident() else { return Ok(None) };
    let mut live = Vec::new();
    for seed in 0..count {
        breathe().await;
        let mut episode = begun(world, seed).await?;
        play(&mut episode, 1200).await?;
        live.push(episode);
    }
    let after = resident().unwrap_or(before);
    Ok(Some(Measured {
        what: "memory of one live episode after 1,500 ticks",
        unit: "KiB",
        value: (after - before).max(0.0) / 1024.0 / live.len().max(1) as f64,
        budget: Some(512.0),
        note: "history columns, machines, the engine; growth of the process over many episodes.",
    }))
}

async fn remote(world: &Arc<Scenario>, repeats: usize) -> Result<Measured, Failure> {
    let supervisor = Supervisor::start(Plan::of_this_program()?).await?;
    let links =
        Links::tcp(&supervisor.addresses(), Some(supervisor.token())).map_err(Failure::failed)?;
    let fleet = RemoteFleet::new(links, RemoteConfig::default());
    let mut episode = Episode::prepare(fleet, fleet::kinds(), world.clone(), EpisodeId(77), 5, 1)
        .map_err(Failure::failed)?;
    episode.begin().await.map_err(Failure::failed)?;
    let wait = Action::new("wait", &Params::default().with("seconds", 30.0));
    let wait = wait.map_err(Failure::failed)?;
    let mut steps = Vec::new();
    for _ in 0..repeats.min(39) {
        let begin = Instant::now();
        episode.step(&wait).await.map_err(Failure::failed)?;
        steps.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    episode.fleet_mut().drop_episode().await.map_err(Failure::failed)?;
    supervisor.stop().await;
    Ok(Measured {
        what: "one 30-tick calm step, one process per kind on this machine",
        unit: "ms",
        value: median(steps),
        budget: Some(30.0),
        note: "thirty rounds of six calls in flight together over loopback TCP; gRPC framing and the \
               wake-ups of seven processes on the cores there are.",
    })
}
