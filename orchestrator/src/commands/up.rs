//! `mayday up`: one process per kind on this machine.

use crate::body::{self, check_kind};
use crate::console;
use crate::failure::Failure;
use crate::supervisor::{Plan, Supervisor};
use serde_json::json;
use std::collections::BTreeMap;

/// Options of `mayday up`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Kinds, separated by commas; default: all.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Print one JSON document instead of lines for a shell.
    #[arg(long)]
    json: bool,
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where a process cannot be started.
pub fn run(options: Options) -> Result<(), Failure> {
    for kind in &options.kinds {
        check_kind(kind).map_err(Failure::usage)?;
    }
    let mut plan = Plan::of_this_program()?;
    if !options.kinds.is_empty() {
        plan.kinds = options.kinds;
        plan.kinds.sort();
        plan.kinds.dedup();
    }
    let runtime = crate::runtime::current()?;
    runtime.block_on(async {
        let mut supervisor = Supervisor::start(plan).await?;
        say(&supervisor, options.json);
        tokio::select! {
            () = supervisor.watch() => {}
            () = chassis::stop_signal() => {}
        }
        supervisor.stop().await;
        Ok(())
    })
}

fn say(supervisor: &Supervisor, as_json: bool) {
    let (addresses, token) = (supervisor.addresses(), supervisor.token_text());
    let processes: BTreeMap<_, _> = supervisor.processes().into_iter().collect();
    if as_json {
        let all = json!({"components": addresses, "token": token, "processes": processes});
        return console::out(all);
    }
    for (kind, address) in &addresses {
        let process = processes.get(kind).copied().unwrap_or_default();
        console::out(format_args!("# {kind} {address}, process {process}"));
    }
    console::out(format_args!("export MAYDAY_COMPONENTS={}", body::list(&addresses)));
    console::out(format_args!("export MAYDAY_TOKEN={token}"));
    console::note("with these set, `mayday run --fleet remote` uses them; Ctrl-C stops them");
}
