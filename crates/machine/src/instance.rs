//! One machine with its history, its pending orders and its pulled levers. Every body (embedded,
//! in memory, a process of its own) drives machines through this type, so they cannot differ.

use crate::kind::{Cx, Kind, Machine, Past};
use crate::snapshot::{SnapshotError, decode, digest, encode};
use model::{
    Answer, COLUMNS_MAX, Digest, Digester, Hop, HopReply, Inbox, Inspection, LeverPull, Next,
    Order, Outbox, ParamError, Query, Refusal, Setup, Tick,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use telemetry::{Change, ColumnSpec, History, Levels, Moment, Pooling, Row, pack};

/// Where in virtual time a call of [`Instance::advance`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moving {
    /// The tick.
    pub tick: Tick,
    /// The round within it, from 0.
    pub round: u32,
    /// Rounds of this tick: 1 or 4.
    pub rounds: u32,
}

impl Moving {
    /// Length of the round, seconds.
    pub fn delta_s(&self) -> f64 {
        1.0 / f64::from(self.rounds.max(1))
    }

    /// Whether the tick ends with this round.
    pub fn last(&self) -> bool {
        self.round + 1 >= self.rounds
    }
}

/// What the last round of a tick adds to the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advanced {
    /// The packed row.
    pub row: Row,
    /// What changed in this tick.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pending {
    due: Tick,
    order: Order,
}

/// Everything besides the machine's own state that a snapshot carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ledger {
    pending: Vec<Pending>,
    levers: Vec<LeverPull>,
    changes: Vec<Change>,
    sums: [f64; COLUMNS_MAX],
    outbox: Outbox,
}

/// One driven machine.
#[derive(Debug)]
pub struct Instance {
    kind: &'static dyn Kind,
    setup: Setup,
    columns: Vec<ColumnSpec>,
    machine: Box<dyn Machine>,
    ledger: Ledger,
    history: History,
}

impl Instance {
    /// A machine of `kind` in its first state, whose first tick is `start`.
    ///
    /// # Errors
    /// Names a parameter that does not fit the setup.
    pub fn create(
        kind: &'static dyn Kind,
        setup: Setup,
        start: Tick,
    ) -> Result<Instance, ParamError> {
        let machine = kind.create(&setup)?;
        let columns = kind.columns(&setup);
        let history = History::new(start, columns.len());
        let ledger = Ledger {
            pending: Vec::new(),
            levers: Vec::new(),
            changes: Vec::new(),
            sums: [0.0; COLUMNS_MAX],
            outbox: Outbox::default(),
        };
        Ok(Instance { kind, setup, columns, machine, ledger, history })
    }

    /// What it was created from.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Its kind.
    pub fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    /// Its past.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Its last outbox.
    pub fn outbox(&self) -> &Outbox {
        &self.ledger.outbox
    }

    /// One round. Orders that are due take effect before the first round of their tick. The last
    /// round of a tick closes its history row.
    pub fn advance(&mut self, at: Moving, inbox: &Inbox) -> Option<Advanced> {
        if at.round == 0 {
            self.settle_due(at);
        }
        let mut cx = Cx::new(at.tick, at.delta_s(), &mut self.ledger.changes);
        self.machine.round(&mut cx, inbox, &mut self.ledger.outbox);
        let row = &self.ledger.outbox.row;
        for (sum, value) in self.ledger.sums.iter_mut().zip(row) {
            *sum += value;
        }
        if !at.last() {
            return None;
        }
        let mut packed = [0; COLUMNS_MAX];
        for (at_column, column) in self.columns.iter().enumerate() {
            packed[at_column] = pack(match column.pooling {
                Pooling::Mean => self.ledger.sums[at_column] * at.delta_s(),
                Pooling::Last => row[at_column],
            });
        }
        self.ledger.sums = [0.0; COLUMNS_MAX];
        let changes = std::mem::take(&mut self.ledger.changes);
        self.history.push(&packed, &changes);
        Some(Advanced { row: packed, changes })
    }

    fn settle_due(&mut self, at: Moving) {
        while let Some(found) = self.ledger.pending.iter().position(|p| p.due <= at.tick) {
            let due = self.ledger.pending.remove(found);
            let mut cx = Cx::new(at.tick, at.delta_s(), &mut self.ledger.changes);
            self.machine.operate(&mut cx, &due.order);
        }
    }

    /// Takes an order at `tick`; it takes effect after its operation's delay. The answer says when.
    ///
    /// # Errors
    /// Where the verb is unknown, an argument does not fit, or the machine does not accept it.
    pub fn operate(&mut self, tick: Tick, order: &Order) -> Result<String, Refusal> {
        let known = self.kind.operations();
        let Some(operation) = known.iter().find(|o| o.verb == order.verb) else {
            let verbs: Vec<_> = known.iter().map(|o| o.verb).collect();
            let (kind, verb) = (self.kind.name(), &order.verb);
            return Err(Refusal::because(format!(
                "{kind} has no operation `{verb}`; it has {}",
                verbs.join(", ")
            )));
        };
        let args = order
            .args
            .check(operation.args)
            .map_err(|error| Refusal::because(error.to_string()))?;
        let order = Order { args, ..order.clone() };
        self.machine.accepts(&order)?;
        let due = tick.plus(operation.delay);
        self.ledger.pending.push(Pending { due, order });
        Ok(format!("{} accepted, in effect after {} s", operation.verb, operation.delay))
    }

    /// Pulls a lever.
    ///
    /// # Errors
    /// Where the lever is unknown, an argument does not fit, or its id is in use.
    pub fn inject(&mut self, tick: Tick, pull: &LeverPull) -> Result<(), Refusal> {
        let known = self.kind.levers();
        let Some(lever) = known.iter().find(|l| l.name == pull.lever) else {
            let names: Vec<_> = known.iter().map(|l| l.name).collect();
            let (kind, name) = (self.kind.name(), &pull.lever);
            return Err(Refusal::because(format!(
                "{kind} has no lever `{name}`; it has {}",
                names.join(", ")
            )));
        };
        if self.ledger.levers.iter().any(|l| l.id == pull.id) {
            return Err(Refusal::because(format!("lever pull {} is in force already", pull.id)));
        }
        let args =
            pull.args.check(lever.args).map_err(|error| Refusal::because(error.to_string()))?;
        let pull = LeverPull { args, ..pull.clone() };
        let mut cx = Cx::new(tick, 1.0, &mut self.ledger.changes);
        self.machine.inject(&mut cx, &pull);
        self.ledger.levers.push(pull);
        Ok(())
    }

    /// Lets go of the lever pull `id`.
    ///
    /// # Errors
    /// Where no such pull is in force.
    pub fn clear(&mut self, tick: Tick, id: u64) -> Result<(), Refusal> {
        let Some(found) = self.ledger.levers.iter().position(|l| l.id == id) else {
            return Err(Refusal::because(format!("no lever pull {id} is in force")));
        };
        let pull = self.ledger.levers.remove(found);
        let mut cx = Cx::new(tick, 1.0, &mut self.ledger.changes);
        self.machine.clear(&mut cx, &pull);
        Ok(())
    }

    /// Lever pulls in force.
    pub fn levers(&self) -> &[LeverPull] {
        &self.ledger.levers
    }

    /// What monitoring may show.
    pub fn read(&self, query: &Query) -> Answer {
        match query {
            Query::Metrics { signals, from, to, every } => {
                self.metrics(signals, *from, *to, (*every).max(1))
            }
            Query::Changes { from, to } => Answer::Changes(
                self.history
                    .changes()
                    .iter()
                    .filter(|c| !c.note.is_empty() && c.tick >= *from && c.tick < *to)
                    .map(|c| (c.tick, c.note.clone()))
                    .collect(),
            ),
            _ => self.machine.read(&self.past(), query),
        }
    }

    fn metrics(&self, signals: &[String], from: Tick, to: Tick, every: u32) -> Answer {
        let from = from.max(self.history.start());
        let to = to.min(self.history.end());
        let (mut series, mut units) = (BTreeMap::new(), BTreeMap::new());
        let wanted = |name: &str| signals.is_empty() || signals.iter().any(|s| s == name);
        let mut levels = self.history.levels(from.plus(-1));
        let mut ahead = self.history.changes().iter().skip_while(|c| c.tick < from).peekable();
        let chosen: Vec<_> = self.kind.signals().iter().filter(|s| wanted(s.name)).collect();
        let mut points: Vec<Vec<Option<f64>>> = vec![Vec::new(); chosen.len()];
        let mut tick = from;
        while tick < to {
            while let Some(change) = ahead.next_if(|c| c.tick <= tick) {
                levels.apply(change);
            }
            let row = self.history.row(tick);
            let moment = Moment { setup: &self.setup, row: &row, levels: &levels };
            for (signal, points) in chosen.iter().zip(&mut points) {
                let gauss = self.setup.noise.branch(signal.name).gauss(tick.0);
                let value = (signal.value)(&moment) * (1.0 + signal.noise * gauss);
                // A share stays one, however it is measured.
                points.push(Some(if signal.unit == "1" { value.clamp(0.0, 1.0) } else { value }));
            }
            tick = tick.plus(i64::from(every));
        }
        for (signal, points) in chosen.iter().zip(points) {
            series.insert(signal.name.to_string(), points);
            units.insert(signal.name.to_string(), signal.unit.to_string());
        }
        Answer::Metrics { from, every, series, units }
    }

    /// The truth.
    pub fn inspect(&self) -> Inspection {
        let mut facts = BTreeMap::new();
        self.machine.inspect(&mut facts);
        let now = self.history.end();
        Inspection {
            name: self.setup.spec.name.clone(),
            kind: self.kind.name().to_string(),
            levers: self.ledger.levers.clone(),
            pending: self
                .ledger
                .pending
                .iter()
                .map(|p| (p.order.verb.clone(), p.due.since(now)))
                .collect(),
            facts,
        }
    }

    /// The next thing a hop of the request plane does.
    pub fn plan(&self, hop: &Hop, replies: &[HopReply]) -> Next {
        self.machine.plan(&self.past(), hop, replies)
    }

    fn past(&self) -> Past<'_> {
        Past { history: &self.history, noise: self.setup.noise, now: self.history.end() }
    }

    /// Levels of changed keys now, changes of an unfinished tick included.
    pub fn levels(&self) -> Levels {
        let mut levels = self.history.levels(self.history.end());
        self.ledger.changes.iter().for_each(|c| levels.apply(c));
        levels
    }

    /// Digest of the state; the history enters by its rolling digest.
    ///
    /// # Errors
    /// Where the state cannot be encoded.
    pub fn digest(&self) -> Result<Digest, SnapshotError> {
        let mut digester = Digester::default();
        digester.digest(self.machine.digest()?);
        digester.digest(digest("ledger", &self.ledger)?);
        digester.digest(self.history.digest());
        Ok(digester.finish())
    }

    /// The whole state.
    ///
    /// # Errors
    /// Where it cannot be encoded.
    pub fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        encode("instance", &(self.machine.snapshot()?, &self.ledger, &self.history))
    }

    /// Takes the state of a snapshot of the same setup.
    ///
    /// # Errors
    /// Where the bytes are not such a snapshot.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let (machine, ledger, history): (Vec<u8>, Ledger, History) = decode("instance", bytes)?;
        self.machine.restore(&machine)?;
        self.ledger = ledger;
        self.history = history;
        Ok(())
    }

    /// An independent copy; full chunks of the history are shared.
    pub fn fork(&self) -> Instance {
        Instance {
            kind: self.kind,
            setup: self.setup.clone(),
            columns: self.columns.clone(),
            machine: self.machine.fork(),
            ledger: self.ledger.clone(),
            history: self.history.clone(),
        }
    }
}
