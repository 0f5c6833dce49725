//! `mayday replay`: a record played again, for a person.

use crate::console;
use crate::export::{Export, ExportArgs};
use crate::failure::Failure;
use crate::ids::RecordArgs;
use crate::look::{self, Seen, Until};
use crate::narrate;
use model::Tick;
use otlp::Overflow;
use serde_json::{Value, json};

/// Options of `mayday replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    record: RecordArgs,
    /// Stop before the first step that begins at this second of the incident or later.
    #[arg(long, value_name = "TICK")]
    until: Option<i64>,
    /// Print one JSON document with everything that was done and seen.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    export: ExportArgs,
}

/// Runs it.
///
/// # Errors
/// Where the record cannot be read, or plays otherwise than it says.
pub fn run(options: Options) -> Result<(), Failure> {
    let record = options.record.load()?;
    let hub = options.export.begin(Overflow::Wait)?;
    let until = Until { tick: options.until.map(Tick), ..Until::default() };
    let header = &record.header;
    if !options.json {
        let (episode, name, seed) = (header.episode, &header.scenario_name, header.seed);
        console::out(format_args!("episode {episode}: {name}, seed {seed}"));
    }
    let mut steps = Vec::new();
    let mut number = 0;
    let mut see = |seen: Seen| match options.json {
        true => steps.push(as_json(&seen)),
        false => {
            number += u32::from(matches!(seen, Seen::Step { .. }));
            console::out_raw(narrate::happened(number, &seen));
        }
    };
    let runtime = crate::runtime::current()?;
    let (episode, grade) = runtime.block_on(async {
        let episode = Box::pin(look::play(&record, until, &mut see)).await?;
        if let Some(hub) = hub {
            Box::pin(Export::new(hub.clone(), &episode).publish(&episode)).await;
            hub.finish().await;
        }
        let grade = Box::pin(look::grade(&episode)).await?;
        Ok::<_, Failure>((episode, grade))
    })?;
    let played = episode.record().steps().count();
    if options.json {
        console::json(&json!({
            "episode": header.episode.to_string(),
            "scenario": header.scenario_name,
            "seed": header.seed,
            "steps": steps,
            "verified": played,
            "end": episode.ended(),
            "world": episode.record().steps().last().map(|s| s.world.to_string()),
            "grade": grade,
        }));
        return Ok(());
    }
    let end = episode.ended().map_or("not over; graded as if left here", |end| end.word());
    console::out(format_args!("\n{played} steps, all digests as recorded; {end}"));
    console::out_raw(narrate::grade(&grade));
    Ok(())
}

fn as_json(seen: &Seen) -> Value {
    match seen {
        Seen::Step { from, action, observation, impact } => json!({
            "from": from.0,
            "action": serde_json::from_str::<Value>(action).unwrap_or_default(),
            "observation": observation,
            "impact": *impact as f64 / episode::MICRO,
        }),
        Seen::Control { at, order } => json!({
            "from": at.0,
            "control": serde_json::from_str::<Value>(order).unwrap_or_default(),
        }),
    }
}
