//! `mayday rollout`: episodes for training, many over one connection, and trajectories of them.

use crate::agent::AgentSpec;
use crate::agents_port::Gym;
use crate::commands::run::chosen;
use crate::console;
use crate::failure::Failure;
use crate::hosting::{Hosted, HostingArgs};
use crate::rollout::pipes;
use crate::rollout::policy::{self, Job};
use crate::rollout::worker::{self, Connection};
use crate::seeds::Seeds;
use archive::Place;
use openenv::options::SEED_MAX;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const SEEDS: u64 = 5;

const EXAMPLES: &str = "\
Built-in agents play, one line of JSON per episode:
  mayday rollout --agents random,reference --seeds 0..100 --out trajectories.jsonl

A trainer plays, many episodes over one pair of pipes (docs/training.md has the protocol):
  mayday rollout <<'END'
  {\"id\": 1, \"episode\": \"a\", \"type\": \"reset\", \"data\": {\"seed\": 7}}
  {\"id\": 2, \"episode\": \"a\", \"type\": \"step\", \"data\": {\"action\": \"resolve\"}}
  END";

/// Options of `mayday rollout`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// With --agents: names, stems or families of scenarios; none: the whole suite.
    #[arg(value_name = "SCENARIO", requires = "agents")]
    scenarios: Vec<String>,
    /// Built-in agents that play, separated by commas, or all. Without it a trainer plays: it
    /// writes requests to stdin and reads answers from stdout, a line each.
    #[arg(long, value_name = "NAMES")]
    agents: Option<String>,
    /// With --agents: a count (5, which is the default), a range (0..5) or a list (1,2,3).
    #[arg(long, value_name = "SEEDS", requires = "agents")]
    seeds: Option<Seeds>,
    /// Where trajectories are written: a new file. Default: stdout with --agents, else nowhere.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Most episodes at once that a trainer may play; one takes up to half a MiB.
    #[arg(long, value_name = "N", env = "MAYDAY_MAX_EPISODES", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "agents")]
    max_episodes: u32,
    #[command(flatten)]
    hosting: HostingArgs,
}

/// Runs it.
///
/// # Errors
/// Bad usage before anything is played; else where something failed or the user stopped.
pub fn run(options: Options) -> Result<(), Failure> {
    let wanted = options.wanted()?;
    let out = options.out.as_ref().map(create).transpose()?;
    crate::runtime::many()?.block_on(async {
        // A reset makes the new episode before it forgets the old one.
        let episodes_max = (options.max_episodes as usize).saturating_mul(2).saturating_add(256);
        let hosted = Box::pin(options.hosting.open(&Place::Off, episodes_max, &[])).await?;
        let played = match wanted {
            Some(wanted) => match wanted.jobs(&hosted) {
                Ok(jobs) => Box::pin(play(&hosted, jobs, out)).await,
                Err(failure) => Err(failure),
            },
            None => Box::pin(work(&hosted, options.max_episodes as usize, out)).await,
        };
        hosted.stop().await;
        played
    })
}

/// What built-in agents are to play.
#[derive(Debug)]
struct Wanted {
    names: Vec<String>,
    seeds: Vec<u64>,
    agents: Vec<&'static AgentSpec>,
}

impl Options {
    /// What the built-in agents are to play, if they are.
    fn wanted(&self) -> Result<Option<Wanted>, Failure> {
        let Some(agents) = &self.agents else { return Ok(None) };
        let agents = chosen(agents)?;
        let seeds = self.seeds.clone().unwrap_or_else(|| Seeds::first(SEEDS)).0;
        if let Some(seed) = seeds.iter().find(|seed| **seed > SEED_MAX) {
            return Err(Failure::usage(format!("--seeds: {seed} is above {SEED_MAX}")));
        }
        let names = self.hosting.shelf()?.select(&self.scenarios)?;
        Ok(Some(Wanted { names, seeds, agents }))
    }
}

impl Wanted {
    /// Every scenario with every seed, by every agent.
    fn jobs(&self, hosted: &Hosted) -> Result<Vec<Job>, Failure> {
        let mut jobs = Vec::new();
        for name in &self.names {
            let found = hosted.sessions.tasks().iter().find(|(_, s)| s.name == *name);
            let (task, scenario) = found.ok_or_else(|| {
                Failure::usage(format!("{name} is no scenario of the library: see --library"))
            })?;
            for seed in &self.seeds {
                for agent in &self.agents {
                    let (task, scenario) = (task.clone(), scenario.clone());
                    jobs.push(Job { task, scenario, seed: *seed, agent });
                }
            }
        }
        Ok(jobs)
    }
}

fn create(path: &PathBuf) -> Result<File, Failure> {
    File::create_new(path).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => ": choose another, or remove it",
            _ => "",
        };
        Failure::usage(format!("--out {}: {error}{hint}", path.display()))
    })
}

/// Signals to stop, as they come.
fn stops() -> UnboundedReceiver<()> {
    let (tell, told) = unbounded_channel();
    tokio::spawn(async move {
        loop {
            chassis::stop_signal().await;
            if tell.send(()).is_err() {
                return;
            }
        }
    });
    told
}

async fn play(hosted: &Hosted, jobs: Vec<Job>, out: Option<File>) -> Result<(), Failure> {
    let (count, stops) = (jobs.len(), stops());
    let mut to: Box<dyn Write + Send> = match out {
        Some(file) => Box::new(file),
        None => Box::new(io::stdout()),
    };
    let tally = policy::play(&hosted.sessions, jobs, &mut to, stops).await?;
    console::note(format_args!("{} episodes, {} steps", tally.episodes, tally.steps));
    match (tally.failed, tally.stopped) {
        (_, true) => Err(Failure::Interrupted),
        (0, _) => Ok(()),
        (failed, _) => Err(Failure::failed(format!("{failed} of {count} episodes failed"))),
    }
}

async fn work(hosted: &Hosted, episodes_max: usize, out: Option<File>) -> Result<(), Failure> {
    let stops = stops();
    let lines = pipes::read(io::BufReader::new(io::stdin()))?;
    let (answers, written) = pipes::write(io::stdout())?;
    let connection = Connection { lines, answers, written };
    let gym = Arc::new(Gym::new(hosted.sessions.clone()));
    let tally = worker::serve(gym, connection, episodes_max, out, stops).await?;
    console::note(format_args!("{} episodes, {} steps", tally.episodes, tally.steps));
    if tally.stopped { Err(Failure::Interrupted) } else { Ok(()) }
}
