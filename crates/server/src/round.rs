//! One round of a server: grants become replicas, levers and orders become knobs, the station
//! serves, and what it needs goes to the host.

use crate::keys::{self, EdgeKey};
use crate::signals;
use crate::state::{Fixed, Server};
use machine::Cx;
use model::{CLASSES_MAX, GROUPS_MAX, Inbox, Need, Outbox, Resolution};

/// Above this share of its limit, memory costs time: collections get longer.
const GC_FROM: f64 = 0.8;
/// Share of the work that collections eat when memory is at its limit.
const GC_COST: f64 = 0.5;
const MIB: f64 = 1_048_576.0;

impl Server {
    /// Takes the host's grants over; new processes start with empty queues, pools and caches.
    /// Returns the groups whose processes are new.
    pub fn take_grants(&mut self, inbox: &Inbox) -> Vec<usize> {
        let fresh = self.fixed.memory;
        let mut renewed = Vec::new();
        for (at, grant) in inbox.grants.iter().enumerate().take(self.state.groups.len()) {
            if self.state.groups[at].granted(grant, fresh) {
                renewed.push(at);
            }
        }
        if renewed.len() == self.state.groups.len() {
            self.tier.restart(&self.spec);
            self.heal(&["edge.breaker_stuck"]);
        } else {
            // The pool is shared by all groups: new processes give their part of a leak back.
            let all: f64 = self.state.groups.iter().map(|g| f64::from(g.wanted)).sum();
            for at in &renewed {
                let share = f64::from(self.state.groups[*at].wanted) / all.max(1.0);
                for edge in 0..self.spec.edges.len() {
                    self.tier.reset_pool(edge, share);
                }
            }
        }
        renewed
    }

    /// Sets the knobs from replicas, hosts, orders and generic levers. A kind adds its own after.
    pub fn set_knobs(&mut self, cx: &Cx<'_>) {
        self.knobs.reset();
        let Fixed { memory_limit: limit, outdated_errors, .. } = self.fixed;
        let concurrency = self.spec.concurrency;
        let mut slots = 0.0;
        for (at, group) in self.state.groups.iter().enumerate().take(GROUPS_MAX) {
            let pressure = (group.memory / limit.max(1.0) - GC_FROM) / (1.0 - GC_FROM);
            let knobs = &mut self.knobs.groups[at];
            knobs.running = group.serving(cx.tick().0);
            knobs.slow =
                1.0 / group.grant.cpu.max(0.01) / (1.0 - GC_COST * pressure.clamp(0.0, 1.0));
            knobs.error = if group.outdated() { outdated_errors } else { 0.0 };
            slots += knobs.running * (concurrency - group.slots_leaked).max(0.01);
        }
        let running = self.knobs.running();
        if running > 0.0 {
            self.knobs.concurrency = Some(slots / running);
        }
        self.knobs.queue = Some(self.state.queue);
        self.knobs.refuse = self.state.shed;
        self.pull_levers();
    }

    /// Takes over what the names of its callees stand for.
    pub fn take_names(&mut self, inbox: &Inbox) {
        for (k, names) in inbox.names.iter().enumerate().take(self.spec.edges.len()) {
            if *names != Resolution::RIGHT {
                self.knobs.edge_mut(k).names = *names;
            }
        }
    }

    /// Serves with the present knobs and fills in everything of the outbox but what a kind adds.
    pub fn serve(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox) {
        match &self.beside {
            None => {
                let (calls, reports) = (&inbox.calls, &inbox.reports);
                self.tier.round(&self.spec, &self.knobs, calls, reports, cx.delta_s());
            }
            Some(beside) => {
                let calls: Vec<_> = inbox.calls.iter().chain([beside]).copied().collect();
                self.tier.round(&self.spec, &self.knobs, &calls, &inbox.reports, cx.delta_s());
            }
        }
        let round = self.tier.last();
        out.report = round.report;
        out.motion = round.motion;
        out.calls.clear();
        out.calls.extend_from_slice(&round.calls);
        signals::fill(round, &mut out.row);
        self.grow(cx);
        self.ask(cx, out);
        self.note(cx);
    }

    /// What leaks grows.
    fn grow(&mut self, cx: &Cx<'_>) {
        let rate = |server: &Server, lever: &str| -> f64 {
            server.pulled(lever).map(|a| a.pull.args.number("rate")).sum()
        };
        let memory = rate(self, "server.memory_leak") * MIB / 60.0 * cx.delta_s();
        let slots = rate(self, "server.slots_leak") / 60.0 * cx.delta_s();
        if memory == 0.0 && slots == 0.0 {
            return;
        }
        let most = self.spec.concurrency;
        for group in self.state.groups.iter_mut().filter(|g| g.grant.running > 0) {
            group.memory += memory;
            group.slots_leaked = (group.slots_leaked + slots).min(most);
        }
    }

    /// What the groups need of their hosts.
    fn ask(&self, cx: &Cx<'_>, out: &mut Outbox) {
        let running = self.knobs.running().max(1e-9);
        let cores = self.tier.last().cpu_cores * self.fixed.cpu_share;
        out.needs.clear();
        for (at, group) in self.state.groups.iter().enumerate() {
            let mut need = Need::idle(self.setup.id, at as u8, group.wanted);
            need.cpu_cores = cores * self.knobs.groups[at].running / running;
            need.memory = group.memory;
            let looping = |a: &crate::state::Active| {
                a.since <= cx.tick().0 && self.is_group(at, a.pull.args.text("group"))
            };
            if self.pulled("server.crash_loop").any(looping) {
                need.exit_code = 1;
            }
            out.needs.push(need);
        }
    }

    /// Notes in the change list what changed of that which does not move by itself.
    fn note(&mut self, cx: &mut Cx<'_>) {
        let beside = self.beside();
        // All else that is noted is a function of what makes a round repeat the last one.
        if self.tier.repeated() && self.noted_beside.as_ref() == Some(&beside) {
            return;
        }
        let mut noted = std::mem::take(&mut self.state.noted);
        let mut notes = Notes { noted: &mut noted, at: 0 };
        for (at, g) in self.knobs.groups.iter().enumerate().take(self.state.groups.len()) {
            let share = self.tier.last().group_share[at];
            let unhealthy = beside.unhealthy[at];
            let at = at as u16;
            notes.see(cx, keys::RUNNING + at, g.running, 0.0);
            notes.see(cx, keys::GROUP_SLOW + at, g.slow, 1.0);
            notes.see(cx, keys::GROUP_ERROR + at, g.error, 0.0);
            notes.see(cx, keys::GROUP_SHARE + at, share, -1.0);
            notes.see(cx, keys::UNHEALTHY + at, f64::from(unhealthy), 0.0);
        }
        for c in 0..self.setup.classes.len().min(CLASSES_MAX) {
            let at = c as u16;
            notes.see(cx, keys::CLASS_ERROR + at, self.knobs.error[c], 0.0);
            notes.see(cx, keys::CLASS_SLOW + at, self.knobs.slow[c], 1.0);
            notes.see(cx, keys::REFUSE + at, self.knobs.refuse[c], 0.0);
            notes.see(cx, keys::LOCK + at, self.knobs.lock_wait_s[c], 0.0);
        }
        let slots = self.knobs.concurrency.unwrap_or(self.spec.concurrency);
        notes.see(cx, keys::PROBE_TIMEOUT, 1000.0 * beside.probe_timeout_s, 0.0);
        notes.see(cx, keys::WANTED, f64::from(beside.wanted), -1.0);
        notes.see(cx, keys::SLOTS, slots, -1.0);
        notes.see(cx, keys::PLACES, self.knobs.running() * self.state.queue, -1.0);
        self.note_edges(cx, &mut notes);
        self.state.noted = noted;
        self.noted_beside = Some(beside);
    }

    fn beside(&self) -> Beside {
        let mut unhealthy = [0; GROUPS_MAX];
        for (count, group) in unhealthy.iter_mut().zip(&self.state.groups) {
            *count = group.rotation.unhealthy();
        }
        let wanted = self.state.groups.iter().map(|g| g.wanted).sum();
        Beside { wanted, unhealthy, probe_timeout_s: self.check().timeout_s }
    }

    fn note_edges(&self, cx: &mut Cx<'_>, notes: &mut Notes<'_>) {
        let calm = flow::EdgeKnobs::default();
        for (k, policy) in self.state.policies.iter().enumerate() {
            let knobs = self.knobs.edges.get(k).unwrap_or(&calm);
            let key = |key: EdgeKey| keys::edge(k, key);
            let edge = self.tier.last().edges.get(k);
            notes.see(cx, key(EdgeKey::Timeout), policy.timeout_s, -1.0);
            notes.see(cx, key(EdgeKey::Retries), f64::from(policy.retries), -1.0);
            notes.see(cx, key(EdgeKey::Backoff), policy.backoff_s, -1.0);
            notes.see(cx, key(EdgeKey::Delay), knobs.fault.delay_s, 0.0);
            notes.see(cx, key(EdgeKey::RequestLoss), knobs.fault.request_loss, 0.0);
            notes.see(cx, key(EdgeKey::ReplyLoss), knobs.fault.reply_loss, 0.0);
            notes.see(cx, key(EdgeKey::Abort), knobs.fault.abort, 0.0);
            notes.see(cx, key(EdgeKey::Passed), edge.map_or(1.0, |e| e.passed), 1.0);
            notes.see(cx, key(EdgeKey::Granted), edge.map_or(1.0, |e| e.granted), 1.0);
            notes.see(cx, key(EdgeKey::NoConnection), edge.map_or(0.0, |e| e.no_connection), 0.0);
            notes.see_share(cx, key(EdgeKey::NameMissing), knobs.names.missing);
            notes.see_share(cx, key(EdgeKey::NameAstray), knobs.names.astray);
        }
    }
}

/// What is noted and does not follow from the inputs and the state of the station.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Beside {
    wanted: u32,
    unhealthy: [u32; GROUPS_MAX],
    probe_timeout_s: f64,
}

/// The values noted last, in the order in which they are seen; the order never changes.
struct Notes<'a> {
    noted: &'a mut Vec<f64>,
    at: usize,
}

impl Notes<'_> {
    /// Emits `value` if it is not what was noted last; `calm` is what holds before the first note.
    fn see(&mut self, cx: &mut Cx<'_>, key: u16, value: f64, calm: f64) {
        if self.noted.len() == self.at {
            self.noted.push(calm);
        }
        let before = &mut self.noted[self.at];
        self.at += 1;
        // What a host or a breaker moves a little in every tick is noted in steps of 1 %.
        let step = 0.01 * before.abs().max(0.1);
        Notes::emit(cx, key, value, before, step, &[calm]);
    }

    /// The same for a share that moves for minutes, as caches run out: in steps of 0.01.
    fn see_share(&mut self, cx: &mut Cx<'_>, key: u16, value: f64) {
        if self.noted.len() == self.at {
            self.noted.push(0.0);
        }
        let before = &mut self.noted[self.at];
        self.at += 1;
        Notes::emit(cx, key, value, before, 0.01, &[0.0, 1.0]);
    }

    /// `ends` are values that are noted however near the last one is.
    fn emit(cx: &mut Cx<'_>, key: u16, value: f64, before: &mut f64, step: f64, ends: &[f64]) {
        if value != *before && ((value - *before).abs() > step || ends.contains(&value)) {
            *before = value;
            cx.emit(key, value, "");
        }
    }
}
