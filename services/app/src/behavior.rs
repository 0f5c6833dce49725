//! What an app adds to a server: workers that hang show in its telemetry, and what it writes to the
//! disk of its host fails while there is no space.

use crate::signals::{COLUMNS, HUNG, MEMORY, NO_SPACE};
use machine::Cx;
use model::{Code, Outbox, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use telemetry::Levels;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AppBehavior {
    /// Share of the workers that hang.
    hung: f64,
    /// A host of its replicas has no space left, as noted last.
    no_space: bool,
}

impl Phrases for AppBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        if levels.get(NO_SPACE, 0.0) > 0.0 {
            return "cannot write: no space left on device".into();
        }
        "unhandled exception in request handler: invalid state".into()
    }

    fn more(&self, _row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        if levels.get(NO_SPACE, 0.0) > 0.0 {
            let text = "log writer: lines are dropped, the file system is full";
            lines.push((Severity::Warn, text.into()));
        }
    }
}

impl AppBehavior {
    /// Replicas on a full disk fail what they would write there.
    fn disk(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let writes = server.setup.spec.params.number("disk_writes");
        let mut full = false;
        for (group, knobs) in server.state.groups.iter().zip(&mut server.knobs.groups) {
            if group.grant.disk_free <= 0.0 || group.grant.inodes_free < 1.0 {
                full = true;
                knobs.error = knobs.error + writes - knobs.error * writes;
            }
        }
        let full = full && writes > 0.0;
        if full != self.no_space {
            self.no_space = full;
            cx.emit(NO_SPACE, f64::from(u8::from(full)), "");
        }
    }
}

impl Behavior for AppBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Internal, message: "unhandled exception in request handler" };

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        self.disk(server, cx);
        let slots = server.spec.concurrency;
        let (mut hung, mut all) = (0.0, 0.0);
        for group in &server.state.groups {
            let running = f64::from(group.grant.running);
            hung += running * group.slots_leaked;
            all += running * slots;
        }
        self.hung = if all > 0.0 { hung / all } else { 0.0 };
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        out.row[first + HUNG] = self.hung;
        out.row[first + MEMORY] = server.memory_mean() / 1_048_576.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KIND;
    use machine::{Instance, Moving};
    use model::{
        Calls, EdgeId, Grant, GroupSpec, Inbox, InstanceId, InstanceSpec, Params, Setup, Tick,
    };

    fn app(disk_writes: f64) -> Instance {
        let groups = vec![GroupSpec::plain("stable", 1, 1)];
        let params = Params::default().with("disk_writes", disk_writes).check(KIND.params());
        let spec =
            InstanceSpec { params: params.unwrap(), ..InstanceSpec::plain("app", "app", groups) };
        let setup = Setup::alone(spec);
        Instance::create(KIND, setup, Tick(0)).unwrap()
    }

    #[test]
    fn without_space_what_is_written_to_the_disk_fails_and_nothing_else() {
        for disk_writes in [0.0, 0.08] {
            let mut app = app(disk_writes);
            let error = |app: &Instance| app.levels().get(server::keys::GROUP_ERROR, 0.0);
            let mut play = |from: i64, free: f64| {
                let mut calls = Calls::none(EdgeId(0));
                calls.rate[0] = 60.0;
                calls.timeout_s = 1.0;
                let grant = Grant { disk_free: free, ..Grant::ample(InstanceId(0), 0, 1) };
                let inbox = Inbox { calls: vec![calls], grants: vec![grant], ..Inbox::default() };
                for t in from..from + 5 {
                    app.advance(Moving { tick: Tick(t), round: 0, rounds: 1 }, &inbox);
                }
                (error(&app), app.levels().get(NO_SPACE, 0.0))
            };
            let full = f64::from(u8::from(disk_writes > 0.0));
            assert_eq!(play(0, 1e9), (0.0, 0.0));
            assert_eq!(play(5, 0.0), (disk_writes, full));
            assert_eq!(play(10, 1e9), (0.0, 0.0));
        }
    }
}
