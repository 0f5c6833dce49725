//! Many episodes on a few threads. Every thread has a runtime and connections of its own; results
//! do not depend on how many there are, nor on which one played what.

use crate::body::{Body, Source};
use crate::console;
use crate::export::Hub;
use crate::failure::Failure;
use crate::play::{Job, Outcome, Played, RewardMode, Rules, play};
use crate::pool;
use grader::LocalJudge;
use record::Store;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// What is to be played, and how.
#[derive(Debug)]
pub struct Batch {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Where the components are.
    pub body: Body,
    /// Threads, ≥ 1.
    pub threads: usize,
    /// When rewards are paid.
    pub reward: RewardMode,
    /// Where records go.
    pub store: Arc<dyn Store>,
    /// Records are kept there.
    pub keeps: bool,
    /// Goes on with what has a record.
    pub resume: bool,
    /// Where simulated telemetry goes.
    pub export: Option<Arc<Hub>>,
}

/// How one job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Over and graded.
    Over(Box<Outcome>),
    /// The user stopped the batch before it began.
    Left,
    /// The user stopped the batch; what was played is kept.
    Saved,
    /// Something outside the simulation failed.
    Failed(String),
}

/// How a batch ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// By job.
    pub ended: Vec<Ended>,
    /// The user stopped it.
    pub stopped: bool,
}

/// What the threads share.
struct Shared {
    batch: Batch,
    judge: LocalJudge,
    next: AtomicUsize,
    stop: AtomicBool,
}

/// Plays a batch. `upkeep` is awaited beside it and never ends (a supervisor's watch). Ctrl-C and
/// SIGTERM let running episodes end; a second one leaves them.
///
/// # Errors
/// Where no thread can be started, and [`Failure::Interrupted`] at the second signal.
pub async fn run(batch: Batch, upkeep: impl Future<Output = ()>) -> Result<Results, Failure> {
    let (threads, count) = (batch.threads.clamp(1, batch.jobs.len().max(1)), batch.jobs.len());
    let judge = LocalJudge::new(fleet::kinds());
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Arc::new(Shared { batch, judge, next, stop });
    let (tell, mut told) = mpsc::unbounded_channel();
    for number in 0..threads {
        let (shared, tell) = (shared.clone(), tell.clone());
        let named = std::thread::Builder::new().name(format!("play-{number}"));
        let spawned = named.spawn(move || work(&shared, &tell));
        spawned.map_err(|error| {
            Failure::failed(format!("no thread can be started ({error}): use fewer --threads"))
        })?;
    }
    drop(tell);
    let bar = pool::progress(count, "episodes");
    let mut results = Results { ended: vec![Ended::Left; count], stopped: false };
    let mut upkeep = pin!(upkeep);
    let mut signal = Box::pin(chassis::stop_signal());
    loop {
        tokio::select! {
            one = told.recv() => match one {
                Some((at, ended)) => {
                    results.ended[at] = ended;
                    bar.inc(1);
                }
                None => break,
            },
            () = &mut signal => {
                if results.stopped {
                    return Err(Failure::Interrupted);
                }
                results.stopped = true;
                shared.stop.store(true, Ordering::Relaxed);
                bar.suspend(|| console::note("stopping: running episodes are brought to an end"));
                signal = Box::pin(chassis::stop_signal());
            }
            () = &mut upkeep => {}
        }
    }
    bar.finish_and_clear();
    Ok(results)
}

/// One thread: takes job after job.
fn work(shared: &Shared, tell: &mpsc::UnboundedSender<(usize, Ended)>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime can be made: {error}"));
    let ready = runtime.and_then(|runtime| {
        let source = runtime.block_on(async { shared.batch.body.source() });
        source.map(|source| (runtime, source)).map_err(|failure| failure.to_string())
    });
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = shared.batch.jobs.get(at) else { return };
        let ended = match &ready {
            _ if shared.stop.load(Ordering::Relaxed) => Ended::Left,
            Err(error) => Ended::Failed(error.clone()),
            Ok((runtime, source)) => {
                let played = || runtime.block_on(one(shared, job, source));
                catch_unwind(AssertUnwindSafe(played)).unwrap_or_else(|_| {
                    Ended::Failed("a defect of this program ended the episode".into())
                })
            }
        };
        if tell.send((at, ended)).is_err() {
            return;
        }
    }
}

async fn one(shared: &Shared, job: &Job, source: &Source) -> Ended {
    let Shared { batch, judge, stop, .. } = shared;
    let rules = Rules {
        judge,
        reward: batch.reward,
        store: &*batch.store,
        resume: batch.resume,
        keeps: batch.keeps,
        export: batch.export.as_ref(),
        stop,
    };
    match Box::pin(play(job, &rules, source.fleet())).await {
        Ok(Played::Over(outcome)) => Ended::Over(outcome),
        Ok(Played::Saved) => Ended::Saved,
        Err(failure) => Ended::Failed(failure.to_string()),
    }
}
