//! What a cache adds to a server: only misses go on to the store behind it, and how many lookups
//! miss is its state.

use crate::content::{Content, Flow, distinct};
use crate::expiry::Expiry;
use crate::settings::Settings;
use crate::signals::{
    COLUMNS, ENTRIES, ENTRY_BYTES, EVICTED, EXPIRED, FETCHED, HOTTEST, MAX_MEMORY, MISSED, own,
};
use machine::Cx;
use model::{CLASSES_MAX, Code, LeverPull, Order, Outbox, PerClass, Query, Refusal, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, PastOf, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

/// Share of a replica's content that goes per second while versions change replica by replica:
/// each new process starts empty.
const REPLACED: f64 = 0.1;
/// The share of calls follows the share of misses in steps of this size, so that a steady cache
/// comes to rest.
const STEP: f64 = 1e-3;
const MIB: f64 = 1_048_576.0;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CacheBehavior {
    /// Everything here is filled in by the first round.
    started: bool,
    /// First of the own columns.
    first: usize,
    content: Content,
    expiry: Expiry,
    settings: Settings,
    /// Replicas wanted, as the content is spread over them.
    replicas: f64,
    /// Share of the lookups that miss, and of those that fetch from the store, this round.
    missed: f64,
    fetched: f64,
    /// Share of the content that goes per second, this round.
    lost: f64,
    /// When entries expired together last, and how many.
    expired: (i64, f64),
    /// Entries still to be loaded by order, and how many per second.
    to_load: f64,
    load_rate: f64,
    /// Bytes of entries in the memory of a replica, per group, as counted last.
    held: Vec<f64>,
    noted: Noted,
}

/// Levels as noted last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Noted {
    entry_bytes: f64,
    max_memory: f64,
    hottest: f64,
    expired: f64,
}

impl Phrases for CacheBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        if levels.get(server::keys::LOCK, 0.0) > 0.0 {
            "lookup failed: the fetch it waited for failed".into()
        } else {
            "command failed: internal error".into()
        }
    }

    fn more(&self, row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        let own = self.first;
        let (missed, offered) = (row[own + MISSED], row[server::signals::OFFERED]);
        if missed > 0.5 && offered > 1.0 {
            let text = format!(
                "{:.0} % of lookups miss, {:.0} fetches per second from the store",
                100.0 * missed,
                offered * row[own + FETCHED]
            );
            lines.push((Severity::Warn, text));
        }
        if row[own + EVICTED] >= 1.0 {
            let text = format!("out of memory for entries: {:.0} evicted", row[own + EVICTED]);
            lines.push((Severity::Warn, text));
        }
        let expired = levels.get(EXPIRED, 0.0);
        if expired >= 1.0 {
            lines.push((Severity::Info, format!("{expired:.0} entries expired in one second")));
        }
    }
}

impl CacheBehavior {
    fn start(&mut self, server: &Server) {
        let params = &server.setup.spec.params;
        (self.started, self.first) = (true, own(&server.setup));
        self.settings = Settings::of(params);
        self.replicas = wanted(server);
        self.held = vec![0.0; server.state.groups.len()];
        let (keys, room) = (params.number("hot_keys"), self.room(server, 1.0));
        self.content = Content::warm(params.number("hit_ratio"), keys, room);
    }

    /// Entries of this size that fit, over all replicas.
    fn room(&self, server: &Server, size: f64) -> f64 {
        let entry = server.setup.spec.params.number("entry_size") * size;
        self.settings.max_memory * self.replicas / entry.max(1.0)
    }

    /// Keys are spread over the replicas by their hash: with another number of replicas a share of
    /// them belongs elsewhere and is not found there.
    fn spread(&mut self, server: &Server) {
        let now = wanted(server);
        if now == self.replicas {
            return;
        }
        let (least, most) = (now.min(self.replicas), now.max(self.replicas));
        self.content.lose(1.0 - least / most.max(1.0));
        self.replicas = now;
    }

    /// Share of the load that the busiest replica takes.
    fn hottest(&self, server: &Server) -> f64 {
        let even = 1.0 / self.replicas.max(1.0);
        if self.settings.spread_hot_keys {
            return even;
        }
        let cold = server.pulled("cache.hot_key").map(|a| 1.0 - a.pull.args.number("ratio"));
        let cold: f64 = cold.product();
        (1.0 - cold) + cold * even
    }

    /// Requests of these classes are writes that go through to the store.
    fn writes_through(server: &Server) -> [bool; CLASSES_MAX] {
        let through = server.setup.spec.params.flag("write_through");
        let mut writes = [false; CLASSES_MAX];
        for (write, class) in writes.iter_mut().zip(&server.setup.classes) {
            *write = through && class.writes;
        }
        writes
    }

    /// Lookups per second, by what was served last.
    fn lookups(server: &Server) -> f64 {
        let writes = CacheBehavior::writes_through(server);
        let served = server.tier.last().class_served;
        served.iter().zip(writes).filter(|(_, write)| !write).map(|(rate, _)| rate).sum()
    }

    /// Share of fetches that succeed, and the time of one, seconds.
    fn store(server: &Server) -> (f64, f64) {
        let edges = server.tier.last().edges.iter();
        edges.fold((1.0, 0.0), |(ok, time), edge| (ok * (1.0 - edge.failed), time + edge.ok_s))
    }

    /// Share of the misses whose key no other miss has asked for.
    fn distinct(&self, server: &Server) -> f64 {
        let miss = 1.0 - self.content.hit;
        let keys = server.setup.spec.params.number("hot_keys") * miss;
        let (_, time_s) = CacheBehavior::store(server);
        distinct(CacheBehavior::lookups(server) * miss * time_s, keys)
    }

    /// Who calls the store, and what a miss costs that waits for the fetch of another one.
    fn misses(&mut self, server: &mut Server) {
        let miss = 1.0 - self.content.hit;
        let fetch = if self.settings.single_flight { miss * self.distinct(server) } else { miss };
        follow(&mut self.missed, miss);
        follow(&mut self.fetched, fetch.min(self.missed));
        let (ok, time_s) = CacheBehavior::store(server);
        let waiting = (self.missed - self.fetched).max(0.0);
        let writes = CacheBehavior::writes_through(server);
        let mut share: PerClass = [self.fetched; CLASSES_MAX];
        for c in 0..CLASSES_MAX {
            if writes[c] {
                share[c] = 1.0;
            } else if waiting > STEP {
                server.knobs.lock_wait_s[c] += waiting * time_s;
                let failed = waiting * (1.0 - ok);
                let error = &mut server.knobs.error[c];
                *error = *error + failed - *error * failed;
            }
        }
        for edge in 0..server.setup.outgoing.len() {
            server.make_calls(edge, &share);
        }
    }

    /// Loads by order are background calls: no request waits for them. Returns how many succeed.
    fn load(&mut self, server: &Server, out: &mut Outbox, delta_s: f64) -> f64 {
        let rate = self.load_rate.min(self.to_load / delta_s);
        let (Some(calls), Some(edge)) = (out.calls.first_mut(), server.setup.outgoing.first())
        else {
            return 0.0;
        };
        let writes = CacheBehavior::writes_through(server);
        let reads = |c: &usize| edge.calls[*c] > 0.0 && !writes[*c];
        let Some(class) = (0..server.setup.classes.len()).find(reads) else { return 0.0 };
        if rate <= 0.0 || server.knobs.running() <= 0.0 {
            return 0.0;
        }
        self.to_load -= rate * delta_s;
        calls.rate[class] += rate;
        let failed = server.tier.last().edges.first().map_or(0.0, |e| e.first_failure);
        rate * (1.0 - failed)
    }

    /// The entries are in the memory of the replicas.
    fn fill_memory(&mut self, server: &mut Server, entry_bytes: f64) {
        let each = self.content.entries * entry_bytes / self.replicas.max(1.0);
        for (group, held) in server.state.groups.iter_mut().zip(&mut self.held) {
            if group.memory <= server.fixed.memory {
                // New processes, whatever started them: nothing of it counts any more.
                *held = 0.0;
            }
            group.memory += each - *held;
            *held = each;
        }
    }

    fn note(&mut self, server: &Server, cx: &mut Cx<'_>, entry_bytes: f64) {
        // It holds for all rounds of its tick.
        let (at, entries) = self.expired;
        let at_once = if at == cx.tick().0 { entries } else { 0.0 };
        let noted = &mut self.noted;
        see(cx, ENTRY_BYTES, &mut noted.entry_bytes, entry_bytes, 0.01);
        see(cx, MAX_MEMORY, &mut noted.max_memory, self.settings.max_memory, 0.0);
        see(cx, EXPIRED, &mut noted.expired, at_once, 0.0);
        let hottest = self.hottest(server);
        see(cx, HOTTEST, &mut self.noted.hottest, hottest, 0.0);
    }
}

fn wanted(server: &Server) -> f64 {
    server.state.groups.iter().map(|g| f64::from(g.wanted)).sum()
}

fn follow(value: &mut f64, new: f64) {
    if (new - *value).abs() > STEP * value.abs() {
        *value = new;
    }
}

/// Emits a level that changed by more than the share `step`.
fn see(cx: &mut Cx<'_>, key: u16, noted: &mut f64, now: f64, step: f64) {
    if (now - *noted).abs() > step * noted.abs() {
        *noted = now;
        cx.emit(key, now, "");
    }
}

impl Behavior for CacheBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure = OwnFailure { code: Code::Internal, message: "command failed" };

    fn renewed(&mut self, server: &mut Server, groups: &[usize]) {
        if !self.started {
            self.start(server);
        }
        let gone: f64 = groups.iter().map(|at| f64::from(server.state.groups[*at].wanted)).sum();
        self.content.lose(gone / wanted(server).max(1.0));
    }

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        if !self.started {
            self.start(server);
        }
        self.spread(server);
        let tick = cx.tick().0;
        let kept: f64 = server
            .pulled("cache.expiry_storm")
            .map(|a| 1.0 - a.pull.args.number("ratio"))
            .product();
        let gone = self.expiry.round(tick, 1.0 - kept, self.settings.life());
        if gone.at_once > 0.0 {
            self.expired = (tick, self.content.entries * gone.at_once);
            self.content.lose(gone.at_once);
        }
        let replaced: f64 = server
            .state
            .groups
            .iter()
            .filter(|g| tick < g.rolling_until)
            .map(|g| f64::from(g.wanted))
            .sum();
        self.lost =
            1.0 / self.settings.ttl_s + gone.rate + REPLACED * replaced / self.replicas.max(1.0);
        let uneven = self.hottest(server) * self.replicas;
        if let Some(slots) = &mut server.knobs.concurrency {
            *slots /= uneven.max(1.0);
        }
        self.misses(server);
        let entry = server.setup.spec.params.number("entry_size") * self.content.size;
        self.note(server, cx, entry);
    }

    fn served(&mut self, server: &mut Server, cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        let params = &server.setup.spec.params;
        let (entry, keys) = (params.number("entry_size"), params.number("hot_keys"));
        let size: f64 =
            server.pulled("cache.big_entries").map(|a| a.pull.args.number("factor")).product();
        let (ok, _) = CacheBehavior::store(server);
        let loaded = self.load(server, out, cx.delta_s());
        out.row[first + MISSED] = self.missed;
        out.row[first + FETCHED] = self.fetched;
        self.content.round(&Flow {
            lookups: CacheBehavior::lookups(server) * ok * self.distinct(server),
            loaded,
            lost: self.lost,
            keys,
            room: self.room(server, self.content.size),
            size,
            delta_s: cx.delta_s(),
        });
        out.row[first + ENTRIES] = self.content.entries;
        out.row[first + EVICTED] = self.content.evicted;
        self.fill_memory(server, entry * self.content.size);
    }

    fn accepts(&self, server: &Server, order: &Order) -> Option<Result<(), Refusal>> {
        match order.verb.as_str() {
            "set_cache" => Some(Settings::accepts(order)),
            "warm" if server.setup.outgoing.is_empty() => {
                Some(Err(Refusal::because("there is no store behind it to load from")))
            }
            "flush" | "warm" => Some(Ok(())),
            _ => None,
        }
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        if !self.started {
            self.start(server);
        }
        let text = match order.verb.as_str() {
            "flush" => {
                self.content.lose(1.0);
                "all entries dropped".to_string()
            }
            "warm" => {
                self.to_load = order.args.number("entries");
                self.load_rate = order.args.number("rate");
                let (entries, rate) = (self.to_load, self.load_rate);
                format!("loading the {entries:.0} most popular entries, {rate} per second")
            }
            "set_cache" => {
                self.settings.change(&order.args);
                self.settings.describe()
            }
            _ => return false,
        };
        cx.emit(server::keys::NOTE, 0.0, text);
        true
    }

    fn calls_made(past: &PastOf<'_>, _edge: usize, class: usize) -> f64 {
        let through = past.setup.spec.params.flag("write_through");
        let writes = past.setup.classes.get(class).is_some_and(|class| class.writes);
        if through && writes { 1.0 } else { past.row[own(past.setup) + FETCHED].min(1.0) }
    }

    fn injected(&mut self, server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        if !self.started {
            self.start(server);
        }
        if pull.lever == "cache.cold" {
            self.content.lose(pull.args.number("ratio"));
            cx.emit(server::keys::NOTE, 0.0, "entries dropped by a client's command");
        }
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        if matches!(query, Query::Config) {
            facts.insert("entries".into(), self.settings.describe());
            facts.insert("maxmemory".into(), format!("{:.0}", self.settings.max_memory));
            return;
        }
        let entry = server.setup.spec.params.number("entry_size") * self.content.size;
        let used = self.content.entries * entry / self.replicas.max(1.0) / MIB;
        let most = self.settings.max_memory / MIB;
        facts.insert("entries".into(), format!("{:.0}", self.content.entries));
        facts.insert("hit ratio".into(), format!("{:.1} %", 100.0 * self.content.hit));
        facts.insert("memory".into(), format!("{used:.0} of {most:.0} MiB per replica"));
        facts.insert("evicted".into(), format!("{:.0} per second", self.content.evicted));
        if self.to_load > 0.0 {
            facts.insert("loading".into(), format!("{:.0} entries left", self.to_load));
        }
        let hottest = 100.0 * self.hottest(server);
        facts.insert("busiest replica".into(), format!("{hottest:.0} % of the load"));
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("cache_hit_ratio".into(), self.content.hit);
        facts.insert("cache_entries".into(), self.content.entries);
    }
}
