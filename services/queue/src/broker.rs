//! The broker: what its consumers can take, what they come to, and what it tells its producers.

use crate::backlog::Backlog;
use flow::latency::within;
use model::{CLASSES_MAX, Calls, EdgeId, PerClass, Report, Setup};
use serde::{Deserialize, Serialize};
use server::Server;

/// A delay that stands for "as things are, never", seconds.
const NEVER_S: f64 = 1e6;

/// A message that its handler cannot survive, at the head of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Poison {
    /// The lever pull behind it.
    pub(crate) pull: u64,
    /// The partition.
    pub(crate) partition: usize,
}

/// Consumers that hang, and are alive as far as the group knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hung {
    /// The lever pull behind it.
    pull: u64,
    /// How many.
    consumers: usize,
}

/// What does not change, of the setup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) ack_s: f64,
    pub(crate) depth_limit: f64,
    pub(crate) fetch_s: f64,
    pub(crate) freshness_s: f64,
    pub(crate) max_deliveries: u32,
    pub(crate) partitions: usize,
    pub(crate) rebalance_s: f64,
}

impl Terms {
    pub(crate) fn of(setup: &Setup) -> Terms {
        let number = |name: &str| setup.spec.params.number(name);
        Terms {
            ack_s: number("ack_time"),
            depth_limit: number("depth_limit"),
            fetch_s: number("fetch_delay"),
            freshness_s: number("freshness"),
            max_deliveries: number("max_deliveries") as u32,
            partitions: number("partitions") as usize,
            rebalance_s: number("rebalance"),
        }
    }
}

/// Consumers that have partitions in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Crew {
    /// How many; partition number p belongs to consumer number p modulo this.
    pub(crate) useful: usize,
    /// The first so many of them hang.
    pub(crate) hung: usize,
    /// Messages that one handles at once.
    pub(crate) slots: f64,
}

impl Crew {
    /// Out of `running` consumers with `slots` each, of which `hung` hang.
    pub(crate) fn new(running: f64, slots: f64, hung: usize, partitions: usize) -> Crew {
        if running <= 0.0 {
            return Crew::default();
        }
        let useful = (running.ceil() as usize).min(partitions);
        let whole = running.min(partitions as f64) / useful as f64;
        Crew { useful, hung: hung.min(useful), slots: slots * whole }
    }

    /// Whether the consumer of partition `at` works.
    fn works(&self, at: usize) -> bool {
        self.useful > 0 && at % self.useful >= self.hung
    }
}

/// How the round's deliveries went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deliveries {
    /// Messages done with per second, dead letters included.
    pub(crate) consumed: f64,
    /// Share of the deliveries that fail.
    pub(crate) failed: f64,
    /// Messages done with per delivery.
    pub(crate) done: f64,
    /// Share of them that are dead letters.
    pub(crate) dead: f64,
    /// Time of one delivery, seconds.
    pub(crate) hold_s: f64,
}

/// Everything of a queue that changes, beside its consumers' processes and edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Broker {
    pub(crate) backlog: Backlog,
    pub(crate) poisons: Vec<Poison>,
    pub(crate) hung: Vec<Hung>,
    pub(crate) deliveries: Deliveries,
    /// Consumers do not fetch for this long, seconds.
    pub(crate) pause_s: f64,
    /// Consumers that were members of the group in the last round.
    pub(crate) members: Option<f64>,
    /// Messages published per second.
    pub(crate) produced: f64,
    /// Share of the publishes that a full broker refuses.
    pub(crate) full: f64,
    /// Share of the publishes that are not acknowledged, for any reason.
    pub(crate) unacknowledged: f64,
    /// Publishes turned away by order, by class.
    pub(crate) refuse: PerClass,
    /// Share of the messages published now that are handled too late, or never.
    pub(crate) late: f64,
    /// Dead letters so far.
    pub(crate) dead: f64,
    /// Messages lost so far: skipped or purged.
    pub(crate) lost: f64,
}

impl Broker {
    pub(crate) fn new(terms: &Terms, service_s: f64) -> Broker {
        Broker {
            backlog: Backlog::empty(terms.partitions),
            poisons: Vec::new(),
            hung: Vec::new(),
            deliveries: Deliveries { done: 1.0, hold_s: service_s, ..Deliveries::default() },
            pause_s: 0.0,
            members: None,
            produced: 0.0,
            full: 0.0,
            unacknowledged: 0.0,
            refuse: [0.0; CLASSES_MAX],
            late: 0.0,
            dead: 0.0,
            lost: 0.0,
        }
    }

    pub(crate) fn is_poisoned(&self, partition: usize) -> bool {
        self.poisons.iter().any(|p| p.partition == partition)
    }

    /// Takes over which pulls hang which share of the consumers. That many hang as there were then:
    /// those who join later work.
    pub(crate) fn hang(&mut self, pulled: &[(u64, f64)], crew: &Crew) {
        self.hung.retain(|hung| pulled.iter().any(|(pull, _)| *pull == hung.pull));
        for (pull, ratio) in pulled {
            if crew.useful == 0 || self.hung.iter().any(|hung| hung.pull == *pull) {
                continue;
            }
            let left = crew.useful.saturating_sub(self.hanging()) as f64;
            self.hung.push(Hung { pull: *pull, consumers: (ratio * left).ceil() as usize });
        }
    }

    /// Consumers that hang.
    pub(crate) fn hanging(&self) -> usize {
        self.hung.iter().map(|hung| hung.consumers).sum()
    }

    /// Consumers joined or left: all wait until the partitions are assigned anew.
    pub(crate) fn join(&mut self, running: f64, renewed: bool, terms: &Terms) {
        if let Some(before) = self.members.replace(running)
            && (renewed || before != running)
            && running > 0.0
        {
            self.pause_s = terms.rebalance_s;
        }
    }

    /// Takes what producers publish in `dt_s` seconds.
    pub(crate) fn take(&mut self, calls: &[Calls], terms: &Terms, dt_s: f64) {
        let mut rate = [0.0; CLASSES_MAX];
        let (mut offered, mut wanted) = (0.0, 0.0);
        for call in calls {
            for ((sum, brought), refuse) in rate.iter_mut().zip(call.rate).zip(self.refuse) {
                let kept = brought * (1.0 - refuse);
                *sum += kept;
                wanted += kept;
                offered += brought;
            }
        }
        let room = (terms.depth_limit - self.backlog.total()).max(0.0) / dt_s;
        let taken = wanted.min(room + self.deliveries.consumed);
        self.full = if wanted > 0.0 { 1.0 - taken / wanted } else { 0.0 };
        if self.full > 0.0 {
            rate.iter_mut().for_each(|r| *r *= 1.0 - self.full);
        }
        self.unacknowledged = if offered > 0.0 { 1.0 - taken / offered } else { 0.0 };
        self.produced = offered;
        self.backlog.publish(&rate, dt_s);
    }

    /// Deliveries per second that consumer number `j` wants, and what it gets of that.
    fn portion(&self, crew: &Crew, j: usize, dt_s: f64) -> f64 {
        let done = self.deliveries.done.max(1e-3);
        let waiting: f64 = (j..self.backlog.partitions.len())
            .step_by(crew.useful)
            .filter(|at| !self.is_poisoned(*at))
            .map(|at| self.backlog.partitions[at].lag)
            .sum();
        let wanted = waiting / dt_s / done;
        let most = crew.slots / self.deliveries.hold_s.max(1e-9);
        if wanted > most { most / wanted } else { 1.0 }
    }

    /// Deliveries per second and partition that consumers try in a round of `dt_s` seconds.
    pub(crate) fn fetch(&self, crew: &Crew, dt_s: f64, into: &mut Vec<f64>) {
        let done = self.deliveries.done.max(1e-3);
        into.clear();
        into.resize(self.backlog.partitions.len(), 0.0);
        if self.pause_s > 0.0 {
            return;
        }
        for j in crew.hung..crew.useful {
            let portion = self.portion(crew, j, dt_s);
            for at in (j..into.len()).step_by(crew.useful) {
                if !self.is_poisoned(at) {
                    into[at] = self.backlog.partitions[at].lag / dt_s / done * portion;
                }
            }
        }
    }

    /// The consumers as callers of their own handler: no more at once than they have slots.
    pub(crate) fn feed(&self, crew: &Crew, deliveries: &[f64]) -> Calls {
        let all: f64 = deliveries.iter().sum();
        let mut calls = Calls::none(EdgeId(u16::MAX));
        for (rate, share) in calls.rate.iter_mut().zip(&self.backlog.shares) {
            *rate = all * share;
        }
        calls.in_flight_cap = ((crew.useful - crew.hung) as f64 * crew.slots).max(1e-6);
        calls
    }

    /// Notes what the handlers made of the deliveries.
    pub(crate) fn handle(&mut self, server: &Server, deliveries: &[f64], terms: &Terms, dt_s: f64) {
        let round = server.tier.last();
        let tried: f64 = deliveries.iter().sum();
        let d = &mut self.deliveries;
        if round.served > 1e-9 {
            d.hold_s = round.busy_slots / round.served;
            d.failed = round.failed;
            (d.done, d.dead) = fate(round.failed, terms.max_deliveries);
        }
        let share = if tried > 0.0 { (round.served / tried).min(1.0) } else { 0.0 };
        let (done, dead) = (share * d.done * dt_s, d.dead);
        let mut all = 0.0;
        for (partition, deliveries) in self.backlog.partitions.iter_mut().zip(deliveries) {
            all += partition.commit(deliveries * done);
        }
        self.dead += all * dead;
        self.deliveries.consumed = all / dt_s;
        self.pause_s = (self.pause_s - dt_s).max(0.0);
    }

    /// Foresees when messages published now are handled, at the present speed.
    pub(crate) fn foresee(&mut self, crew: &Crew, terms: &Terms) {
        let d = self.deliveries;
        let mut late = 0.0;
        let speed = crew.slots * d.done / d.hold_s.max(1e-9);
        for at in 0..self.backlog.partitions.len() {
            if !crew.works(at) || self.is_poisoned(at) || speed <= 0.0 {
                late += 1.0;
                continue;
            }
            let of = |p: &usize| !self.is_poisoned(*p);
            let mates = (at % crew.useful..self.backlog.partitions.len()).step_by(crew.useful);
            let ahead: f64 = mates.filter(of).map(|p| self.backlog.partitions[p].lag).sum();
            let handling = d.hold_s / d.done.max(1e-6);
            let mean = self.pause_s + terms.fetch_s + ahead / speed + handling;
            let var = ahead / (speed * speed) + handling * handling + terms.fetch_s * terms.fetch_s;
            late += 1.0 - within(mean.min(NEVER_S), var.max(1e-12), terms.freshness_s);
        }
        let late = (late / self.backlog.partitions.len() as f64).clamp(0.0, 1.0);
        self.late = 1.0 - (1.0 - late) * (1.0 - d.dead);
        if self.late < 1e-9 {
            self.late = 0.0;
        }
    }

    /// What producers see: an acknowledgment, whatever becomes of the message.
    pub(crate) fn report(&self, terms: &Terms) -> Report {
        let ack = terms.ack_s;
        Report {
            ok_mean_s: ack,
            ok_var_s2: ack * ack,
            fail_mean_s: ack,
            fail_var_s2: ack * ack,
            class_mean_s: [ack; CLASSES_MAX],
            class_var_s2: [ack * ack; CLASSES_MAX],
            refused: self.full,
            turned_away: self.refuse,
            overdue: [self.late; CLASSES_MAX],
            offered: self.produced,
            unloaded_s: ack,
            ..Report::IDEAL
        }
    }
}

/// Messages done with per delivery, and the share of them that are dead letters, where the share
/// `failed` of all deliveries fails and a message is given up after `most` of them (0: never).
fn fate(failed: f64, most: u32) -> (f64, f64) {
    let failed = failed.clamp(0.0, 1.0);
    if most == 0 {
        return (1.0 - failed, 0.0);
    }
    // A message takes 1 + f + f² + … deliveries.
    let (mut tries, mut again) = (0.0, 1.0);
    for _ in 0..most {
        tries += again;
        again *= failed;
    }
    (1.0 / tries, again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_delivered_until_it_is_handled_or_given_up() {
        assert_eq!(fate(0.0, 5), (1.0, 0.0));
        assert_eq!(fate(1.0, 4), (0.25, 1.0));
        let (done, dead) = fate(0.5, 2);
        assert!((done - 1.0 / 1.5).abs() < 1e-12 && (dead - 0.25).abs() < 1e-12);
        assert_eq!(fate(0.3, 0), (0.7, 0.0));
    }

    #[test]
    fn consumers_beyond_the_partitions_have_no_work() {
        assert_eq!(Crew::new(20.0, 2.0, 0, 12), Crew { useful: 12, hung: 0, slots: 2.0 });
        assert_eq!(Crew::new(8.0, 2.0, 3, 12), Crew { useful: 8, hung: 3, slots: 2.0 });
        assert_eq!(Crew::new(0.0, 2.0, 0, 12), Crew::default());
        assert_eq!(Crew::new(1.5, 2.0, 0, 12), Crew { useful: 2, hung: 0, slots: 1.5 });
        let crew = Crew::new(8.0, 2.0, 3, 12);
        assert!(!crew.works(2) && crew.works(3) && !crew.works(10) && crew.works(11));
        assert!(!Crew::default().works(0));
    }
}
