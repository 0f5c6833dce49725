//! What the gateway adds to a server: requests that end before they take a slot, because of the
//! certificate, the routing table or the rate limit.

use crate::signals::{COLUMNS, HANDSHAKE, LIMITED};
use machine::Cx;
use model::{CLASSES_MAX, Code, LeverPull, Order, Outbox, Query, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GatewayBehavior {
    /// Share of the users' connections that met the expired certificate: 1 − e^(−κt) by steps.
    refused: f64,
    limited: f64,
    noted: (f64, f64),
}

impl Phrases for GatewayBehavior {
    fn own_error(&self, _levels: &Levels) -> String {
        "request failed in a filter of the gateway".into()
    }

    fn more(&self, _row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        if levels.get(HANDSHAKE, 0.0) > 0.0 {
            let text = "TLS handshake failed: certificate has expired";
            lines.push((Severity::Error, text.into()));
        }
        if levels.get(LIMITED, 0.0) > 0.0 {
            lines.push((Severity::Warn, "429 rate limit exceeded, requests dropped".into()));
        }
        let dropped =
            (0..CLASSES_MAX as u16).any(|c| levels.get(server::keys::REFUSE + c, 0.0) >= 0.999);
        if dropped && levels.get(HANDSHAKE, 0.0) < 0.9 {
            lines.push((Severity::Error, "404 no route matches the request".into()));
        }
    }
}

impl Behavior for GatewayBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Internal, message: "request failed in a filter of the gateway" };

    fn renewed(&mut self, server: &mut Server, groups: &[usize]) {
        // A restart closes the connections that had survived the expiry.
        if server.is_pulled("gateway.certificate_expiry") {
            let all: u32 = server.state.groups.iter().map(|g| g.wanted).sum();
            let gone: u32 = groups.iter().map(|at| server.state.groups[*at].wanted).sum();
            let share = f64::from(gone) / f64::from(all.max(1));
            self.refused = self.refused + share - self.refused * share;
        }
    }

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let churn = server.setup.spec.params.number("connection_churn") * cx.delta_s();
        if server.is_pulled("gateway.certificate_expiry") {
            self.refused += (1.0 - self.refused) * churn.min(1.0);
        } else if self.refused > 0.0 {
            // Users try again within seconds once the certificate is good.
            self.refused = (self.refused - 0.25 * cx.delta_s()).max(0.0);
        }
        let limit = server
            .pulled("gateway.rate_limit")
            .fold(f64::INFINITY, |least, a| least.min(a.pull.args.number("rps")));
        let last = server.tier.last();
        let offered = last.offered + last.turned_away;
        self.limited = if offered > limit { 1.0 - limit / offered } else { 0.0 };
        let mut dropped = [false; CLASSES_MAX];
        for active in server.pulled("gateway.route_drop") {
            for (c, hit) in server.classes(active.pull.args.text("class")).iter().enumerate() {
                dropped[c] |= hit;
            }
        }
        for (c, refuse) in server.knobs.refuse.iter_mut().enumerate() {
            let pass = (1.0 - *refuse) * (1.0 - self.refused) * (1.0 - self.limited);
            *refuse = if dropped[c] { 1.0 } else { (1.0 - pass).clamp(0.0, 1.0) };
        }
        if (self.refused - self.noted.0).abs() > 0.005 {
            cx.emit(HANDSHAKE, self.refused, "");
            self.noted.0 = self.refused;
        }
        if (self.limited - self.noted.1).abs() > 0.005 {
            cx.emit(LIMITED, self.limited, "");
            self.noted.1 = self.limited;
        }
    }

    fn served(&mut self, _server: &mut Server, _cx: &mut Cx<'_>, _out: &mut Outbox, _first: usize) {
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        if order.verb != "renew_certificate" {
            return false;
        }
        server.heal(&["gateway.certificate_expiry"]);
        cx.emit(server::keys::NOTE, 0.0, "certificate renewed and loaded");
        true
    }

    fn injected(&mut self, _server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        match pull.lever.as_str() {
            "gateway.rate_limit" => {
                cx.emit(server::keys::NOTE, 0.0, "configuration pushed: rate limits revised");
            }
            "gateway.route_drop" => {
                cx.emit(server::keys::NOTE, 0.0, "configuration pushed: routing table rebuilt");
            }
            _ => {}
        }
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        let text = match query {
            Query::Config => "reloads on renewal, no restart needed".to_string(),
            _ if server.is_pulled("gateway.certificate_expiry") => "expired".into(),
            _ => "valid".into(),
        };
        facts.insert("certificate".into(), text);
        if !matches!(query, Query::Config) {
            return;
        }
        let limits: Vec<_> = server
            .pulled("gateway.rate_limit")
            .map(|a| format!("{} requests per second", a.pull.args.number("rps")))
            .collect();
        let limit = if limits.is_empty() { "none".into() } else { limits.join(", ") };
        facts.insert("rate limit".into(), limit);
        let mut routes: Vec<_> =
            server.setup.classes.iter().map(|class| class.route.as_str()).collect();
        routes.sort_unstable();
        routes.dedup();
        routes.retain(|route| {
            server.pulled("gateway.route_drop").all(|a| a.pull.args.text("class") != *route)
        });
        facts.insert("routes".into(), routes.join(", "));
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("handshake_failed_ratio".into(), self.refused);
        facts.insert("limited_ratio".into(), self.limited);
    }
}
