//! What dns adds to a server: a zone, the caches of those who ask for its names, and the lookups
//! that these make when their answers run out.

use crate::caches::{Caches, Entry, Keep};
use crate::signals::{AGE, COLUMNS, ENTRIES, NXDOMAIN, PRESENT, REFRESHES, UNRESOLVED};
use flow::timeout_prob;
use machine::Cx;
use model::naming::{address, record_text};
use model::{Calls, Code, EdgeId, LeverPull, Order, Outbox, Query, Refusal, Resolution, Severity};
use serde::{Deserialize, Serialize};
use server::{Active, Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

/// A cache waits this long for an answer, seconds.
const PATIENCE_S: f64 = 5.0;
/// Ages are told up to here, seconds.
const AGE_MAX_S: i64 = 7 * 86_400;
/// Calls of caches come over no edge.
const NO_EDGE: EdgeId = EdgeId(u16::MAX);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DnsBehavior {
    /// In the order of the setup.
    names: Vec<Name>,
    /// Names without an entry, in the order of the setup: for the words of the log.
    listed: Vec<String>,
    /// Caches are to be emptied in the next round.
    flush: bool,
    /// Lookups of caches per second in this round, and those of names that do not exist.
    refreshes: f64,
    refreshes_missing: f64,
    /// The present tick.
    now: i64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Name {
    entry: Entry,
    /// The address where the entry is wrong.
    wrong: String,
    /// When the entry changed last; none: long ago.
    since: Option<i64>,
    caches: Caches,
    /// What callers are told in this round.
    told: Resolution,
}

impl Phrases for DnsBehavior {
    fn own_error(&self, _levels: &Levels) -> String {
        "SERVFAIL: zone not loaded".into()
    }

    fn more(&self, _row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        for (at, name) in (0_u16..).zip(&self.listed) {
            if levels.get(ENTRIES + at, 0.0) == 1.0 {
                lines.push((Severity::Warn, format!("query {name} IN A: NXDOMAIN")));
            }
        }
    }
}

impl DnsBehavior {
    /// What levers that are in force make of the entry of `name`.
    fn entry(server: &Server, name: &str) -> (Entry, String) {
        let of = |active: &&Active| active.pull.args.text("record") == name;
        if server.pulled("dns.record_lost").any(|a| of(&a)) {
            return (Entry::Missing, String::new());
        }
        match server.pulled("dns.record_wrong").find(of) {
            Some(active) => (Entry::Wrong, active.pull.args.text("address").into()),
            None => (Entry::Right, String::new()),
        }
    }

    /// Takes over what the zone says now.
    fn load(&mut self, server: &Server, cx: &mut Cx<'_>) {
        self.names.resize_with(server.setup.names.len(), Name::default);
        if self.listed.len() != self.names.len() {
            self.listed = server.setup.names.iter().map(|n| n.name.clone()).collect();
        }
        let mut changed = false;
        for (at, (name, spec)) in (0_u16..).zip(self.names.iter_mut().zip(&server.setup.names)) {
            let (entry, wrong) = DnsBehavior::entry(server, &spec.name);
            if (entry, &wrong) != (name.entry, &name.wrong) {
                (name.entry, name.wrong, name.since) = (entry, wrong, Some(cx.tick().0));
                let level = if entry == Entry::Missing { 1.0 } else { 0.0 };
                cx.emit(ENTRIES + at, level, "");
                changed = true;
            }
        }
        if changed {
            let all = self.names.len().max(1) as f64;
            let there = self.names.iter().filter(|n| n.entry != Entry::Missing).count();
            cx.emit(PRESENT, there as f64 / all, "");
        }
    }

    /// Share of the lookups of the last round that got no answer.
    fn unanswered(server: &Server) -> f64 {
        let last = server.tier.last();
        if last.arrived <= 1e-12 {
            return if server.knobs.running() > 0.0 { 0.0 } else { 1.0 };
        }
        let report = &last.report;
        let late = timeout_prob(report.ok_mean_s, report.ok_var_s2, PATIENCE_S);
        let answered = (1.0 - last.refused / last.arrived) * (1.0 - last.failed) * (1.0 - late);
        (1.0 - answered).clamp(0.0, 1.0)
    }

    /// Lets caches settle, run out and ask.
    fn ask(&mut self, server: &mut Server, dt_s: f64) {
        let failed = DnsBehavior::unanswered(server);
        let params = &server.setup.spec.params;
        let (caches, negative_s) = (params.number("caches"), params.number("negative_ttl"));
        (self.refreshes, self.refreshes_missing) = (0.0, 0.0);
        for (name, spec) in self.names.iter_mut().zip(&server.setup.names) {
            name.caches.settle(name.entry, failed);
            name.told = name.caches.resolution();
            let asking = if self.flush {
                name.caches.flush()
            } else {
                name.caches.expire(Keep { ttl_s: spec.ttl_s, negative_s }, dt_s)
            };
            let rate = caches * asking / dt_s;
            self.refreshes += rate;
            if name.entry == Entry::Missing {
                self.refreshes_missing += rate;
            }
        }
        self.flush = false;
        server.beside = (self.refreshes > 0.0).then(|| self.calls(server.setup.classes.len()));
    }

    /// The lookups of caches; they belong to no class, so all classes have their part in them.
    fn calls(&self, classes: usize) -> Calls {
        let mut calls = Calls { timeout_s: PATIENCE_S, ..Calls::none(NO_EDGE) };
        let each = self.refreshes / classes.max(1) as f64;
        calls.rate.iter_mut().take(classes.max(1)).for_each(|rate| *rate = each);
        calls
    }

    fn age_s(&self, since: Option<i64>) -> i64 {
        since.map_or(AGE_MAX_S, |since| (self.now - since).clamp(0, AGE_MAX_S))
    }

    /// Share of the names that do not exist.
    fn lost(&self) -> f64 {
        let lost = self.names.iter().filter(|n| n.entry == Entry::Missing).count();
        lost as f64 / self.names.len().max(1) as f64
    }
}

impl Behavior for DnsBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure = OwnFailure { code: Code::Internal, message: "SERVFAIL" };

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        self.now = cx.tick().0;
        self.load(server, cx);
        self.ask(server, cx.delta_s());
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        out.answers.clear();
        out.answers.extend(self.names.iter().map(|name| name.told));
        let offered = server.tier.last().offered;
        let missing = self.refreshes_missing + (offered - self.refreshes).max(0.0) * self.lost();
        out.row[first + NXDOMAIN] =
            if offered > 1e-9 { (missing / offered).clamp(0.0, 1.0) } else { 0.0 };
        out.row[first + UNRESOLVED] =
            self.names.iter().fold(0.0, |most: f64, n| most.max(n.told.missing));
        out.row[first + REFRESHES] = self.refreshes;
        let youngest = self.names.iter().filter_map(|n| n.since).max();
        out.row[first + AGE] = self.age_s(youngest) as f64;
    }

    fn accepts(&self, server: &Server, order: &Order) -> Option<Result<(), Refusal>> {
        if order.verb == "flush_resolver" {
            return Some(Ok(()));
        }
        let names = &server.setup.names;
        let record = order.args.text("record");
        (order.verb == "fix_record").then(|| {
            if names.iter().any(|n| n.name == record) {
                return Ok(());
            }
            let known: Vec<_> = names.iter().map(|n| n.name.as_str()).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            Err(Refusal::because(format!("no record `{record}`; there is {known}")))
        })
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        match order.verb.as_str() {
            "fix_record" => {
                let record = order.args.text("record");
                for active in &mut server.state.active {
                    let of_zone = matches!(
                        active.pull.lever.as_str(),
                        "dns.record_lost" | "dns.record_wrong"
                    );
                    if of_zone && active.pull.args.text("record") == record {
                        active.healed = true;
                    }
                }
                cx.emit(server::keys::NOTE, 0.0, format!("record {record} written"));
            }
            "flush_resolver" => {
                self.flush = true;
                cx.emit(server::keys::NOTE, 0.0, "caches of all resolvers flushed");
            }
            _ => return false,
        }
        true
    }

    fn injected(&mut self, _server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        if pull.lever.starts_with("dns.") {
            cx.emit(server::keys::NOTE, 0.0, "zone pushed");
        }
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        let config = matches!(query, Query::Config);
        for (spec, name) in server.setup.names.iter().zip(&self.names) {
            let at = match name.entry {
                Entry::Right => Some(address(spec.component)),
                Entry::Wrong => Some(name.wrong.clone()),
                Entry::Missing => None,
            };
            let mut text = record_text(at.as_deref(), spec.ttl_s);
            if !config {
                text += &match name.since {
                    Some(_) => format!(", since {} s", self.age_s(name.since)),
                    None => ", unchanged for weeks".into(),
                };
            }
            facts.insert(format!("record {}", spec.name), text);
        }
        let params = &server.setup.spec.params;
        if config {
            let negative = params.number("negative_ttl");
            facts.insert("negative ttl".into(), format!("{negative} s"));
        } else {
            let lookups = server.tier.last().offered;
            let text = format!("{lookups:.1}/s, {:.1}/s of them by caches", self.refreshes);
            facts.insert("lookups".into(), text);
        }
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        let most = |of: fn(&Name) -> f64| self.names.iter().map(of).fold(0.0, f64::max);
        facts.insert("names_missing_ratio_max".into(), most(|n| n.told.missing));
        facts.insert("names_astray_ratio_max".into(), most(|n| n.told.astray));
        let right = self.names.iter().filter(|n| n.entry == Entry::Right).count();
        facts.insert("names_right".into(), right as f64);
    }
}
