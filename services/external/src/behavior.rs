//! What a third party adds to a server: a quota, and brown-outs that end when it ends them.

use crate::quota::{Quota, Terms};
use crate::signals::{COLUMNS, QUOTA, THROTTLED, own};
use machine::Cx;
use model::{Code, LeverPull, Order, Outbox, Query, Refusal, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExternalBehavior {
    /// Everything here is filled in by the first round.
    started: bool,
    /// First of the own columns.
    first: usize,
    quota: Quota,
    /// Calls per second that were granted on request; 0: none yet, the contract's holds.
    granted: f64,
    throttled: f64,
    noted: f64,
}

impl Phrases for ExternalBehavior {
    fn own_error(&self, _levels: &Levels) -> String {
        "answered 503 service unavailable".into()
    }

    fn more(&self, row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        let throttled = row[self.first + THROTTLED];
        if throttled > 0.001 {
            let (share, quota) = (100.0 * throttled, levels.get(QUOTA, 0.0));
            let text = format!(
                "answered 429 too many requests to {share:.1} % of calls, quota {quota:.0} per second"
            );
            lines.push((Severity::Warn, text));
        }
    }
}

impl ExternalBehavior {
    fn start(&mut self, server: &Server) {
        (self.started, self.first) = (true, own(&server.setup));
        self.quota = Quota::full(self.terms(server));
    }

    /// Calls per second that it allows now.
    fn rate(&self, server: &Server) -> f64 {
        let params = &server.setup.spec.params;
        let agreed = if self.granted > 0.0 { self.granted } else { params.number("quota") };
        let cuts = server.pulled("external.quota").map(|a| a.pull.args.number("rps"));
        cuts.fold(agreed, f64::min)
    }

    fn terms(&self, server: &Server) -> Terms {
        let params = &server.setup.spec.params;
        Terms {
            rate: self.rate(server),
            burst_s: params.number("burst"),
            refused_cost: params.number("refused_cost"),
        }
    }
}

impl Behavior for ExternalBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Unavailable, message: "the third party answered 503" };

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        if !self.started {
            self.start(server);
        }
        let last = server.tier.last();
        let offered = last.offered + last.turned_away;
        self.throttled = self.quota.round(offered, self.terms(server), cx.delta_s());
        for refuse in &mut server.knobs.refuse {
            *refuse = *refuse + self.throttled - *refuse * self.throttled;
        }
        let slow: f64 =
            server.pulled("external.slow").map(|a| a.pull.args.number("factor")).product();
        let errors = server.pulled("external.errors").fold(0.0, |all, a| {
            let ratio = a.pull.args.number("ratio");
            all + ratio - all * ratio
        });
        for group in &mut server.knobs.groups {
            group.slow *= slow;
            group.error = group.error + errors - group.error * errors;
        }
        let rate = self.rate(server);
        if rate != self.noted {
            self.noted = rate;
            cx.emit(QUOTA, rate, "");
        }
    }

    fn served(&mut self, _server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        out.row[first + THROTTLED] = self.throttled;
        // Nobody here runs it: it asks no host for anything.
        out.needs.clear();
    }

    fn accepts(&self, server: &Server, order: &Order) -> Option<Result<(), Refusal>> {
        if order.verb != "request_quota" {
            return None;
        }
        let (asked, now) = (order.args.number("rps"), self.rate(server));
        let most = server.setup.spec.params.number("quota_max");
        if asked <= now {
            return Some(Err(Refusal::because(format!("it allows {now} per second already"))));
        }
        if now >= most {
            let text = format!("the contract allows {most} per second and no more");
            return Some(Err(Refusal::because(text)));
        }
        Some(Ok(()))
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        if order.verb != "request_quota" {
            return false;
        }
        let asked = order.args.number("rps");
        self.granted = asked.min(server.setup.spec.params.number("quota_max"));
        server.heal(&["external.quota"]);
        let text = format!("quota of {} per second granted, {asked} were asked for", self.granted);
        cx.emit(server::keys::NOTE, 0.0, text);
        true
    }

    fn injected(&mut self, server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        if !self.started {
            self.start(server);
        }
        if pull.lever == "external.quota" {
            cx.emit(server::keys::NOTE, 0.0, "notice of the third party: usage tiers revised");
        }
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        facts.clear();
        facts.insert("run by".into(), "a third party".into());
        let (rate, params) = (self.rate(server), &server.setup.spec.params);
        facts.insert("quota".into(), format!("{rate} calls per second"));
        if matches!(query, Query::Config) {
            let most = params.number("quota_max");
            facts.insert("quota on request".into(), format!("up to {most} calls per second"));
            return;
        }
        let throttled = 100.0 * self.throttled;
        facts.insert("answered 429".into(), format!("{throttled:.1} % of calls"));
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.remove("replicas_wanted");
        facts.remove("replicas_running");
        facts.insert("throttled_ratio".into(), self.throttled);
    }
}
