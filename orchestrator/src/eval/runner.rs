//! Plays what is left of a plan: several episodes at once, each kept in the journal as soon as it
//! is graded. What the simulator spoils is played again.

use super::command::{self, Exit, Limits};
use super::evaluation::AssignmentKey;
use super::journal::{Journal, Row};
use super::office::Standing;
use super::outcome::{Ended, Ending, Outcome};
use super::plan::{Job, Plan};
use super::proctor::Proctor;
use super::secret::Secret;
use crate::console;
use crate::failure::Failure;
use crate::pool;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Where agents come from.
#[derive(Clone, Debug)]
pub enum Arena {
    /// A command is run for each episode.
    Command {
        /// The command.
        command: String,
        /// Where its agent connects.
        url: String,
        /// Where what it says is kept.
        logs: PathBuf,
        /// What the names of logs are made with.
        secret: Secret,
    },
    /// They connect to a server elsewhere by themselves.
    Elsewhere {
        /// While nobody plays, somebody has to come within this time.
        patience: Duration,
    },
}

/// How it is played.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// Episodes at once, ≥ 1.
    pub concurrency: usize,
    /// How long an agent may take.
    pub limits: Limits,
    /// How often an episode is played again that the simulator spoiled.
    pub reruns: u32,
}

/// What is left of a plan after it was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Episodes that the simulator spoiled every time, with why.
    pub failed: Vec<(Job, String)>,
    /// The user stopped it.
    pub stopped: bool,
}

/// What the workers share.
#[derive(Debug)]
struct Shared {
    proctor: Proctor,
    evaluation: String,
    plan: Plan,
    arena: Arena,
    conduct: Conduct,
    jobs: Vec<Job>,
    next: AtomicUsize,
    stop: watch::Sender<bool>,
    /// Episodes that are being played, and when the last one began or ended.
    life: Mutex<(usize, Instant)>,
}

/// What became of one job.
#[derive(Debug)]
enum Told {
    /// It is graded; the assignment is not needed any more.
    Row(Box<Row>, String),
    /// The simulator spoiled it every time.
    Failed(Job, String),
    /// It makes no sense to go on.
    Fatal(Failure),
}

/// Plays the jobs that the journal does not have. Ctrl-C and SIGTERM let running episodes end; a
/// second one leaves them.
///
/// # Errors
/// Where it makes no sense to go on, and [`Failure::Interrupted`] at the second signal. What is in
/// the journal stays there.
pub async fn run(
    proctor: Proctor,
    plan: &Plan,
    journal: &mut Journal,
    arena: Arena,
    conduct: Conduct,
) -> Result<Results, Failure> {
    let all = plan.jobs();
    let bar = pool::progress(all.len(), "episodes");
    let jobs: Vec<_> = all.into_iter().filter(|job| !journal.rows().contains_key(job)).collect();
    bar.set_position(journal.rows().len() as u64);
    bar.reset_eta();
    let workers = conduct.concurrency.min(jobs.len());
    let shared = Arc::new(Shared {
        proctor,
        evaluation: journal.evaluation().to_string(),
        plan: plan.clone(),
        arena,
        conduct,
        jobs,
        next: AtomicUsize::new(0),
        stop: watch::Sender::new(false),
        life: Mutex::new((0, Instant::now())),
    });
    let (tell, mut told) = mpsc::unbounded_channel();
    // Dropped with all that runs in it, where this is left early.
    let mut running = JoinSet::new();
    for _ in 0..workers {
        running.spawn(work(shared.clone(), tell.clone()));
    }
    drop(tell);
    let mut results = Results::default();
    let mut signal = Box::pin(chassis::stop_signal());
    loop {
        tokio::select! {
            one = told.recv() => match one {
                None => break,
                Some(Told::Fatal(failure)) => return Err(failure),
                Some(Told::Failed(job, why)) => results.failed.push((job, why)),
                Some(Told::Row(row, task)) => {
                    journal.keep(*row)?;
                    shared.proctor.discard(&task).await;
                    bar.inc(1);
                }
            },
            () = &mut signal => {
                if results.stopped {
                    return Err(Failure::Interrupted);
                }
                results.stopped = true;
                shared.stop.send_replace(true);
                bar.suspend(|| console::note("stopping: running episodes are brought to an end"));
                signal = Box::pin(chassis::stop_signal());
            }
        }
    }
    bar.finish_and_clear();
    let order = plan.jobs();
    results.failed.sort_by_key(|(job, _)| order.iter().position(|other| other == job));
    match running.join_all().await.len() {
        ended if ended == workers => Ok(results),
        _ => Err(Failure::failed("a defect of this program ended an episode")),
    }
}

/// Takes job after job.
async fn work(shared: Arc<Shared>, tell: mpsc::UnboundedSender<Told>) {
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = shared.jobs.get(at).filter(|_| !*shared.stop.borrow()) else { return };
        let told = match Box::pin(shared.play(job)).await {
            Ok(Some(told)) => told,
            Ok(None) => return,
            Err(failure) => Told::Fatal(failure),
        };
        if tell.send(told).is_err() {
            return;
        }
    }
}

impl Shared {
    /// Plays a job, again and again where the simulator spoils it. `None`: it was left unplayed.
    async fn play(&self, job: &Job) -> Result<Option<Told>, Failure> {
        let mut last = String::new();
        for run in 0..=self.conduct.reruns {
            let Job { scenario, seed, repeat } = job.clone();
            let (evaluation, secret) = (self.evaluation.clone(), self.plan.secret.clone());
            let key = AssignmentKey { evaluation, scenario, seed, repeat, run, secret };
            let task = self.proctor.assign(&key).await?;
            let exit = match &self.arena {
                Arena::Command { .. } => Some(self.command(job, &task).await?),
                Arena::Elsewhere { patience } => match self.awaited(&task, *patience).await? {
                    true => None,
                    false => return Ok(None),
                },
            };
            let ended = self.proctor.finish(&task).await?;
            let Some(Ended { outcome, later_resets }) = ended else {
                last = "the server has forgotten the assignment: was it started again?".into();
                continue;
            };
            match outcome {
                Outcome::Failed(why) => {
                    let Job { scenario, seed, repeat } = job;
                    tracing::warn!(scenario, seed, repeat, run, why, "the simulator failed");
                    self.proctor.discard(&task).await;
                    last = why;
                }
                Outcome::Scored(assessment) => {
                    if assessment.end == Ending::Absent && exit.is_some_and(Exit::is_no_command) {
                        return Err(self.no_command(job));
                    }
                    let (log, command) = (self.log(job), exit.map(Exit::words));
                    let (job, assessment) = (job.clone(), *assessment);
                    let row = Row { job, assessment, later_resets, reruns: run, command, log };
                    return Ok(Some(Told::Row(Box::new(row), task)));
                }
            }
        }
        Ok(Some(Told::Failed(job.clone(), last)))
    }

    /// Name of the log of an episode; it tells its agent nothing.
    fn log(&self, job: &Job) -> Option<String> {
        let Arena::Command { secret, .. } = &self.arena else { return None };
        let (seed, repeat) = (job.seed.to_string(), job.repeat.to_string());
        let name = secret.name(&["log", &job.scenario, &seed, &repeat]);
        Some(format!("{}.log", name.get(..12).unwrap_or_default()))
    }

    fn no_command(&self, job: &Job) -> Failure {
        let (Arena::Command { logs, command, .. }, Some(log)) = (&self.arena, self.log(job)) else {
            return Failure::failed("no command");
        };
        let said = std::fs::read_to_string(logs.join(log)).unwrap_or_default();
        let said = said.lines().next().unwrap_or_default().trim().to_string();
        Failure::usage(format!("--agent-cmd {command:?} cannot be run: {said}"))
    }

    /// Runs the agent's command for one assignment.
    async fn command(&self, job: &Job, task: &str) -> Result<Exit, Failure> {
        let Arena::Command { command, url, logs, .. } = &self.arena else {
            return Err(Failure::failed("no command"));
        };
        let log = self.log(job).unwrap_or_default();
        let steps = self.plan.subject(&job.scenario).map_or(0, |subject| subject.steps);
        let limits = self.conduct.limits;
        let variables = [
            ("MAYDAY_URL", url.clone()),
            ("MAYDAY_TASK", task.to_string()),
            ("MAYDAY_EPISODE", log.trim_end_matches(".log").to_string()),
            ("MAYDAY_STEP_LIMIT", steps.to_string()),
            ("MAYDAY_DEADLINE", limits.deadline.as_secs().to_string()),
        ];
        let over = async {
            let mut known = Standing::Open;
            while let Ok(Some(standing)) = self.proctor.watch(task, known).await {
                if standing == Standing::Over {
                    return;
                }
                known = standing;
            }
        };
        command::run(command, &variables, &logs.join(log), limits, over).await
    }

    /// Until an agent elsewhere has played an assignment, or its time is up. `false`: nobody plays
    /// it, and the user wants to stop.
    async fn awaited(&self, task: &str, patience: Duration) -> Result<bool, Failure> {
        loop {
            let mut stop = self.stop.subscribe();
            let began = tokio::select! {
                standing = self.proctor.watch(task, Standing::Open) => standing?,
                () = async { drop(stop.wait_for(|stop| *stop).await) } => {
                    self.proctor.discard(task).await;
                    return Ok(false);
                }
                () = self.nobody_comes(patience) => {
                    return Err(Failure::failed(format!(
                        "no agent has begun a task for {} s: agents connect to the agents' port \
                         of the server and reset; what was played is kept, the same command goes \
                         on",
                        patience.as_secs()
                    )));
                }
            };
            if began != Some(Standing::Playing) {
                return Ok(true);
            }
            self.stir(1);
            let played = timeout(self.conduct.limits.deadline, self.until_not_playing(task)).await;
            self.stir(-1);
            match played {
                Ok(standing) if standing.as_ref().ok() == Some(&Some(Standing::Open)) => {}
                Ok(standing) => return standing.map(|_| true),
                Err(_) => return Ok(true),
            }
        }
    }

    async fn until_not_playing(&self, task: &str) -> Result<Option<Standing>, Failure> {
        self.proctor.watch(task, Standing::Playing).await
    }

    /// An episode begins or ends.
    fn stir(&self, by: isize) {
        let mut life = self.life.lock();
        *life = (life.0.saturating_add_signed(by), Instant::now());
    }

    /// Ready when nothing was played for so long.
    async fn nobody_comes(&self, patience: Duration) {
        loop {
            let (playing, last) = *self.life.lock();
            let until = if playing > 0 { Instant::now() + patience } else { last + patience };
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }
}
