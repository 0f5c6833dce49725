//! What auth adds to a server: sessions that get lost and are made anew, secrets that are stale or
//! missing, and tokens that a wrong clock rejects.

use crate::signals::{COLUMNS, LOGINS, MEMORY, REJECTED};
use machine::Cx;
use model::{CLASSES_MAX, Code, LeverPull, Outbox, Query};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

/// Share of users who need a new session at any time.
const LOGINS_CALM: f64 = 0.02;
/// Mean time in which a user without a session comes back, seconds.
const RETURN_S: f64 = 90.0;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AuthBehavior {
    /// Share of the users whose session is gone, beyond the calm share.
    lost: f64,
    /// Share of tokens rejected, as noted last.
    rejected: f64,
    /// A clock is off: for the words of the log.
    skewed: bool,
}

impl Phrases for AuthBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        if levels.get(REJECTED, 0.0) <= 0.0 {
            return "session store lookup failed".into();
        }
        if self.skewed {
            "token rejected: not valid yet or expired (check `nbf`, `exp`)".into()
        } else {
            "token rejected: signature does not match key `k-previous`".into()
        }
    }
}

impl AuthBehavior {
    /// Share of a group's tokens that are rejected.
    fn rejects(&self, server: &Server, at: usize) -> f64 {
        let leeway = server.setup.spec.params.number("leeway");
        if server.state.groups[at].grant.skew_s.abs() > leeway {
            return 1.0;
        }
        let stale = |a: &server::Active| server.is_group(at, a.pull.args.text("group"));
        if server.pulled("auth.stale_secret").any(stale) { 1.0 } else { 0.0 }
    }
}

impl Behavior for AuthBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Unauthenticated, message: "token rejected" };

    fn renewed(&mut self, server: &mut Server, groups: &[usize]) {
        // Sessions live in the processes' memory, secrets are read at their start.
        let all: u32 = server.state.groups.iter().map(|g| g.wanted).sum();
        let gone: u32 = groups.iter().map(|at| server.state.groups[*at].wanted).sum();
        let share = f64::from(gone) / f64::from(all.max(1));
        self.lost = self.lost + share - self.lost * share;
        for at in groups {
            let name = server.state.groups[*at].name.clone();
            for active in &mut server.state.active {
                let of_group = active.pull.args.text("group");
                let whole = groups.len() == server.state.groups.len() && of_group.is_empty();
                if active.pull.lever == "auth.stale_secret" && (whole || of_group == name) {
                    active.healed = true;
                }
            }
        }
    }

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        self.lost = (self.lost * (1.0 - cx.delta_s() / RETURN_S)).max(0.0);
        if self.lost < 1e-4 {
            self.lost = 0.0;
        }
        let cost = server.setup.spec.params.number("login_cost");
        // The service time is that of the calm mixture of sessions and logins.
        let work = |logins: f64| 1.0 + cost * logins;
        let slow = work(LOGINS_CALM + (1.0 - LOGINS_CALM) * self.lost) / work(LOGINS_CALM);
        for c in 0..CLASSES_MAX {
            server.knobs.slow[c] *= slow;
        }
        let (mut rejected, mut all) = (0.0, 0.0);
        self.skewed = false;
        for at in 0..server.state.groups.len() {
            let share = self.rejects(server, at);
            let knobs = &mut server.knobs.groups[at];
            knobs.error = knobs.error + share - knobs.error * share;
            rejected += knobs.running * share;
            all += knobs.running;
            self.skewed |= share > 0.0 && server.state.groups[at].grant.skew_s != 0.0;
        }
        let rejected = if all > 0.0 { rejected / all } else { 0.0 };
        if (rejected - self.rejected).abs() > 0.005 {
            self.rejected = rejected;
            cx.emit(REJECTED, rejected, "");
        }
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        out.row[first + LOGINS] = LOGINS_CALM + (1.0 - LOGINS_CALM) * self.lost;
        out.row[first + MEMORY] = server.memory_mean() / 1_048_576.0;
        for (at, need) in out.needs.iter_mut().enumerate() {
            let bad = |a: &server::Active| server.is_group(at, a.pull.args.text("group"));
            if server.pulled("auth.bad_secret").any(bad) {
                need.exit_code = 78;
            }
        }
    }

    fn injected(&mut self, _server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        match pull.lever.as_str() {
            "auth.session_loss" => {
                let share = pull.args.number("ratio");
                self.lost = self.lost + share - self.lost * share;
            }
            "auth.bad_secret" => {
                cx.emit(server::keys::NOTE, 0.0, "configuration pushed: signing secret renamed");
            }
            "auth.stale_secret" => {
                cx.emit(server::keys::NOTE, 0.0, "signing secret rotated");
            }
            _ => {}
        }
    }

    fn facts(&self, _server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        if matches!(query, Query::Status) && self.rejected > 0.0 {
            facts.insert("tokens rejected".into(), format!("{:.1} %", 100.0 * self.rejected));
        }
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("sessions_lost_ratio".into(), self.lost);
        facts.insert("tokens_rejected_ratio".into(), self.rejected);
    }
}
