//! Built-in agents play, and their episodes are written as trajectories, in the order of the jobs
//! whatever is faster.

use super::trajectory::Trajectory;
use crate::agent::{AgentSpec, Start};
use crate::agents_port::{ended, seen};
use crate::failure::Failure;
use crate::live::Live;
use crate::pool;
use crate::sessions::{House, Sessions};
use futures_util::StreamExt;
use futures_util::stream;
use model::EpisodeId;
use openenv::{Begun, Turn};
use scenario::Scenario;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// What is to be played.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its opaque name.
    pub task: String,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The seed.
    pub seed: u64,
    /// Who plays.
    pub agent: &'static AgentSpec,
}

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Episodes that are written.
    pub episodes: u64,
    /// Their steps.
    pub steps: u64,
    /// Episodes that failed.
    pub failed: u64,
    /// The user stopped it.
    pub stopped: bool,
}

/// Plays all jobs, some at the same time, and writes a line for each. The first `stop` lets the
/// running ones end, the second leaves them.
///
/// # Errors
/// [`Failure::Interrupted`] at the second stop, and where nothing can be written.
pub async fn play(
    sessions: &Arc<Sessions>,
    jobs: Vec<Job>,
    to: &mut impl Write,
    mut stop: UnboundedReceiver<()>,
) -> Result<Tally, Failure> {
    let (bar, enough) = (pool::progress(jobs.len(), "episodes"), CancellationToken::new());
    let mut tally = Tally::default();
    let running = |job: Job| {
        let (sessions, named) = (sessions.clone(), job.clone());
        async move { (named, tokio::spawn(one(sessions, job)).await) }
    };
    let begun = stream::iter(jobs).take_until(enough.clone().cancelled_owned()).map(running);
    let mut played = Box::pin(begun.buffered(2 * pool::threads(None)));
    loop {
        let (job, ended) = tokio::select! {
            next = played.next() => match next {
                Some(next) => next,
                None => break,
            },
            Some(()) = stop.recv() => {
                if tally.stopped {
                    return Err(Failure::Interrupted);
                }
                tally.stopped = true;
                enough.cancel();
                let what = "stopping: running episodes are brought to an end";
                bar.suspend(|| crate::console::note(what));
                continue;
            }
        };
        bar.inc(1);
        let defect = |_| Err(Failure::failed("a defect of this program ended the episode"));
        match ended.unwrap_or_else(defect) {
            Ok(trajectory) => {
                tally.episodes += 1;
                tally.steps += trajectory.steps();
                match write(to, trajectory) {
                    Ok(()) => {}
                    // Somebody has read enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                    Err(error) => {
                        let what = format!("trajectories cannot be written: {error}");
                        return Err(Failure::failed(what));
                    }
                }
            }
            Err(failure) => {
                tally.failed += 1;
                let Job { scenario, seed, agent, .. } = job;
                let (name, agent) = (&scenario.name, agent.name);
                let what = format!("{name}, seed {seed}, {agent}: {failure}");
                bar.suspend(|| crate::console::note(what));
            }
        }
    }
    bar.finish_and_clear();
    Ok(tally)
}

fn write(to: &mut impl Write, trajectory: Trajectory) -> io::Result<()> {
    writeln!(to, "{}", trajectory.line())?;
    to.flush()
}

async fn one(sessions: Arc<Sessions>, job: Job) -> Result<Trajectory, Failure> {
    let House { source, .. } = sessions.house();
    let id = EpisodeId(chassis::incarnation::draw());
    let begun = Box::pin(Live::begin(source, job.scenario.clone(), id, job.seed)).await;
    let mut live = Box::new(begun?);
    let played = Box::pin(follow(&sessions, &job, &mut live)).await;
    live.forget().await;
    played
}

async fn follow(sessions: &Sessions, job: &Job, live: &mut Live) -> Result<Trajectory, Failure> {
    let House { judge, reward: mode, .. } = sessions.house();
    let Job { task, scenario, seed, agent: spec } = job;
    let noise = live.episode.noise_for("agent").branch(spec.name);
    let mut agent = (spec.make)(Start { scenario, noise });
    let mut now = live.observe();
    let first = seen(&now).map_err(Failure::failed)?;
    let begun = Begun { episode: String::new(), task: task.clone(), seen: first };
    let mut trajectory = Trajectory::begin(("agent", spec.name), &begun, Some(*seed));
    while live.episode.ended().is_none() {
        let action = agent.act(&now, &live.episode.site());
        now = Box::pin(live.episode.step(&action)).await?.observation;
        let reward = Box::pin(live.reward(judge, *mode)).await?;
        let turn = Turn { seen: seen(&now).map_err(Failure::failed)?, reward, end: ended(&now) };
        trajectory.step(&action.to_json(), &turn);
    }
    Ok(trajectory)
}
