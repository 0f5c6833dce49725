//! `mayday run`: scenarios × agents × seeds, in parallel.

use crate::agent::AgentSpec;
use crate::agents;
use crate::batch::{self, Batch, Results};
use crate::body::{Body, BodyArgs, Wanted, token};
use crate::console;
use crate::export::ExportArgs;
use crate::failure::Failure;
use crate::hosting::RecordsArgs;
use crate::pool;
use crate::preflight;
use crate::supervisor::{Plan, Supervisor};
use crate::play::{Job, RewardMode};
use crate::report::Report;
use crate::seeds::Seeds;
use crate::shelf::LibraryArgs;
use archive::Place;
use otlp::Overflow;
use record::{Filter, Store};

const SEEDS: &str = "5";

/// Options of `mayday run`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Scenarios: names, stems, families or .yaml files; none: the whole suite.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Agents, separated by commas, or all.
    #[arg(long, value_name = "NAMES", default_value = "all")]
    agents: String,
    /// Seeds: a count (5), a range (0..5) or a list (1,2,3).
    #[arg(long, value_name = "SEEDS", default_value = SEEDS)]
    seeds: Seeds,
    #[command(flatten)]
    body: BodyArgs,
    #[command(flatten)]
    keep: RecordsArgs,
    /// Go on with what --records has: finished episodes are graded again, others are finished.
    #[arg(long)]
    resume: bool,
    /// Episodes at the same time; default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// When the reward is paid: with every step, or with the last one.
    #[arg(long, value_enum, value_name = "MODE", default_value = "dense")]
    reward: RewardMode,
    /// Print one row per scenario as well.
    #[arg(long)]
    per_scenario: bool,
    /// Print one JSON document with every episode.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    export: ExportArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Runs it.
///
/// # Errors
/// Bad usage before anything is played; else where an episode failed or the user stopped.
pub fn run(options: Options) -> Result<(), Failure> {
    let batch = check(&options)?;
    let (jobs, reward) = (batch.jobs.clone(), batch.reward);
    let wanted = options.body.wanted()?;
    let results = play(batch, wanted)?;
    let report = Report::new(&jobs, &results);
    if options.json {
        console::json(&report.json(reward));
    } else {
        console::out(report.by_agent());
        if options.per_scenario {
            console::out(report.by_scenario());
        }
    }
    end(&report, &results, &options)
}

fn check(options: &Options) -> Result<Batch, Failure> {
    if options.resume && matches!(options.keep.records, Place::Memory | Place::Off) {
        return Err(Failure::usage("--resume goes on with kept records: add --records PATH"));
    }
    let shelf = options.library.open()?;
    let scenarios = shelf.load_all(&options.scenarios)?;
    let agents = chosen(&options.agents)?;
    let mut jobs = Vec::new();
    for scenario in scenarios {
        for seed in &options.seeds.0 {
            for agent in &agents {
                jobs.push(Job::new(scenario.clone(), *seed, agent)?);
            }
        }
    }
    let store = options.keep.records.open().map_err(Failure::usage)?;
    if !options.resume {
        check_fresh(&*store, &jobs, &options.keep.records)?;
    }
    Ok(Batch {
        jobs,
        body: Body::Embedded,
        threads: pool::threads(options.threads.map(usize::from)),
        reward: options.reward,
        store,
        keeps: options.keep.records != Place::Off,
        resume: options.resume,
        export: options.export.begin(Overflow::Wait)?,
    })
}

/// The agents in a list of names.
///
/// # Errors
/// Names the nearest one where a name means none.
pub fn chosen(names: &str) -> Result<Vec<&'static AgentSpec>, Failure> {
    let mut chosen = Vec::new();
    for name in names.split(',').map(str::trim) {
        let found = match name {
            "all" => agents::all().iter().collect(),
            name => vec![agents::find(name).map_err(Failure::usage)?],
        };
        for agent in found {
            if !chosen.contains(&agent) {
                chosen.push(agent);
            }
        }
    }
    Ok(chosen)
}

/// The same episode twice in one store would be two records of one name.
fn check_fresh(store: &dyn Store, jobs: &[Job], place: &Place) -> Result<(), Failure> {
    let episodes = jobs.iter().map(|job| job.episode).collect();
    let known = store.list(&Filter { episodes, ..Filter::default() }).map_err(Failure::usage)?;
    match known.first() {
        None => Ok(()),
        Some(one) => Err(Failure::usage(format!(
            "{place} has records of {} of these episodes already, such as {} with seed {}: go on \
             with them by --resume, or choose another file",
            known.len(),
            one.scenario_name,
            one.seed
        ))),
    }
}

fn play(mut batch: Batch, wanted: Wanted) -> Result<Results, Failure> {
    let runtime = crate::runtime::current()?;
    let hub = batch.export.clone();
    runtime.block_on(async {
        let played = match wanted {
            Wanted::Embedded => Box::pin(batch::run(batch, std::future::pending())).await,
            Wanted::Remote(addresses) => {
                let token = token()?;
                preflight::complete(batch.jobs.iter().map(|job| &*job.scenario), &addresses)?;
                preflight::answering(&addresses, token.as_ref()).await?;
                batch.body = Body::Remote { addresses, token };
                Box::pin(batch::run(batch, std::future::pending())).await
            }
            Wanted::Private => {
                let mut supervisor = Supervisor::start(plan()?).await?;
                let token = Some(supervisor.token().clone());
                batch.body = Body::Remote { addresses: supervisor.addresses(), token };
                let played = Box::pin(batch::run(batch, supervisor.watch())).await;
                supervisor.stop().await;
                played
            }
        };
        if let Some(hub) = hub {
            hub.finish().await;
        }
        played
    })
}

/// Processes for one batch; their logs would only disturb.
fn plan() -> Result<Plan, Failure> {
    let plan = Plan::of_this_program()?;
    let log = plan.log.clone().or(Some("warn".into()));
    Ok(Plan { log, ..plan })
}

fn end(report: &Report<'_>, results: &Results, options: &Options) -> Result<(), Failure> {
    let (failed, open) = (report.failed().count(), report.open());
    for (job, error) in report.failed().take(5) {
        let (scenario, seed, agent) = (&job.scenario.name, job.seed, job.agent.name);
        console::note(format_args!("{scenario}, seed {seed}, {agent}: {error}"));
    }
    if results.stopped {
        let way_on = match &options.keep.records {
            place @ (Place::Path(_) | Place::Server(_)) => {
                format!("; go on with --records {place} --resume")
            }
            Place::Memory | Place::Off => String::new(),
        };
        console::note(format_args!("{open} of {} episodes are not over{way_on}", jobs(results)));
        return Err(Failure::Interrupted);
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::failed(format!("{failed} of {} episodes failed", jobs(results)))),
    }
}

fn jobs(results: &Results) -> usize {
    results.ended.len()
}
