//! The list of commands: one file and one line each, in the order of the help.

use crate::failure::Failure;

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $name:ident: $variant:ident, logs $log:literal;)*) => {
        $(pub mod $name;)*
        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($name)),*];

        /// A command with its options.
        #[derive(Debug, clap::Subcommand)]
        pub enum Command {
            $($(#[doc = $doc])+ $variant($name::Options),)*
        }

        impl Command {
            /// What it logs unless told otherwise.
            pub fn log(&self) -> &'static str {
                match self { $(Command::$variant(_) => $log,)* }
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => stringify!($name),)* }
            }

            /// Does it.
            ///
            /// # Errors
            /// One sentence with the way out.
            pub fn run(self) -> Result<(), Failure> {
                match self { $(Command::$variant(options) => $name::run(options),)* }
            }
        }
    };
}

commands! {
    /// Plays scenarios with the built-in agents and prints their scores.
    run: Run, logs "warn";
    /// Puts you on call in one scenario, at this terminal or over a pipe.
    play: Play, logs "error";
    /// Lists, shows and checks scenarios; prints their schema.
    scenario: Scenario, logs "warn";
    /// Plays episodes for training, many over one connection, and writes trajectories.
    rollout: Rollout, logs "warn";
    /// Evaluates an agent elsewhere: plays, scores and reports.
    eval: Eval, logs "warn";
    /// Plays a record again, compares every digest, and tells what was done and seen.
    replay: Replay, logs "warn";
    /// Plays a record up to a step, takes another way from there, and compares.
    fork: Fork, logs "warn";
    /// Lists, shows, exports and removes kept records.
    records: Records, logs "warn";
    /// Starts one process per component kind on this machine and keeps them running.
    up: Up, logs "info";
    /// Runs one component kind as a gRPC service.
    component: Component, logs "info";
    /// Serves agents over OpenEnv and MCP, everything in one process.
    serve: Serve, logs "info";
    /// Serves episodes over gRPC: create, observe, step, score.
    orchestrator: Orchestrator, logs "info";
    /// Serves grades over gRPC: baselines, and verdicts on episodes that are over.
    grader: Grader, logs "info";
    /// Speaks to the control port of a server: inject faults, inspect, fork, grade, drain.
    ctl: Ctl, logs "warn";
    /// Measures the budgets of the world on this machine.
    bench: Bench, logs "warn";
    /// Tells whether a process of mayday is up; for health checks of containers.
    health: Health, logs "warn";
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands");
        crate::agents::tests::assert_listed(folder, super::FILES);
    }
}
