//! What an app adds to a server: workers that hang show in its telemetry.

use crate::signals::{COLUMNS, HUNG, MEMORY};
use machine::Cx;
use model::{Code, Outbox};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use telemetry::Levels;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AppBehavior {
    /// Share of the workers that hang.
    hung: f64,
}

impl Phrases for AppBehavior {
    fn own_error(&self, _levels: &Levels) -> String {
        "unhandled exception in request handler: invalid state".into()
    }
}

impl Behavior for AppBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Internal, message: "unhandled exception in request handler" };

    fn knobs(&mut self, server: &mut Server, _cx: &mut Cx<'_>) {
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
