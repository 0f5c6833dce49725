//! `mayday records`: what is kept in a database.

use crate::console;
use crate::failure::Failure;
use crate::ids;
use crate::report::table;
use archive::Place;
use record::{Filter, Prune, Store, Summary};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `mayday records`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, clap::Args)]
struct Database {
    /// The database: a file, or postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "DB", env = "MAYDAY_RECORDS", hide_env_values = true)]
    records: Place,
}

impl Database {
    fn open(&self) -> Result<Arc<dyn Store>, Failure> {
        ids::open(&self.records)
    }
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Lists records, newest first.
    List {
        #[command(flatten)]
        database: Database,
        /// Only records of this scenario.
        #[arg(long, value_name = "NAME")]
        scenario: Option<String>,
        /// Only episodes that are not over.
        #[arg(long)]
        open: bool,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        newest: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Prints one record as it is: JSON lines, the header first.
    Show {
        /// The episode, or its first digits.
        #[arg(value_name = "EPISODE")]
        episode: String,
        #[command(flatten)]
        database: Database,
    },
    /// Writes records to files that can be replayed anywhere.
    Export {
        /// Episodes; none: all.
        #[arg(value_name = "EPISODE")]
        episodes: Vec<String>,
        #[command(flatten)]
        database: Database,
        /// The folder; it is made if it is missing.
        #[arg(long, value_name = "DIR", default_value = ".")]
        to: PathBuf,
    },
    /// Removes records.
    Prune {
        /// These episodes.
        #[arg(value_name = "EPISODE")]
        episodes: Vec<String>,
        #[command(flatten)]
        database: Database,
        /// All but the newest so many.
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
        /// All that are older than so many days.
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Also episodes that are not over.
        #[arg(long)]
        unfinished: bool,
    },
}

/// Runs it.
///
/// # Errors
/// Where the database cannot be used, or has no such episode.
pub fn run(options: Options) -> Result<(), Failure> {
    match options.task {
        Task::List { database, scenario, open, newest, json } => {
            let filter = Filter {
                scenario_name: scenario,
                ended: open.then_some(false),
                newest: Some(newest),
                ..Filter::default()
            };
            list(&database.open()?.list(&filter)?, json);
            Ok(())
        }
        Task::Show { episode, database } => {
            let store = database.open()?;
            let episode = ids::find(&*store, &episode, &database.records)?;
            console::out_raw(store.load(episode).map_err(Failure::usage)?.to_jsonl());
            Ok(())
        }
        Task::Export { episodes, database, to } => {
            let store = database.open()?;
            let episodes = named(&*store, &episodes, &database)?;
            for episode in &episodes {
                store.load(*episode).map_err(Failure::usage)?;
            }
            let filter = Filter { episodes, ..Filter::default() };
            for file in record::export(&*store, &filter, &to)? {
                console::out(file.display());
            }
            Ok(())
        }
        Task::Prune { episodes, database, keep, older_than, unfinished } => {
            let store = database.open()?;
            let named = named(&*store, &episodes, &database)?;
            let prune = Prune {
                episodes: (!named.is_empty()).then_some(named),
                keep_newest: keep,
                older_than_s: older_than.map(|days| days.saturating_mul(86_400)),
                ended_only: !unfinished,
            };
            if prune.is_idle() {
                return Err(Failure::usage(
                    "nothing is said to be removed: name episodes, or add --keep N or \
                     --older-than DAYS",
                ));
            }
            console::out(format_args!("{} records removed", store.prune(&prune)?));
            Ok(())
        }
    }
}

fn named(
    store: &dyn Store,
    texts: &[String],
    database: &Database,
) -> Result<Vec<model::EpisodeId>, Failure> {
    texts.iter().map(|text| ids::find(store, text, &database.records)).collect()
}

fn list(summaries: &[Summary], json: bool) {
    if json {
        return console::json(&summaries.iter().map(as_json).collect());
    }
    if summaries.is_empty() {
        return console::note("no records");
    }
    let mut table = table(&["episode", "scenario", "end", "seed", "steps", "time", "score"], 3);
    for one in summaries {
        table.add_row(vec![
            one.episode.to_string(),
            one.scenario_name.clone(),
            one.ended.map_or("not over", |end| end.word()).to_string(),
            one.seed.to_string(),
            one.steps.to_string(),
            one.last_tick.map(|tick| tick.to_string()).unwrap_or_default(),
            one.score.map(|score| format!("{score:.3}")).unwrap_or_default(),
        ]);
    }
    console::out(table);
}

fn as_json(one: &Summary) -> Value {
    let terms = one.terms.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({
        "episode": one.episode.to_string(),
        "scenario": one.scenario_name,
        "seed": one.seed,
        "steps": one.steps,
        "seconds": one.last_tick.map(|tick| tick.0),
        "end": one.ended,
        "score": one.score,
        "terms": terms,
        "created": one.created_s,
    })
}
