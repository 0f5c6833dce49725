//! `mayday ctl`: speaks to the control port of a running server.

mod ask;
mod say;

use crate::console;
use crate::failure::Failure;
use crate::report::table;
use ask::Control;
use proto::orchestrator::v1 as pb;
use std::path::PathBuf;

const EXAMPLES: &str = "\
What is there, and what could break:
  mayday ctl list
  mayday ctl faults slow_dependency

Break something under an agent's hands, look, and mend it:
  mayday ctl inject 0f3a… slow_dependency --on orders-db factor=8
  mayday ctl inspect 0f3a… orders-db
  mayday ctl clear 0f3a…

What if? Fork, act, compare:
  mayday ctl fork 0f3a… --tick 120 --action '{\"action\": \"restart\", \"component\": \"web\"}'
  mayday ctl grade 0f3a… 7c21…

The token of the server is read from MAYDAY_TOKEN.";

/// Options of `mayday ctl`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Where the control port listens.
    #[arg(
        long,
        value_name = "ADDR",
        env = "MAYDAY_CONTROL",
        default_value = "127.0.0.1:7100",
        global = true
    )]
    control: String,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, clap::Args)]
struct Of {
    /// The episode.
    #[arg(value_name = "EPISODE")]
    episode: String,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Lists episodes, newest first.
    List {
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        newest: u32,
    },
    /// Shows one episode: where it stands, what the agent sees, what was injected.
    Show(Of),
    /// Lists what can be broken; with a name, how.
    Faults {
        /// A fault or a lever.
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Levers of the kinds, too.
        #[arg(long)]
        levers: bool,
    },
    /// Shows the truth about components.
    Inspect {
        #[command(flatten)]
        of: Of,
        /// Components; none: all.
        #[arg(value_name = "COMPONENT")]
        components: Vec<String>,
    },
    /// Breaks something now: a fault of the catalogue or, with --lever, a lever.
    Inject {
        #[command(flatten)]
        of: Of,
        /// The fault, or the lever.
        #[arg(value_name = "FAULT")]
        name: String,
        /// The component, or the edge as "caller -> callee"; users call as `users`.
        #[arg(long, value_name = "WHERE")]
        on: String,
        /// FAULT is the name of a lever.
        #[arg(long)]
        lever: bool,
        /// Parameters, units as in scenarios: factor=8, delay=2s, ratio=30%.
        #[arg(value_name = "NAME=VALUE", value_parser = ask::parameter)]
        parameters: Vec<(String, prost_types::Value)>,
    },
    /// Ends what was injected.
    Clear {
        #[command(flatten)]
        of: Of,
        /// Numbers, as `show` tells them; none: all.
        #[arg(value_name = "ID")]
        ids: Vec<u64>,
    },
    /// Lets simulated time pass without an action of the agent.
    Advance {
        #[command(flatten)]
        of: Of,
        /// Seconds.
        #[arg(value_name = "SECONDS")]
        ticks: u32,
    },
    /// Begins another episode out of the past of this one.
    Fork {
        #[command(flatten)]
        of: Of,
        /// After this step; 0: at the page. Default: now.
        #[arg(long, value_name = "N", conflicts_with = "tick")]
        step: Option<u32>,
        /// At this tick: seconds since the page.
        #[arg(long, value_name = "T", allow_negative_numbers = true)]
        tick: Option<i64>,
        /// Then take this action, as JSON; may be repeated.
        #[arg(long = "action", value_name = "JSON", value_parser = ask::action)]
        actions: Vec<prost_types::Struct>,
    },
    /// Begins an episode again: its scenario, its seed, at the page. The old one stays.
    Reset(Of),
    /// Compares what episodes come to: as they ended, or as if they were left now.
    Grade {
        /// Episodes.
        #[arg(value_name = "EPISODE", required = true)]
        episodes: Vec<String>,
    },
    /// Ends an episode where it stands, and grades it.
    Abandon(Of),
    /// Takes an episode out of memory; its record stays.
    Forget(Of),
    /// Lists the records that are kept.
    Records {
        /// Only records of this scenario.
        #[arg(long, value_name = "NAME")]
        scenario: Option<String>,
        /// Only episodes that are not over.
        #[arg(long)]
        open: bool,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        newest: u32,
    },
    /// Prints the record of an episode: JSON lines, for `mayday replay`.
    Record {
        #[command(flatten)]
        of: Of,
        /// Write it to this file.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// From now on no new episodes begin.
    Drain {
        /// End the process, as SIGTERM does.
        #[arg(long, conflicts_with = "resume")]
        stop: bool,
        /// Let episodes begin again.
        #[arg(long)]
        resume: bool,
    },
}

/// Runs it.
///
/// # Errors
/// Where nobody answers, or what is said does not fit.
pub fn run(options: Options) -> Result<(), Failure> {
    crate::runtime::current()?.block_on(async {
        let mut control = Control::new(&options.control, options.json)?;
        Box::pin(act(&mut control, options.task)).await
    })
}

async fn act(control: &mut Control, task: Task) -> Result<(), Failure> {
    match task {
        Task::List { .. } | Task::Show(_) | Task::Records { .. } | Task::Record { .. } => {
            Box::pin(look(control, task)).await
        }
        Task::Faults { name, levers } => {
            let catalogue = control.catalogue().await?;
            match name {
                None => control.say("CatalogueResponse", &catalogue, |c| say::faults(c, levers)),
                Some(name) => say::fault(control, &catalogue, &name),
            }
        }
        Task::Inspect { of, components } => {
            let request = pb::InspectRequest { episode: of.episode, components };
            let reply = control.inspect(request).await?;
            control.say("InspectResponse", &reply, say::inspected)
        }
        Task::Inject { of, name, on, lever, parameters } => {
            let what = match lever {
                true => pb::inject_request::What::Lever(name),
                false => pb::inject_request::What::Fault(name),
            };
            let parameters = Some(prost_types::Struct { fields: parameters.into_iter().collect() });
            let (episode, what) = (of.episode, Some(what));
            let request = pb::InjectRequest { episode, what, on, parameters };
            let reply = control.inject(request).await?;
            control.say("InjectResponse", &reply, |r| say::pulls("pulled", r.tick, &r.pulled))
        }
        Task::Clear { of, ids } => {
            let reply = control.clear(pb::ClearRequest { episode: of.episode, ids }).await?;
            control.say("ClearResponse", &reply, |r| say::pulls("cleared", r.tick, &r.cleared))
        }
        Task::Advance { of, ticks } => {
            let reply = control.advance(pb::AdvanceRequest { episode: of.episode, ticks }).await?;
            control.say("AdvanceResponse", &reply, |r| {
                console::out(format_args!(
                    "it is {} s after the page; {:.1} user-minutes are lost",
                    r.tick, r.impact
                ));
            })
        }
        Task::Fork { of, step, tick, actions } => {
            use pb::fork_request::At;
            let at = step.map(At::Step).or(tick.map(At::Tick));
            fork(control, pb::ForkRequest { episode: of.episode, at, actions }).await
        }
        Task::Reset(of) => {
            let at = Some(pb::fork_request::At::Step(0));
            let actions = Vec::new();
            fork(control, pb::ForkRequest { episode: of.episode, at, actions }).await
        }
        task => Box::pin(end(control, task)).await,
    }
}

async fn fork(control: &mut Control, request: pb::ForkRequest) -> Result<(), Failure> {
    let reply = control.fork(request).await?;
    control.say("ForkResponse", &reply, |r| {
        let over = if r.end.is_empty() { String::new() } else { format!(", over ({})", r.end) };
        console::out(format_args!("{} at {} s, {} steps{over}", r.episode, r.tick, r.steps));
    })
}

async fn look(control: &mut Control, task: Task) -> Result<(), Failure> {
    match task {
        Task::List { newest } => {
            let reply = control.list(pb::ListRequest { newest }).await?;
            control.say("ListResponse", &reply, |r| say::summaries(&r.episodes, true))
        }
        Task::Show(of) => {
            let reply = control.show(pb::ShowRequest { episode: of.episode }).await?;
            control.say("ShowResponse", &reply, say::shown)
        }
        Task::Records { scenario, open, newest } => {
            let scenario = scenario.unwrap_or_default();
            let request = pb::ListRecordsRequest { newest, scenario, open };
            let reply = control.list_records(request).await?;
            control.say("ListRecordsResponse", &reply, |r| say::summaries(&r.records, false))
        }
        Task::Record { of, out } => {
            let request = pb::GetRecordRequest { episode: of.episode };
            let text = control.get_record(request).await?.jsonl;
            let Some(file) = out else {
                console::out_raw(text);
                return Ok(());
            };
            let shown = file.display();
            if file.exists() {
                return Err(Failure::usage(format!("{shown} is there already: choose another")));
            }
            let written = std::fs::write(&file, text);
            written.map_err(|error| Failure::failed(format!("{shown}: {error}")))?;
            console::out(shown);
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn end(control: &mut Control, task: Task) -> Result<(), Failure> {
    match task {
        Task::Grade { episodes } => {
            let reply = control.grade(pb::GradeRequest { episodes }).await?;
            control.say("GradeResponse", &reply, |r| say::verdicts(&r.verdicts))
        }
        Task::Abandon(of) => {
            let reply = control.abandon(pb::AbandonRequest { episode: of.episode }).await?;
            control.say("AbandonResponse", &reply, |r| say::verdicts(r.verdict.as_slice()))
        }
        Task::Forget(of) => {
            let reply = control.forget(pb::DropRequest { episode: of.episode.clone() }).await?;
            if !reply.known {
                return Err(Failure::failed(format!(
                    "episode {} is not in memory: `mayday ctl list` shows those that are live",
                    of.episode
                )));
            }
            control.say("DropResponse", &reply, |_| console::out("forgotten"))
        }
        Task::Drain { stop, resume } => {
            let reply = control.drain(pb::DrainRequest { stop, resume }).await?;
            control.say("DrainResponse", &reply, |r| {
                let now = match (r.draining, stop) {
                    (_, true) => "the server ends",
                    (true, _) => "no new episodes begin",
                    (false, _) => "episodes begin again",
                };
                console::out(format_args!("{now}; {} are live", r.live));
            })
        }
        _ => Ok(()),
    }
}

fn number(value: f64) -> String {
    model::decimals(value, 1)
}

fn rows(head: &[&str], numbers: usize, rows: impl Iterator<Item = Vec<String>>) {
    let mut table = table(head, numbers);
    for row in rows {
        table.add_row(row);
    }
    console::out(table);
}
