//! What a frontend adds to a server: a cache of sessions, which makes pages cheap, and the clients
//! that hold stale entries of it: their pages fail, and they call again and again in vain.

use crate::signals::{COLUMNS, HITS, STALE, VAIN};
use machine::Cx;
use model::{CLASSES_MAX, Code, Order, Outbox, Query, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FrontendBehavior {
    /// Share of its usual entries that the cache does not have.
    cold: f64,
    /// Share of the clients with stale entries.
    stale: f64,
    /// Calls in vain per page and normal call.
    vain: f64,
    /// The share of stale clients, as noted last.
    noted: f64,
}

impl FrontendBehavior {
    /// Share of pages whose session is in the cache.
    fn hits(&self, server: &Server) -> f64 {
        server.setup.spec.params.number("hit_ratio") * (1.0 - self.cold)
    }
}

impl Phrases for FrontendBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        if levels.get(STALE, 0.0) > 0.0 {
            "page refused: the client's session entry is of an older page".into()
        } else {
            "page could not be rendered".into()
        }
    }

    fn more(&self, _row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        if levels.get(STALE, 0.0) > 0.0 {
            let text = "session cache served an entry that is not valid any more; client retries";
            lines.push((Severity::Warn, text.into()));
        }
    }
}

impl Behavior for FrontendBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Unauthenticated, message: "session entry is not valid any more" };

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let refill = server.setup.spec.params.number("refill");
        self.cold *= (1.0 - cx.delta_s() / refill).max(0.0);
        if self.cold < 1e-4 {
            self.cold = 0.0;
        }
        (self.stale, self.vain) = (0.0, 0.0);
        for active in server.pulled("frontend.stale_cache") {
            let ratio = active.pull.args.number("ratio");
            self.stale += ratio - self.stale * ratio;
            self.vain += ratio * active.pull.args.number("calls");
        }
        // The service time is that of the usual mixture of hits and misses.
        let cost = server.setup.spec.params.number("miss_cost");
        let usual = server.setup.spec.params.number("hit_ratio");
        let work = |hits: f64| 1.0 + cost * (1.0 - hits);
        let slow = work(self.hits(server)) / work(usual);
        for c in 0..CLASSES_MAX {
            server.knobs.slow[c] *= slow;
            let error = &mut server.knobs.error[c];
            *error = *error + self.stale - *error * self.stale;
        }
        if self.stale != self.noted {
            self.noted = self.stale;
            cx.emit(STALE, self.stale, "");
        }
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        let mut all = 0.0;
        let pages = &server.tier.last().class_served;
        for (k, (calls, edge)) in out.calls.iter_mut().zip(&server.spec.edges).enumerate() {
            let mut more = 0.0;
            let names = server.knobs.edges.get(k).map(|knobs| knobs.names).unwrap_or_default();
            let found = (1.0 - names.missing - names.astray).max(0.0);
            for ((rate, pages), each) in calls.rate.iter_mut().zip(pages).zip(edge.calls) {
                let vain = pages * self.vain * each * found;
                *rate += vain;
                more += vain;
            }
            // They come from browsers and wait there, not in the slots of this component.
            calls.in_flight_cap += more * calls.timeout_s;
            all += more;
        }
        out.row[first + HITS] = self.hits(server);
        out.row[first + VAIN] = all;
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        if order.verb != "flush" {
            return false;
        }
        self.cold = 1.0;
        server.heal(&["frontend.stale_cache"]);
        cx.emit(server::keys::NOTE, 0.0, "session cache emptied");
        true
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        let text = if matches!(query, Query::Config) {
            "in a store shared by all replicas: it outlives their processes".to_string()
        } else {
            let (hits, stale) = (100.0 * self.hits(server), 100.0 * self.stale);
            format!("{hits:.1} % hits, {stale:.1} % of the clients hold stale entries")
        };
        facts.insert("session cache".into(), text);
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("cache_cold_ratio".into(), self.cold);
        facts.insert("cache_stale_ratio".into(), self.stale);
    }
}
