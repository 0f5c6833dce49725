//! What a database adds to a server: locks and the sessions that hold them, sessions that hold
//! connections and do nothing, statements without an index, a replica, and a disk that may be full.

use crate::replication::Replication;
use crate::signals::{BUSY, COLUMNS, CPU, IDLE, LAG, LOCK_WAITERS, NO_SPACE, STALE, WRITES_LOST};
use machine::Cx;
use model::{CLASSES_MAX, Code, LeverPull, Order, Outbox, Query, Refusal, Severity};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

/// Undoing a transaction takes this share of the time it ran, at most a minute.
const UNDO: f64 = 0.1;
const UNDO_MAX_S: i64 = 60;

/// The lever of sessions that hold connections and do nothing.
pub(crate) const IDLE_SESSIONS: &str = "db.idle_sessions";

/// A session of an operator or a job, as the status lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Session {
    number: u32,
    /// The lever pull behind it; 0: harmless.
    pull: u64,
    since: i64,
    statement: String,
    /// Being undone until this tick.
    ends: Option<i64>,
}

/// Number of the `opened`th session, for a lever pull.
fn number(opened: u32, pull: u64) -> u32 {
    300 + 11 * opened + (pull % 7) as u32
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DbBehavior {
    sessions: Vec<Session>,
    /// Sessions opened so far: their numbers follow from it.
    opened: u32,
    /// The processes are new: jobs connect again and go on with what they were doing.
    reconnect: bool,
    replication: Replication,
    no_space: bool,
    /// The process found no space at its start.
    cannot_start: bool,
    waiting_s: f64,
    /// Classes whose statements read whole tables.
    scans: [bool; CLASSES_MAX],
    /// Share of reads that are stale, as noted last.
    stale: f64,
    /// Connections that sessions hold and do nothing with, as noted last.
    idle: f64,
}

impl Phrases for DbBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        let locked = (0..CLASSES_MAX as u16).any(|c| levels.get(server::keys::LOCK + c, 0.0) > 0.0);
        if levels.get(NO_SPACE, 0.0) > 0.0 {
            "could not extend file: no space left on device".into()
        } else if locked {
            "canceling statement due to lock timeout".into()
        } else if levels.get(STALE, 0.0) > 0.0 {
            "canceling statement: data on the replica is older than the read requires".into()
        } else {
            "statement failed: column does not exist in this version".into()
        }
    }

    fn more(&self, _row: &[f64], levels: &Levels, lines: &mut Vec<(Severity, String)>) {
        let locked = (0..CLASSES_MAX as u16).any(|c| levels.get(server::keys::LOCK + c, 0.0) > 0.0);
        if locked {
            let text = "statement is still waiting for an exclusive lock";
            lines.push((Severity::Warn, text.into()));
        }
        let slow =
            (0..CLASSES_MAX as u16).any(|c| levels.get(server::keys::CLASS_SLOW + c, 1.0) > 3.0);
        if slow {
            let text = "slow statement: sequential scan, 1,204,331 rows examined for 12 returned";
            lines.push((Severity::Warn, text.into()));
        }
        let idle = levels.get(IDLE, 0.0);
        if idle > 0.0 {
            let text = format!("{idle:.0} connections belong to sessions that have long been idle");
            lines.push((Severity::Warn, text));
        }
    }
}

impl DbBehavior {
    fn open_session(&mut self, cx: &Cx<'_>, pull: &LeverPull, statement: &str) {
        self.opened += 1;
        let number = number(self.opened, pull.id);
        let since = cx.tick().0;
        let statement = statement.to_string();
        self.sessions.push(Session { number, pull: pull.id, since, statement, ends: None });
    }

    /// Sessions whose undo is over end, and with them what their lever did.
    fn end_sessions(&mut self, server: &mut Server, tick: i64) {
        let over = |s: &Session| s.ends.is_some_and(|ends| tick >= ends);
        for session in self.sessions.iter().filter(|s| over(s)) {
            for active in &mut server.state.active {
                if active.pull.id == session.pull {
                    active.healed = true;
                }
            }
        }
        self.sessions.retain(|s| !over(s));
    }

    /// Ends what was being undone; the jobs behind the other sessions connect again and start over.
    /// Who did nothing in a session does not miss it.
    fn connect_again(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let now = cx.tick().0;
        self.reconnect = false;
        let idle: Vec<_> = server.pulled(IDLE_SESSIONS).map(|a| a.pull.id).collect();
        for session in &mut self.sessions {
            if session.ends.is_some() || idle.contains(&session.pull) {
                session.ends = Some(now);
                continue;
            }
            self.opened += 1;
            (session.number, session.since) = (number(self.opened, session.pull), now);
            let text = format!("session {}: its client connected again", session.number);
            cx.emit(server::keys::NOTE, 0.0, text);
        }
        self.end_sessions(server, now);
    }

    /// Writes per second, as far as classes say that they write.
    fn writes(&self, server: &Server) -> f64 {
        let served = &server.tier.last().class_served;
        let classes = &server.setup.classes;
        classes.iter().zip(served).filter(|(class, _)| class.writes).map(|(_, rate)| rate).sum()
    }

    fn lock(&mut self, server: &mut Server) {
        let timeout = server.setup.spec.params.number("lock_timeout");
        let mut waits = [0.0_f64; CLASSES_MAX];
        for active in server.pulled("db.lock") {
            let name = active.pull.args.text("class");
            let chosen = server.classes(name);
            for (c, class) in server.setup.classes.iter().enumerate() {
                if chosen[c] && (!name.is_empty() || class.writes) {
                    waits[c] = timeout;
                }
            }
        }
        self.waiting_s = 0.0;
        for (c, wait) in waits.iter().enumerate() {
            server.knobs.lock_wait_s[c] += wait;
            if *wait > 0.0 {
                // A statement that waited in vain is canceled.
                server.knobs.error[c] = 1.0;
                self.waiting_s = timeout;
            }
        }
    }

    /// Connections that nobody uses cannot be used by others.
    fn idle(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let held: f64 =
            server.pulled(IDLE_SESSIONS).map(|a| a.pull.args.number("connections")).sum();
        if held > 0.0 {
            let slots = server.knobs.concurrency.unwrap_or(server.spec.concurrency);
            server.knobs.concurrency = Some((slots - held).max(0.01));
        }
        if held != self.idle {
            self.idle = held;
            cx.emit(IDLE, held, "");
        }
    }

    fn slow_queries(&mut self, server: &mut Server) {
        let mut slow = [1.0_f64; CLASSES_MAX];
        for active in server.pulled("db.slow_query") {
            let chosen = server.classes(active.pull.args.text("class"));
            for c in (0..CLASSES_MAX).filter(|c| chosen[*c]) {
                slow[c] *= active.pull.args.number("factor");
            }
        }
        self.scans = slow.map(|factor| factor > 1.0);
        for (knob, factor) in server.knobs.slow.iter_mut().zip(slow) {
            *knob *= factor * self.replication.slow();
        }
    }

    /// An index on `table` is there: statements that missed it have it.
    fn index(server: &mut Server, table: &str) {
        let helped = server.classes(table);
        let meant = |name: &str| {
            let chosen = server.classes(name);
            (0..CLASSES_MAX).any(|c| chosen[c] && helped[c])
        };
        let missed = server.pulled("db.slow_query").filter(|a| meant(a.pull.args.text("class")));
        let ids: Vec<u64> = missed.map(|a| a.pull.id).collect();
        for active in server.state.active.iter_mut().filter(|a| ids.contains(&a.pull.id)) {
            active.healed = true;
        }
    }

    fn stale_reads(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let share = server.setup.spec.params.number("replica_reads") * self.replication.stale();
        if (share - self.stale).abs() > 0.005 || (share == 0.0 && self.stale != 0.0) {
            cx.emit(STALE, share, "");
            self.stale = share;
        }
        for (c, class) in server.setup.classes.iter().enumerate() {
            if !class.writes {
                let error = &mut server.knobs.error[c];
                *error = *error + share - *error * share;
            }
        }
    }

    fn disk(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let full = |g: &server::group::Group| g.grant.disk_free <= 0.0 || g.grant.inodes_free < 1.0;
        let no_space = server.state.groups.iter().any(full);
        if no_space != self.no_space {
            self.no_space = no_space;
            cx.emit(NO_SPACE, f64::from(u8::from(no_space)), "");
        }
        if !no_space {
            self.cannot_start = false;
            return;
        }
        for (c, class) in server.setup.classes.iter().enumerate() {
            if class.writes {
                server.knobs.error[c] = 1.0;
            }
        }
    }
}

impl Behavior for DbBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure = OwnFailure { code: Code::Internal, message: "statement failed" };

    fn renewed(&mut self, server: &mut Server, groups: &[usize]) {
        if groups.len() == server.state.groups.len() {
            self.replication.cold = 1.0;
        }
        // Recovery writes before it serves: on a full disk the start fails.
        self.cannot_start = self.no_space;
        self.reconnect = true;
    }

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        if self.reconnect {
            self.connect_again(server, cx);
        }
        self.end_sessions(server, cx.tick().0);
        let rate: f64 = server.pulled("db.replica_lag").map(|a| a.pull.args.number("rate")).sum();
        let down = self.replication.down(cx.tick().0);
        self.replication.round(rate, !down && server.knobs.running() > 0.0, cx.delta_s());
        if down {
            for group in &mut server.knobs.groups {
                group.running = 0.0;
            }
        }
        self.idle(server, cx);
        self.slow_queries(server);
        self.stale_reads(server, cx);
        self.lock(server);
        self.disk(server, cx);
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        let writes = self.writes(server);
        let bytes = server.setup.spec.params.number("write_bytes");
        let running = server.knobs.running().max(1e-9);
        for (at, need) in out.needs.iter_mut().enumerate() {
            let share = server.knobs.groups[at].running / running;
            if !self.no_space {
                need.disk_write = writes * bytes * share;
            }
            if self.cannot_start {
                need.exit_code = 1;
            }
        }
        let round = server.tier.last();
        let locked: f64 = (0..CLASSES_MAX)
            .filter(|c| server.knobs.lock_wait_s[*c] > 0.0)
            .map(|c| round.class_served[c])
            .sum();
        out.row[first + LAG] = self.replication.lag_s;
        out.row[first + LOCK_WAITERS] = locked * self.waiting_s;
        out.row[first + CPU] = round.cpu_cores * server.setup.spec.params.number("cpu_share");
        out.row[first + BUSY] = round.busy_slots + self.idle;
    }

    fn accepts(&self, server: &Server, order: &Order) -> Option<Result<(), Refusal>> {
        if order.verb == "create_index" {
            let table = order.args.text("table");
            let known = server.setup.classes.iter().any(|c| c.name == table || c.route == table);
            let none = || Refusal::because(format!("relation \"{table}\" does not exist"));
            return Some(if known { Ok(()) } else { Err(none()) });
        }
        if order.verb != "kill_session" {
            return None;
        }
        let number = order.args.number("session") as u32;
        if self.sessions.iter().any(|s| s.number == number) {
            return Some(Ok(()));
        }
        let known: Vec<_> = self.sessions.iter().map(|s| s.number.to_string()).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Some(Err(Refusal::because(format!("no session {number}; there is {known}"))))
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        let now = cx.tick().0;
        match order.verb.as_str() {
            "kill_session" => {
                let number = order.args.number("session") as u32;
                let idle: Vec<_> = server.pulled(IDLE_SESSIONS).map(|a| a.pull.id).collect();
                for session in self.sessions.iter_mut().filter(|s| s.number == number) {
                    let worked = !idle.contains(&session.pull);
                    let undo = (UNDO * (now - session.since) as f64) as i64 * i64::from(worked);
                    session.ends = Some(now + undo.min(UNDO_MAX_S));
                    let text = format!("session {number} canceled, its transaction is undone");
                    cx.emit(server::keys::NOTE, 0.0, text);
                }
            }
            "create_index" => {
                let table = order.args.text("table");
                DbBehavior::index(server, table);
                cx.emit(server::keys::NOTE, 0.0, format!("index on {table} built"));
            }
            "failover" => {
                self.replication.fail_over(now, self.writes(server));
                server.heal(&["server.slow"]);
                self.reconnect = true;
                server.tier.flush(&server.spec);
                cx.emit(WRITES_LOST, self.replication.lost_writes, "");
                cx.emit(server::keys::NOTE, 0.0, "failover: the replica is the primary now");
            }
            _ => return false,
        }
        true
    }

    fn injected(&mut self, _server: &mut Server, cx: &mut Cx<'_>, pull: &LeverPull) {
        match pull.lever.as_str() {
            IDLE_SESSIONS => self.open_session(cx, pull, "idle; before that COMMIT"),
            "db.lock" => self.open_session(cx, pull, "ALTER TABLE orders ADD COLUMN note text"),
            "db.replica_lag" => {
                self.open_session(cx, pull, "INSERT INTO archive SELECT * FROM events");
            }
            "db.slow_query" => {
                let text = "migration applied: index on orders rebuilt";
                cx.emit(server::keys::NOTE, 0.0, text);
            }
            _ => {}
        }
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        if matches!(query, Query::Config) {
            let timeout = server.setup.spec.params.number("lock_timeout");
            facts.insert("lock timeout".into(), format!("{timeout} s"));
            return;
        }
        for session in &self.sessions {
            let state = if session.ends.is_some() { "being undone" } else { "active" };
            let name = format!("session {}", session.number);
            facts.insert(
                name,
                format!("{state} since {}: {}", model::Tick(session.since), session.statement),
            );
        }
        for (class, _) in server.setup.classes.iter().zip(self.scans).filter(|(_, scans)| *scans) {
            let text = "sequential scan of the whole table, no index is used";
            facts.insert(format!("statements on {}", class.route), text.into());
        }
        let lag = format!("{:.1} s behind", self.replication.lag_s);
        facts.insert("replica".into(), lag);
        if self.no_space {
            facts.insert("writes".into(), "failing: no space left on device".into());
        }
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("lost_writes".into(), self.replication.lost_writes);
        facts.insert("replication_lag_s".into(), self.replication.lag_s);
        facts.insert("sessions_open".into(), self.sessions.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KIND;
    use machine::{Instance, Moving};
    use model::{
        Calls, ClassSpec, EdgeId, Grant, GroupSpec, Inbox, InstanceId, InstanceSpec, Params, Setup,
        Tick,
    };

    fn db() -> Instance {
        let groups = vec![GroupSpec::plain("stable", 1, 1)];
        let params = Params::default().check(KIND.params()).unwrap();
        let setup = Setup {
            classes: vec![ClassSpec { writes: true, ..ClassSpec::plain("buy") }],
            ..Setup::alone(InstanceSpec { params, ..InstanceSpec::plain("db", "db", groups) })
        };
        Instance::create(KIND, setup, Tick(0)).unwrap()
    }

    /// Plays from tick `from` to before `to` with 60 writes per second.
    fn play(db: &mut Instance, from: i64, to: i64, generation: u32) {
        let mut calls = Calls::none(EdgeId(0));
        calls.rate[0] = 60.0;
        calls.timeout_s = 1.0;
        let grant = Grant { generation, ..Grant::ample(InstanceId(0), 0, 1) };
        let inbox = Inbox { calls: vec![calls], grants: vec![grant], ..Inbox::default() };
        for t in from..to {
            db.advance(Moving { tick: Tick(t), round: 0, rounds: 1 }, &inbox);
        }
    }

    fn pull(lever: &str) -> LeverPull {
        let (target, edge) = (InstanceId(0), None);
        LeverPull { id: 1, target, edge, lever: lever.into(), args: Params::default() }
    }

    fn order(verb: &str, args: Params) -> Order {
        Order { target: InstanceId(0), verb: verb.into(), args }
    }

    fn kill(number: u32) -> Order {
        order("kill_session", Params::default().with("session", f64::from(number)))
    }

    #[test]
    fn a_failover_shows_the_writes_it_lost_and_jobs_connect_again() {
        let mut db = db();
        db.inject(Tick(0), &pull("db.replica_lag")).unwrap();
        play(&mut db, 0, 40, 0);
        assert_eq!(db.levels().get(WRITES_LOST, 0.0), 0.0);
        db.operate(Tick(40), &order("failover", Params::default())).unwrap();
        play(&mut db, 40, 120, 0);
        let lost = db.levels().get(WRITES_LOST, 0.0);
        assert!((lost - 21.0 * 60.0).abs() < 60.0, "{lost}");
        assert!(db.operate(Tick(120), &kill(number(1, 1))).is_err(), "the old number is gone");
        assert!(db.operate(Tick(120), &kill(number(2, 1))).is_ok());
    }

    #[test]
    fn an_index_helps_the_statements_that_miss_it_once_it_is_built() {
        let mut db = db();
        db.inject(Tick(0), &pull("db.slow_query")).unwrap();
        play(&mut db, 0, 5, 0);
        let slow = |db: &Instance| match db.read(&Query::Status) {
            model::Answer::Facts(facts) => facts.contains_key("statements on buy"),
            other => panic!("{other:?}"),
        };
        assert!(slow(&db));
        let index = |table: &str| order("create_index", Params::default().with("table", table));
        assert!(db.operate(Tick(5), &index("nothing")).is_err());
        db.operate(Tick(5), &index("buy")).unwrap();
        play(&mut db, 5, 60, 0);
        assert!(slow(&db), "it is being built");
        play(&mut db, 60, 70, 0);
        assert!(!slow(&db));
    }

    #[test]
    fn idle_sessions_hold_connections_until_they_or_the_processes_end() {
        for end in ["kill_session", "restart"] {
            let mut db = db();
            play(&mut db, 0, 10, 0);
            let many = Params::default().with("connections", 50.0);
            db.inject(Tick(10), &LeverPull { args: many, ..pull(IDLE_SESSIONS) }).unwrap();
            play(&mut db, 10, 20, 0);
            assert_eq!(db.levels().get(server::keys::SLOTS, 0.0), 14.0, "{end}");
            assert_eq!(db.levels().get(IDLE, 0.0), 50.0, "{end}");
            match end {
                "restart" => play(&mut db, 20, 22, 1),
                _ => {
                    db.operate(Tick(20), &kill(number(1, 1))).unwrap();
                    play(&mut db, 20, 23, 0);
                }
            }
            assert_eq!(db.levels().get(server::keys::SLOTS, 0.0), 64.0, "{end}");
            assert_eq!(db.levels().get(IDLE, 1.0), 0.0, "{end}");
            assert!(db.operate(Tick(30), &kill(number(1, 1))).is_err(), "{end}: it is gone");
        }
    }

    #[test]
    fn a_restart_does_not_end_a_migration_and_killing_its_session_does() {
        let mut db = db();
        play(&mut db, 0, 10, 0);
        db.inject(Tick(10), &pull("db.lock")).unwrap();
        play(&mut db, 10, 30, 0);
        play(&mut db, 30, 40, 1);
        let locked = |db: &Instance| db.levels().get(server::keys::LOCK, 0.0) > 0.0;
        assert!(locked(&db));
        db.operate(Tick(40), &kill(number(2, 1))).unwrap();
        play(&mut db, 40, 50, 1);
        assert!(!locked(&db));
    }
}
