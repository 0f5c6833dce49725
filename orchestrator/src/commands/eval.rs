//! `mayday eval`: an agent elsewhere plays scenarios × seeds × repeats, and is reported on.

use crate::console;
use crate::eval::command::Limits;
use crate::eval::evaluation::Evaluation;
use crate::eval::journal::{Found, Journal};
use crate::eval::local::Local;
use crate::eval::plan::{Plan, Subject};
use crate::eval::proctor::{Proctor, Remote};
use crate::eval::report::Report;
use crate::eval::runner::{self, Arena, Conduct, Results};
use crate::eval::secret::Secret;
use crate::failure::Failure;
use crate::given::Given;
use crate::hosting::{Hosted, HostingArgs, RecordsArgs};
use crate::seeds::Seeds;
use crate::shelf;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder of the logs of agents' commands.
const LOGS: &str = "logs";

const EXAMPLES: &str = "\
A command plays one episode at MAYDAY_URL, by a reset with the task MAYDAY_TASK:
  mayday eval overload --agent-cmd 'python3 my_agent.py' --seeds 5 --repeats 3
Agents come by themselves to the agents' port of a server; here its control port:
  mayday eval --url 127.0.0.1:7100

The same command goes on where it was interrupted. --agent-cmd is no sandbox: the agent runs as you
do, and can read what you can. The rules are in docs/evaluation.md.";

/// Options of `mayday eval`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("agents").required(true))]
pub struct Options {
    /// Scenarios: names, stems or families; none: all that there are.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// A shell command that plays one episode; run once for each.
    #[arg(long, value_name = "CMD", group = "agents")]
    agent_cmd: Option<String>,
    /// The control port of a server that was started with --evaluate, where agents come by
    /// themselves; MAYDAY_TOKEN is shown to it.
    #[arg(long, value_name = "ADDR", group = "agents")]
    url: Option<String>,
    /// What the agent is called in the report; default: its command, or the address.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Seeds: a count (5), a range (0..5) or a list (1,2,3). The worlds' seeds are made of them and
    /// of MAYDAY_EVAL_SECRET, or of a secret that is drawn and kept in the journal.
    #[arg(long, value_name = "SEEDS", default_value = "5")]
    seeds: Seeds,
    /// Plays of each world, for pass^k.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Episodes at the same time.
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// An episode takes at most so many seconds of the wall clock, then it is handed off.
    #[arg(long, value_name = "S", default_value_t = 600,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    deadline: u64,
    /// With --url: while nobody plays, an agent has to come within so many seconds; default: 600.
    #[arg(long, value_name = "S", conflicts_with = "agent_cmd",
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    patience: Option<u64>,
    /// How often an episode is played again that the simulator spoiled.
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(0..=100))]
    reruns: u32,
    /// An episode passes from this score on.
    #[arg(long, value_name = "SCORE", default_value_t = 0.9, value_parser = score)]
    pass: f64,
    /// Folder for the journal, the report and logs; made if need be.
    #[arg(long, value_name = "DIR", default_value = "mayday-eval")]
    out: PathBuf,
    /// Print the report as JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "With --agent-cmd")]
    command: Given<CommandArgs>,
}

/// Options on agents' commands and on the server that is here for them.
#[derive(Clone, Debug, clap::Args)]
struct CommandArgs {
    /// After the end of its episode a command has so many seconds to leave.
    #[arg(long, value_name = "S", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(0..=3600))]
    linger: u64,
    #[command(flatten)]
    keep: RecordsArgs,
    #[command(flatten)]
    hosting: HostingArgs,
}

fn score(text: &str) -> Result<f64, String> {
    let score = text.parse().ok().filter(|score| (0.0..=1.0).contains(score) && *score > 0.0);
    score.ok_or_else(|| "expected a score above 0, up to 1".into())
}

/// Runs it.
///
/// # Errors
/// Bad usage before anything is played; else where the simulator failed or the user stopped.
pub fn run(options: Options) -> Result<(), Failure> {
    options.check()?;
    crate::runtime::many()?.block_on(async {
        let found = Found::open(&options.out)?;
        match &options.url {
            Some(url) => Box::pin(elsewhere(&options, found, url)).await,
            None => Box::pin(here(&options, found)).await,
        }
    })
}

/// Agents come to a server elsewhere.
async fn elsewhere(options: &Options, found: Found, url: &str) -> Result<(), Failure> {
    let proctor = Proctor::There(Box::new(Remote::new(url)?));
    let plan = options.plan(&proctor).await?;
    let mut journal = found.take_up(&plan, None)?;
    let arena = Arena::Elsewhere { patience: options.patience() };
    Box::pin(play(options, proctor, &plan, &mut journal, arena)).await
}

/// A command is run for each episode.
async fn here(options: &Options, found: Found) -> Result<(), Failure> {
    let given = Secret::of_environment()?;
    let drawn = match (&given, found.secret()?) {
        (Some(_), _) => None,
        (None, Some(kept)) => Some(kept),
        (None, None) => Some(Secret::draw()?),
    };
    let secret = given.or_else(|| drawn.clone()).ok_or_else(|| Failure::failed("no secret"))?;
    // An attempt that does not count has an episode of its own.
    let episodes_max = usize::from(options.concurrency) * 64 + 256;
    let CommandArgs { keep, hosting, .. } = &options.command.options;
    let opened = hosting.for_evaluation()?;
    let hosted: Hosted = Box::pin(opened.open(&keep.records, episodes_max, &[])).await?;
    let evaluation = Evaluation::new(hosted.sessions.clone(), secret.clone());
    let played = async {
        let proctor = Proctor::Here(evaluation.clone());
        let plan = options.plan(&proctor).await?;
        let mut journal = found.take_up(&plan, drawn.as_ref())?;
        let logs = options.out.join(LOGS);
        std::fs::create_dir_all(&logs)
            .map_err(|error| Failure::failed(format!("{}: {error}", logs.display())))?;
        let local = Local::start(evaluation.clone()).await?;
        let (command, url) = (options.agent_cmd.clone().unwrap_or_default(), local.url.clone());
        let arena = Arena::Command { command, url, logs, secret };
        let played = Box::pin(play(options, proctor, &plan, &mut journal, arena)).await;
        local.stop().await;
        played
    };
    let played = Box::pin(played).await;
    hosted.stop().await;
    played
}

impl Options {
    fn check(&self) -> Result<(), Failure> {
        if self.agent_cmd.as_ref().is_some_and(|command| command.trim().is_empty()) {
            return Err(Failure::usage("--agent-cmd is empty: expected a shell command"));
        }
        if self.url.is_some() && !self.command.names.is_empty() {
            return Err(Failure::usage(format!(
                "{} cannot be used with --url: the server there was told when it was started",
                self.command.names.join(", ")
            )));
        }
        if let Some(file) = self.scenarios.iter().find(|word| word.ends_with(".yaml")) {
            return Err(Failure::usage(format!(
                "{file}: an evaluation plays scenarios of a library: put it under scenarios/ of \
                 a folder, and name that with --library"
            )));
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.unwrap_or(600))
    }

    /// What is played, by what the server has.
    async fn plan(&self, proctor: &Proctor) -> Result<Plan, Failure> {
        let there = proctor.describe().await?;
        let names: Vec<_> = there.subjects.iter().map(|subject| subject.name.clone()).collect();
        let chosen = shelf::select(&names, &self.scenarios)?;
        let chosen = |subject: &Subject| chosen.contains(&subject.name);
        Ok(Plan {
            agent: self.agent(),
            command: self.agent_cmd.clone(),
            deadline_s: self.deadline,
            scenarios: there.subjects.into_iter().filter(chosen).collect(),
            seeds: self.seeds.0.clone(),
            repeats: self.repeats,
            secret: there.secret,
            version: env!("CARGO_PKG_VERSION").into(),
            world_revision: there.world_revision,
        })
    }

    fn agent(&self) -> String {
        let fallback = self.agent_cmd.as_ref().or(self.url.as_ref());
        self.name.as_ref().or(fallback).cloned().unwrap_or_default()
    }
}

/// Plays what is left, then reports on all of it.
async fn play(
    options: &Options,
    proctor: Proctor,
    plan: &Plan,
    journal: &mut Journal,
    arena: Arena,
) -> Result<(), Failure> {
    let (known, wanted) = (journal.rows().len(), plan.jobs().len());
    if known > 0 {
        let folder = options.out.display();
        console::note(format_args!(
            "{known} of {wanted} episodes are in {folder} already; another --out plays them anew"
        ));
    }
    let conduct = Conduct {
        concurrency: options.concurrency.into(),
        limits: Limits {
            deadline: Duration::from_secs(options.deadline),
            linger: Duration::from_secs(options.command.options.linger),
        },
        reruns: options.reruns,
    };
    let played = Box::pin(runner::run(proctor, plan, journal, arena, conduct)).await;
    let (results, left) = match played {
        Ok(results) => (results, None),
        Err(failure) => (Results::default(), Some(failure)),
    };
    let report = Report::new(plan, journal.rows(), &results.failed, options.pass);
    report.write(&options.out)?;
    match left {
        Some(failure) => Err(failure),
        None => end(&report, &results, options),
    }
}

fn end(report: &Report<'_>, results: &Results, options: &Options) -> Result<(), Failure> {
    match options.json {
        true => console::json(&report.json()),
        false => console::out(report.table()),
    }
    let folder = &options.out;
    if report.absent() > 0 && report.absent() == report.played() {
        let logs = options.agent_cmd.is_some().then(|| folder.join(LOGS));
        console::note(format_args!(
            "no agent has begun any episode: does it reset with the task in MAYDAY_TASK?{}",
            logs.map(|logs| format!(" What it said is in {}", logs.display())).unwrap_or_default()
        ));
    }
    for (job, why) in results.failed.iter().take(5) {
        let (scenario, seed, play) = (&job.scenario, job.seed, job.repeat + 1);
        console::note(format_args!("{scenario}, seed {seed}, play {play}: {why}"));
    }
    if results.stopped && !report.is_complete() {
        let (played, wanted) = (report.played(), report.wanted());
        console::note(format_args!("{played} of {wanted} episodes are played: {GO_ON}"));
        return Err(Failure::Interrupted);
    }
    console::note(format_args!("report: {}", shown(folder)));
    match results.failed.len() {
        0 => Ok(()),
        failed => Err(Failure::failed(format!(
            "the simulator failed in {failed} of {} episodes, which are not scored: {GO_ON}",
            report.wanted()
        ))),
    }
}

const GO_ON: &str = "the same command goes on";

fn shown(folder: &Path) -> String {
    folder.join("report.html").display().to_string()
}
