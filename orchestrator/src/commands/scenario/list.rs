//! `mayday scenario list`.

use crate::console;
use crate::failure::Failure;
use crate::report::table;
use crate::shelf::LibraryArgs;
use crate::task_key::TaskKey;
use scenario::of_dialect;
use serde_json::json;

/// Options of `mayday scenario list`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let shelf = options.library.open()?;
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for name in shelf.names() {
        match shelf.load(&name) {
            Ok(scenario) => rows.push(scenario),
            Err(failure) => broken.push(failure),
        }
    }
    if options.json {
        let key = TaskKey::of_environment()?;
        let rows = rows.iter().map(|s| {
            let family = s.name.split_once('/').map(|(family, _)| family);
            json!({
                "name": s.name,
                // Of a dialect, which alone plays it unless it is named.
                "dialect": family.filter(|_| of_dialect(&s.name)),
                "task": key.task(&s.name),
                "tier": s.tier,
                "healthy": s.healthy,
                "title": s.title,
                "system": s.topology.name,
                "components": s.topology.instances.len(),
                "horizon_seconds": s.timing.horizon.0,
                "step_limit": s.timing.step_limit,
            })
        });
        console::json(&rows.collect());
    } else {
        let mut table = table(&["scenario", "system", "title", "tier", "minutes", "steps"], 3);
        for s in &rows {
            table.add_row(vec![
                s.name.clone(),
                s.topology.name.clone(),
                s.title.clone(),
                s.tier.to_string(),
                (s.timing.horizon.0 / 60).to_string(),
                s.timing.step_limit.to_string(),
            ]);
        }
        console::out(table);
    }
    broken.iter().for_each(console::error);
    if broken.is_empty() { Ok(()) } else { Err(Failure::Findings) }
}
