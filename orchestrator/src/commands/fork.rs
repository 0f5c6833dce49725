//! `mayday fork`: what if another way had been taken?

use crate::console;
use crate::failure::Failure;
use crate::ids::RecordArgs;
use crate::look::{self, Seen, Until};
use crate::narrate;
use crate::report::table;
use action::Action;
use episode::{Episode, Grade};
use fleet::EmbeddedFleet;
use model::decimals;
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Options of `mayday fork`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    record: RecordArgs,
    /// Keep so many steps of the record.
    #[arg(long, value_name = "STEP")]
    at: u32,
    /// Then take this action, as JSON; may be repeated. None: nothing more is done.
    #[arg(long = "action", value_name = "JSON")]
    actions: Vec<String>,
    /// Write the record of the fork to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// Where the record has no such step, or an action does not fit.
pub fn run(options: Options) -> Result<(), Failure> {
    let record = options.record.load()?;
    let steps = record.steps().count();
    if options.at as usize > steps {
        return Err(Failure::usage(format!(
            "--at {}: the record has {steps} steps; expected 0 to {steps}",
            options.at
        )));
    }
    let actions = options.actions.iter().map(|text| {
        Action::parse(text).map_err(|error| Failure::usage(format!("--action {text}: {error}")))
    });
    let actions = actions.collect::<Result<Vec<_>, _>>()?;
    let mut out = options.out.as_deref().map(Out::create).transpose()?;
    let runtime = crate::runtime::current()?;
    let (then, now, fork) = runtime.block_on(async {
        let whole = Box::pin(look::play(&record, Until::default(), &mut |_| {})).await?;
        let then = Box::pin(look::grade(&whole)).await?;
        let until = Until { steps: Some(options.at), ..Until::default() };
        let mut fork = Box::pin(look::play(&record, until, &mut |_| {})).await?;
        Box::pin(follow(&mut fork, &actions, options.json)).await?;
        let now = Box::pin(look::grade(&fork)).await?;
        Ok::<_, Failure>((then, now, fork))
    })?;
    if let Some(out) = &mut out {
        out.write(&fork.record().to_jsonl())?;
    }
    say(&then, &now, options.json);
    Ok(())
}

/// The file for the record of a fork: made before anything is played, so that one that cannot be
/// made is known at once; removed again unless it is written.
struct Out<'a> {
    path: &'a Path,
    file: File,
    written: bool,
}

impl Out<'_> {
    fn create(path: &Path) -> Result<Out<'_>, Failure> {
        let file = File::create_new(path).map_err(|error| {
            let path = path.display();
            Failure::usage(match error.kind() {
                ErrorKind::AlreadyExists => {
                    format!("--out {path} is there already: choose another file")
                }
                ErrorKind::NotFound => {
                    format!("--out {path}: the folder does not exist: make it, or choose another")
                }
                _ => format!("--out {path} cannot be made ({error}): choose another file"),
            })
        })?;
        Ok(Out { path, file, written: false })
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| Failure::failed(format!("{}: {error}", self.path.display())))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        if !self.written {
            // Nobody but us knows it.
            let _ = std::fs::remove_file(self.path);
        }
    }
}

async fn follow(
    fork: &mut Episode<EmbeddedFleet>,
    actions: &[Action],
    quiet: bool,
) -> Result<(), Failure> {
    for action in actions {
        let from = fork.tick();
        let reply = Box::pin(fork.step(action)).await.map_err(Failure::usage)?;
        let (action, impact) = (action.to_string(), fork.impact());
        let observation = Box::new(reply.observation);
        if !quiet {
            let seen = Seen::Step { from, action, observation, impact };
            console::out_raw(narrate::happened(fork.steps(), &seen));
        }
    }
    Ok(())
}

fn say(then: &Grade, now: &Grade, as_json: bool) {
    if as_json {
        return console::json(&json!({"recorded": then, "fork": now}));
    }
    let mut table = table(&["", "recorded", "fork", "nobody acts", "reference"], 1);
    let number = |value: f64| decimals(value, 1);
    table.add_row(vec![
        "impact [user-min]".to_string(),
        number(then.impact),
        number(now.impact),
        number(now.impact_noop),
        number(now.impact_reference),
    ]);
    let score = |value: f64| decimals(value, 3);
    table.add_row(vec!["score".to_string(), score(then.score), score(now.score)]);
    console::out(format_args!("\n{table}"));
    console::out_raw(format_args!("fork: {}", narrate::grade(now)));
}
