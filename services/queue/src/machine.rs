//! The machine of a queue. Its consumers are a server like another: replica groups, handlers with
//! dependencies, levers, orders. What callers bring is for the broker; what the consumers fetch is
//! the server's load.

use crate::broker::{Broker, Crew, Poison, Terms};
use crate::plan::plan;
use crate::signals::{
    CONSUMED, DEAD, HANDLER, HANDLER_FAILED, LATE, LOST, MORE, OFFSET, OLDEST, PARTITION,
    REBALANCING, REFUSE, STILL,
};
use machine::{Cx, Machine, Past, SnapshotError};
use model::{
    Answer, CLASSES_MAX, Hop, HopReply, Inbox, LeverPull, Next, Order, Outbox, ParamError,
    PerClass, Query, Refusal, Setup, Severity,
};
use serde::{Deserialize, Serialize};
use server::signals::{FAILED, OFFERED, QUEUE, REFUSED};
use server::{Phrases, Server, keys};
use std::collections::BTreeMap;
use telemetry::Levels;

/// Why a queue has no health check.
const UNCHECKED: &str = "its consumers fetch by themselves: no balancer checks them";

/// What the change list heard last of what can change in every round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Noted {
    dead: f64,
    refuse: PerClass,
    still: f64,
    rebalancing: bool,
}

/// One queue.
#[derive(Clone, Debug)]
pub(crate) struct QueueMachine {
    server: Server,
    terms: Terms,
    broker: Broker,
    noted: Noted,
    /// First of the columns behind those of the edges.
    more: usize,
    /// Buffers of a round.
    feed: Inbox,
    deliveries: Vec<f64>,
}

impl QueueMachine {
    /// In its first state.
    ///
    /// # Errors
    /// Names what does not fit in the setup.
    pub(crate) fn create(setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        if setup.spec.params.number("probe_timeout") > 0.0 {
            let (name, message) = ("probe_timeout".into(), UNCHECKED.into());
            return Err(ParamError { name, message });
        }
        let server = Server::create(setup, MORE)?;
        let terms = Terms::of(setup);
        Ok(Box::new(QueueMachine {
            broker: Broker::new(&terms, server.spec.service_s),
            more: server::signals::own(setup),
            server,
            terms,
            noted: Noted::default(),
            feed: Inbox::default(),
            deliveries: Vec::new(),
        }))
    }

    /// What is this kind's own among the knobs; orders to shed are for the broker.
    fn set_knobs(&mut self, cx: &Cx<'_>) {
        self.server.set_knobs(cx);
        let mut slow = [1.0_f64; CLASSES_MAX];
        for active in self.server.pulled("queue.slow_consumers") {
            let chosen = self.server.classes(active.pull.args.text("class"));
            for c in (0..CLASSES_MAX).filter(|c| chosen[*c]) {
                slow[c] *= active.pull.args.number("factor");
            }
        }
        for (knob, factor) in self.server.knobs.slow.iter_mut().zip(slow) {
            *knob *= factor;
        }
        self.broker.refuse = std::mem::take(&mut self.server.knobs.refuse);
    }

    fn crew(&self) -> Crew {
        let slots = self.server.knobs.concurrency.unwrap_or(self.server.spec.concurrency);
        let hung = self.broker.hanging();
        Crew::new(self.server.knobs.running(), slots, hung, self.terms.partitions)
    }

    /// Consumers hang from the round on in which the lever is in force.
    fn hang(&mut self) {
        let of = |a: &server::Active| (a.pull.id, a.pull.args.number("ratio"));
        let pulled: Vec<_> = self.server.pulled("queue.stuck").map(of).collect();
        let crew = self.crew();
        self.broker.hang(&pulled, &crew);
    }

    fn fill_row(&self, out: &mut Outbox) {
        let (broker, row) = (&self.broker, &mut out.row);
        row[OFFERED] = broker.produced;
        row[REFUSED] = broker.full;
        row[QUEUE] = self.depth();
        row[LATE] = broker.late;
        row[PARTITION] = broker.backlog.most();
        row[CONSUMED] = broker.deliveries.consumed;
        row[OLDEST] = broker.backlog.oldest_s() + self.fetching() / broker.produced.max(1e-9);
        row[FAILED] = broker.unacknowledged;
        row[self.more + HANDLER_FAILED] = broker.deliveries.failed;
        row[self.more + HANDLER] = broker.deliveries.hold_s;
    }

    /// Messages that are on their way to a consumer.
    fn fetching(&self) -> f64 {
        self.broker.produced * (1.0 - self.broker.unacknowledged) * self.terms.fetch_s
    }

    fn depth(&self) -> f64 {
        self.broker.backlog.total() + self.fetching()
    }

    fn note(&mut self, cx: &mut Cx<'_>) {
        let (broker, noted) = (&self.broker, &mut self.noted);
        // In steps, for a handler that always fails makes some in every round.
        if broker.dead - noted.dead >= (0.02 * noted.dead).max(1.0 - 1e-9) {
            noted.dead = broker.dead;
            cx.emit(DEAD, broker.dead.floor(), "");
        }
        for (c, (now, before)) in (0_u16..).zip(broker.refuse.iter().zip(&mut noted.refuse)) {
            if now != before {
                *before = *now;
                cx.emit(REFUSE + c, *now, "");
            }
        }
        let still = broker.poisons.last().map_or(0.0, |p| (p.partition + 1) as f64);
        if still != noted.still {
            noted.still = still;
            cx.emit(STILL, still, "");
            if let Some(poison) = broker.poisons.last() {
                let partition = &broker.backlog.partitions[poison.partition];
                cx.emit(OFFSET, self.offset(partition.committed), "");
            }
        }
        let rebalancing = self.broker.pause_s > 0.0;
        if rebalancing != self.noted.rebalancing {
            self.noted.rebalancing = rebalancing;
            let text = if rebalancing { "consumer group rebalances" } else { "" };
            cx.emit(REBALANCING, f64::from(u8::from(rebalancing)), text);
        }
    }

    /// The number that a partition's log has for so many messages done with.
    fn offset(&self, committed: f64) -> f64 {
        let first = self.server.setup.noise.branch("offset").bits(0) % 1_000_000;
        first as f64 + committed.floor()
    }

    /// Nothing stands in the way of a partition any more.
    fn cure(&mut self, partition: Option<usize>) {
        let hit = |p: &Poison| partition.is_none_or(|at| p.partition == at);
        for poison in self.broker.poisons.iter().filter(|p| hit(p)) {
            let active = self.server.state.active.iter_mut();
            active.filter(|a| a.pull.id == poison.pull).for_each(|a| a.healed = true);
        }
        self.broker.poisons.retain(|p| !hit(p));
    }

    /// An order of its own on one partition; how many messages it was about.
    fn move_on(&mut self, at: usize, messages: f64) -> f64 {
        let moved = self.broker.backlog.partitions[at].commit(messages);
        if moved > 0.0 {
            self.cure(Some(at));
        }
        moved
    }

    fn park(&mut self, cx: &mut Cx<'_>, at: usize) {
        let offset = self.offset(self.broker.backlog.partitions[at].committed);
        let moved = self.move_on(at, 1.0);
        self.broker.dead += moved;
        let text = if moved > 0.0 {
            format!("partition {at}: message at offset {offset:.0} put among the dead letters")
        } else {
            format!("partition {at}: empty, nothing to put among the dead letters")
        };
        cx.emit(keys::NOTE, 0.0, text);
    }

    fn lose(&mut self, cx: &mut Cx<'_>, messages: f64, text: String) {
        self.broker.lost += messages;
        cx.emit(LOST, self.broker.lost, "");
        cx.emit(keys::NOTE, 0.0, text);
    }

    fn status(&self, facts: &mut BTreeMap<String, String>) {
        let (broker, crew) = (&self.broker, self.crew());
        facts.remove("queue");
        let depth =
            format!("{:.0}, the oldest {:.1} s old", self.depth(), { broker.backlog.oldest_s() });
        facts.insert("messages waiting".into(), depth);
        facts.insert("dead letters".into(), format!("{:.0}", broker.dead.floor()));
        let running = self.server.knobs.running();
        let mut text = format!(
            "{running:.0} consumers, {} of them with partitions of {}",
            crew.useful, self.terms.partitions
        );
        if broker.pause_s > 0.0 {
            text += ", rebalancing";
        }
        facts.insert("consumer group".into(), text);
        let mut behind: Vec<_> = broker.backlog.partitions.iter().enumerate().collect();
        behind.sort_by(|(_, a), (_, b)| b.lag.total_cmp(&a.lag));
        for (at, partition) in behind.into_iter().take(4).filter(|(_, p)| p.lag >= 1.0) {
            let offset = self.offset(partition.committed);
            let mut text = format!(
                "{:.0} behind, committed offset {offset:.0}, the oldest {:.0} s old",
                partition.lag, partition.age_s
            );
            if broker.is_poisoned(at) {
                text += ", does not move: the message at that offset is delivered again and again";
            }
            facts.insert(format!("partition {at}"), text);
        }
    }

    fn config(&self, facts: &mut BTreeMap<String, String>) {
        let terms = &self.terms;
        facts.remove("queue limit");
        facts.insert("partitions".into(), terms.partitions.to_string());
        let most = match terms.max_deliveries {
            0 => "without limit".to_string(),
            most => format!("at most {most}, then a dead letter"),
        };
        facts.insert("deliveries".into(), most);
        facts.insert("freshness".into(), format!("{} s", terms.freshness_s));
        facts.insert("depth limit".into(), format!("{} messages", terms.depth_limit));
    }
}

impl Phrases for QueueMachine {
    fn own_error(&self, _levels: &Levels) -> String {
        "handler failed, message not committed and delivered again".into()
    }

    fn more(&self, row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        let still = levels.get(STILL, 0.0);
        if still > 0.0 {
            let text = format!(
                "handler ended at partition {:.0} offset {:.0}: cannot decode message, unknown \
                 field; not committed",
                still - 1.0,
                levels.get(OFFSET, 0.0)
            );
            lines.push((Severity::Error, text));
        }
        if row[OLDEST] > self.terms.freshness_s {
            let text = format!(
                "consumer group is behind: {:.0} messages, the oldest {:.0} s old",
                row[QUEUE], row[OLDEST]
            );
            lines.push((Severity::Warn, text));
        }
    }
}

impl Machine for QueueMachine {
    fn round(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox) {
        let renewed = self.server.take_grants(inbox);
        if renewed.len() == self.server.state.groups.len() {
            self.server.heal(&["queue.stuck"]);
        }
        self.set_knobs(cx);
        self.server.take_names(inbox);
        let dt_s = cx.delta_s();
        self.broker.join(self.server.knobs.running(), !renewed.is_empty(), &self.terms);
        self.broker.take(&inbox.calls, &self.terms, dt_s);
        self.hang();
        let crew = self.crew();
        self.broker.fetch(&crew, dt_s, &mut self.deliveries);
        self.feed.calls.clear();
        self.feed.calls.push(self.broker.feed(&crew, &self.deliveries));
        self.feed.reports.clone_from(&inbox.reports);
        self.server.serve(cx, &self.feed, out);
        self.broker.handle(&self.server, &self.deliveries, &self.terms, dt_s);
        self.broker.foresee(&crew, &self.terms);
        out.report = self.broker.report(&self.terms);
        self.fill_row(out);
        self.note(cx);
    }

    fn accepts(&self, order: &Order) -> Result<(), Refusal> {
        let args = &order.args;
        if args.has("partition") && args.number("partition") as usize >= self.terms.partitions {
            let (asked, last) = (args.number("partition"), self.terms.partitions - 1);
            return Err(Refusal::because(format!(
                "no partition {asked}; there are {}, 0 to {last}",
                self.terms.partitions
            )));
        }
        if order.verb == "set_policy" && args.has("queue_limit") {
            let text = "its messages wait at the broker, whose limit is no policy: only what is \
                        set towards a dependency can be changed";
            return Err(Refusal::because(text));
        }
        if order.verb == "set_health_check" {
            return Err(Refusal::because(UNCHECKED));
        }
        self.server.accepts(order)
    }

    fn operate(&mut self, cx: &mut Cx<'_>, order: &Order) {
        let at = order.args.number("partition") as usize;
        match order.verb.as_str() {
            "park_message" => self.park(cx, at),
            "skip_offset" => {
                let moved = self.move_on(at, order.args.number("messages"));
                let text = format!("partition {at}: offset moved past {moved:.0} messages");
                self.lose(cx, moved, text);
            }
            "purge" => {
                let moved = self.broker.backlog.purge();
                self.cure(None);
                self.lose(cx, moved, format!("purged: {moved:.0} messages deleted"));
            }
            _ => drop(self.server.operate(cx, order)),
        }
    }

    fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        if pull.lever == server::health::LEVER {
            return;
        }
        self.server.inject(cx, pull);
        if pull.lever == "queue.poison" {
            let last = self.terms.partitions - 1;
            let partition = (pull.args.number("partition") as usize).min(last);
            self.broker.poisons.push(Poison { pull: pull.id, partition });
        }
    }

    fn clear(&mut self, _cx: &mut Cx<'_>, pull: &LeverPull) {
        self.server.clear(pull);
        self.broker.poisons.retain(|p| p.pull != pull.id);
    }

    fn read(&self, past: &Past<'_>, query: &Query) -> Answer {
        if matches!(query, Query::Logs { .. }) {
            return Answer::Logs(server::logs::logs(&self.server.setup, self, past, query));
        }
        let mut facts = self.server.facts(query);
        if matches!(query, Query::Config) {
            self.config(&mut facts);
        } else {
            self.status(&mut facts);
        }
        Answer::Facts(facts)
    }

    fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        self.server.inspect(facts);
        facts.insert("queue".into(), self.broker.backlog.total());
        facts.insert("oldest_s".into(), self.broker.backlog.oldest_s());
        facts.insert("late_ratio".into(), self.broker.late);
        facts.insert("dead_letters".into(), self.broker.dead);
        facts.insert("lost_writes".into(), self.broker.lost);
        facts.insert("partitions_still".into(), self.broker.poisons.len() as f64);
    }

    fn plan(&self, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
        plan(&self.server.setup, past, hop, replies)
    }

    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        self.server.snapshot(&(&self.broker, &self.noted))
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        (self.broker, self.noted) = self.server.restore(bytes)?;
        Ok(())
    }

    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
