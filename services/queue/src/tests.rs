//! The queue as a whole: what its levers and orders do, driven as every body drives it.

use crate::KIND;
use crate::signals::{CONSUMED, DEAD, LATE, LOST, OLDEST, PARTITION};
use machine::{Instance, Moving};
use model::{
    Answer, Calls, ClassSpec, Code, EdgeId, EdgePolicy, EdgeSpec, Grant, GroupSpec, Hop, HopReply,
    Inbox, InstanceId, InstanceSpec, LeverPull, Next, Order, PROCESS, PUBLISH, Params, Query,
    Report, Setup, Severity, Tick,
};
use server::signals::{FAILED, OFFERED, QUEUE, REFUSED};

/// One queue, its tick, and what is around it.
struct Bench {
    queue: Instance,
    tick: i64,
    rate: f64,
    running: u32,
    generation: u32,
    db: Report,
}

/// Eight consumers with one slot each that take 12 ms, and a db that takes 4 ms: 500 per second.
fn params() -> Params {
    let consumers = Params::default().with("concurrency", 1.0).with("service_time", 0.012);
    consumers.with("partitions", 16.0).with("fetch_delay", 0.25)
}

impl Bench {
    fn new(params: Params) -> Bench {
        let groups = vec![GroupSpec::plain("stable", 1, 8)];
        let params = params.check(KIND.params()).unwrap();
        let db = EdgeSpec::plain(1, Some(0), 2, "Write");
        let policy = EdgePolicy { timeout_s: 20.0, ..EdgePolicy::default() };
        let setup = Setup {
            outgoing: vec![EdgeSpec { policy, ..db }],
            callees: vec!["db".into()],
            classes: vec![ClassSpec { writes: true, ..ClassSpec::plain("book") }],
            ..Setup::alone(InstanceSpec { params, ..InstanceSpec::plain("jobs", "queue", groups) })
        };
        let queue = Instance::create(KIND, setup, Tick(0)).unwrap();
        let mut bench =
            Bench { queue, tick: 0, rate: 450.0, running: 8, generation: 0, db: Report::IDEAL };
        bench.db_takes(0.004);
        bench
    }

    fn db_takes(&mut self, s: f64) {
        let (var, db) = (s * s, &mut self.db);
        (db.ok_mean_s, db.ok_var_s2, db.unloaded_s) = (s, var, s);
        (db.class_mean_s, db.class_var_s2) = ([s; 8], [var; 8]);
    }

    fn play(&mut self, ticks: i64) {
        let mut calls = Calls::none(EdgeId(0));
        calls.rate[0] = self.rate;
        calls.timeout_s = 1.0;
        let generation = self.generation;
        let grant = Grant { generation, ..Grant::ample(InstanceId(0), 0, self.running) };
        let (calls, grants, reports) = (vec![calls], vec![grant], vec![self.db]);
        let inbox = Inbox { calls, grants, reports, ..Inbox::default() };
        for _ in 0..ticks {
            let rounds = if self.tick % 5 == 2 { 4 } else { 1 };
            for round in 0..rounds {
                self.queue.advance(Moving { tick: Tick(self.tick), round, rounds }, &inbox);
            }
            self.tick += 1;
        }
    }

    fn column(&self, at: usize) -> f64 {
        self.queue.outbox().row[at]
    }

    fn late(&self) -> f64 {
        self.queue.outbox().report.overdue[0]
    }

    fn pull(&mut self, id: u64, lever: &str, args: Params) {
        let (target, lever) = (InstanceId(0), lever.to_string());
        let pull = LeverPull { id, target, edge: None, lever, args };
        self.queue.inject(Tick(self.tick), &pull).unwrap();
    }

    fn order(&mut self, verb: &str, args: Params) -> Result<String, String> {
        let order = Order { target: InstanceId(0), verb: verb.into(), args };
        self.queue.operate(Tick(self.tick), &order).map_err(|refusal| refusal.to_string())
    }

    fn partition(at: f64) -> Params {
        Params::default().with("partition", at)
    }

    fn hop(&self, request: u64, operation: &str) -> Hop {
        Hop {
            request,
            class: model::ClassId(0),
            instance: InstanceId(0),
            edge: EdgeId(0),
            operation: operation.into(),
            path: 0,
            tick: Tick(self.tick),
            deadline_s: 1.0,
            sampled: true,
        }
    }

    /// When the messages of 400 publishes are handled, seconds later; none: never, as things are.
    fn handled(&self) -> Vec<Option<f64>> {
        let of = |request| match self.queue.plan(&self.hop(request, PUBLISH), &[]) {
            Next::Call(calls) => {
                assert_eq!((calls.len(), calls[0].operation.as_str()), (1, PROCESS));
                Some(calls[0].start_s)
            }
            Next::Settle(reply) => {
                assert_eq!(reply.code, Code::Ok);
                None
            }
        };
        (0..400).map(of).collect()
    }

    fn logs(&self) -> String {
        let query = Query::Logs {
            from: Tick(0),
            to: Tick(self.tick),
            severity: Severity::Info,
            contains: String::new(),
            limit: 100,
        };
        let Answer::Logs(lines) = self.queue.read(&query) else { panic!("no logs") };
        lines.iter().map(|l| l.message.clone() + "\n").collect()
    }
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{value} is not {expected} ± {within}");
}

#[test]
fn consumers_that_keep_up_leave_what_is_on_its_way() {
    let mut bench = Bench::new(params());
    bench.play(60);
    near(bench.column(QUEUE), 112.5, 1.0);
    near(bench.column(CONSUMED), 450.0, 0.5);
    near(bench.column(OLDEST), 0.25, 0.02);
    assert_eq!((bench.late(), bench.column(FAILED)), (0.0, 0.0));
    let report = bench.queue.outbox().report;
    assert_eq!((report.ok_mean_s, report.refused, report.failed[0]), (0.002, 0.0, 0.0));
    near(bench.queue.outbox().calls[0].rate[0], 450.0, 0.5);
}

#[test]
fn a_slow_dependency_makes_lag_grow_while_publishes_are_acknowledged() {
    let mut bench = Bench::new(params());
    bench.play(30);
    bench.db_takes(0.166);
    bench.play(40);
    near(bench.column(CONSUMED), 45.0, 1.0);
    near(bench.column(QUEUE), 40.0 * 405.0, 500.0);
    assert!(bench.late() > 0.99 && bench.column(FAILED) == 0.0);
    assert_eq!(bench.queue.outbox().report.ok_mean_s, 0.002);
    bench.db_takes(0.0);
    bench.play(300);
    near(bench.column(QUEUE), 112.5, 1.0);
    assert_eq!(bench.late(), 0.0);
}

#[test]
fn more_consumers_help_up_to_the_partitions() {
    let mut bench = Bench::new(params());
    bench.pull(1, "queue.slow_consumers", Params::default().with("factor", 4.0));
    bench.play(20);
    let speed = |bench: &mut Bench, running: u32| {
        bench.running = running;
        bench.play(20);
        bench.column(CONSUMED)
    };
    let (eight, sixteen, thirty) =
        (speed(&mut bench, 8), speed(&mut bench, 16), speed(&mut bench, 30));
    near(sixteen / eight, 2.0, 0.01);
    near(thirty / sixteen, 1.0, 1e-6);
}

#[test]
fn a_poison_message_stops_one_partition_and_a_restart_does_not_help() {
    let mut bench = Bench::new(params());
    bench.play(20);
    bench.pull(1, "queue.poison", Bench::partition(3.0));
    bench.play(40);
    near(bench.column(PARTITION), 40.0 * 450.0 / 16.0, 1.0);
    near(bench.column(OLDEST), 40.0, 0.5);
    near(bench.late(), 1.0 / 16.0, 1e-6);
    assert!(bench.logs().contains("handler ended at partition 3 offset "));
    bench.generation += 1;
    bench.play(30);
    near(bench.late(), 1.0 / 16.0, 1e-6);
    bench.order("park_message", Bench::partition(2.0)).unwrap();
    bench.play(20);
    near(bench.late(), 1.0 / 16.0, 1e-6);
    bench.order("park_message", Bench::partition(3.0)).unwrap();
    bench.play(900);
    assert_eq!(bench.late(), 0.0);
    near(bench.column(QUEUE), 112.5, 1.0);
    let dead = bench.queue.levels().get(DEAD, 0.0);
    assert!((1.0..=2.0).contains(&dead), "{dead}");
    assert_eq!(bench.queue.levels().get(LOST, 0.0), 0.0);
}

#[test]
fn hung_consumers_are_cured_by_a_restart_and_not_by_parking() {
    let mut bench = Bench::new(params());
    bench.play(20);
    bench.pull(1, "queue.stuck", Params::default().with("ratio", 0.25));
    bench.play(30);
    // Two of eight consumers: partitions 0, 1, 8 and 9 of sixteen.
    near(bench.late(), 4.0 / 16.0, 1e-6);
    bench.order("park_message", Bench::partition(0.0)).unwrap();
    bench.play(10);
    near(bench.late(), 4.0 / 16.0, 1e-6);
    // New ones work, but those that hang keep one partition each.
    bench.running = 16;
    bench.play(60);
    near(bench.late(), 2.0 / 16.0, 1e-6);
    bench.running = 8;
    bench.generation += 1;
    bench.play(900);
    assert_eq!(bench.late(), 0.0);
}

#[test]
fn all_wait_while_the_group_rebalances() {
    let mut bench = Bench::new(params().with("rebalance", 6.0));
    bench.play(20);
    bench.generation += 1;
    bench.play(5);
    assert_eq!(bench.column(CONSUMED), 0.0);
    near(bench.column(QUEUE), 5.0 * 450.0 + 112.5, 1.0);
    bench.play(2);
    assert!(bench.column(CONSUMED) > 400.0);
    assert!(bench.logs().contains("consumer group rebalances"));
}

#[test]
fn skipped_and_purged_messages_are_lost_and_dead_letters_are_not() {
    let mut bench = Bench::new(params());
    bench.play(20);
    bench.pull(1, "queue.poison", Bench::partition(0.0));
    bench.play(30);
    bench.order("skip_offset", Bench::partition(0.0).with("messages", 100.0)).unwrap();
    bench.play(3);
    assert_eq!(bench.queue.levels().get(LOST, 0.0), 100.0);
    bench.play(60);
    assert_eq!(bench.late(), 0.0, "the message was among those skipped");
    bench.running = 0;
    bench.play(10);
    bench.order("purge", Params::default()).unwrap();
    bench.play(6);
    near(bench.queue.levels().get(LOST, 0.0), 100.0 + 15.0 * 450.0, 460.0);
    let error = bench.order("skip_offset", Bench::partition(16.0)).unwrap_err();
    assert!(error.contains("no partition 16; there are 16, 0 to 15"), "{error}");
}

#[test]
fn what_its_handler_fails_ends_among_the_dead_letters() {
    let mut bench = Bench::new(params().with("max_deliveries", 2.0));
    bench.play(10);
    bench.pull(1, "server.errors", Params::default().with("ratio", 0.1));
    bench.play(60);
    near(bench.late(), 0.01, 1e-4);
    near(bench.queue.levels().get(DEAD, 0.0), 60.0 * 4.5, 30.0);
    assert!(bench.logs().contains("message not committed and delivered again"));
}

#[test]
fn a_full_broker_refuses_what_it_cannot_keep() {
    let mut bench = Bench::new(params().with("depth_limit", 1000.0));
    bench.play(10);
    bench.running = 0;
    bench.play(20);
    near(bench.column(QUEUE), 1000.0, 1.0);
    assert_eq!((bench.column(REFUSED), bench.column(OFFERED)), (1.0, 450.0));
    assert_eq!(bench.queue.outbox().report.refused, 1.0);
}

#[test]
fn publishes_that_are_turned_away_by_order_leave_the_consumers_alone() {
    let mut bench = Bench::new(params());
    bench.play(10);
    let share = Params::default().with("class", "book").with("ratio", 0.4);
    bench.order("shed", share).unwrap();
    bench.play(10);
    near(bench.column(CONSUMED), 270.0, 1.0);
    near(bench.column(FAILED), 0.4, 1e-9);
    assert_eq!(bench.queue.outbox().report.turned_away[0], 0.4);
}

#[test]
fn a_publish_is_acknowledged_on_the_request_plane() {
    let mut bench = Bench::new(params());
    bench.play(10);
    bench.order("shed", Params::default().with("ratio", 0.25)).unwrap();
    bench.play(10);
    let (mut acknowledged, mut time) = (0.0, 0.0);
    for request in 0..2000 {
        let hop = Hop { sampled: false, ..bench.hop(request, PUBLISH) };
        let Next::Settle(reply) = bench.queue.plan(&hop, &[]) else { panic!("no call is made") };
        if reply.code == Code::Ok {
            acknowledged += 1.0;
            time += reply.latency_s;
        }
    }
    near(acknowledged / 2000.0, 0.75, 0.03);
    near(time / acknowledged, 0.002, 0.0002);
    assert!(bench.column(LATE) < 1e-9);
}

fn mean(of: &[Option<f64>]) -> f64 {
    of.iter().flatten().sum::<f64>() / of.iter().flatten().count() as f64
}

#[test]
fn a_message_is_handled_when_the_backlog_lets_it_and_its_publish_knows_nothing_of_it() {
    let mut bench = Bench::new(params());
    bench.play(30);
    let calm = bench.handled();
    assert!(calm.iter().all(Option::is_some));
    near(mean(&calm), 0.25, 0.05);
    // Sampled or not, and whatever the handler came to: the same acknowledgment.
    let hop = bench.hop(7, PUBLISH);
    let plain = bench.queue.plan(&Hop { sampled: false, ..hop.clone() }, &[]);
    for code in [Code::Ok, Code::Internal] {
        let reply = HopReply { code, latency_s: 9.0, message: String::new(), spans: Vec::new() };
        assert_eq!(bench.queue.plan(&hop, &[reply]), plain);
    }
    bench.pull(1, "queue.slow_consumers", Params::default().with("factor", 4.0));
    bench.play(60);
    let (queue, consumed) = (bench.column(QUEUE), bench.column(CONSUMED));
    near(mean(&bench.handled()), queue / consumed, 0.1 * queue / consumed);
    bench.running = 0;
    bench.play(1);
    assert!(bench.handled().iter().all(Option::is_none), "there is nobody");
}

#[test]
fn messages_of_a_partition_that_stands_still_are_not_handled_and_others_are() {
    let mut bench = Bench::new(params());
    bench.play(20);
    bench.pull(1, "queue.stuck", Params::default().with("ratio", 0.5));
    bench.play(60);
    let handled = bench.handled();
    let never = handled.iter().filter(|at| at.is_none()).count() as f64 / handled.len() as f64;
    near(never, 0.5, 0.08);
    near(mean(&handled), 0.25, 0.06);
}

#[test]
fn the_handler_calls_its_dependency_and_fails_as_the_deliveries_do() {
    let mut bench = Bench::new(params());
    bench.play(20);
    bench.pull(1, "server.version", Params::default().with("errors", 0.5));
    bench.play(20);
    let (mut failed, mut asks) = (0.0, 0.0);
    for request in 0..400 {
        match bench.queue.plan(&bench.hop(request, PROCESS), &[]) {
            Next::Call(calls) => {
                assert_eq!((calls[0].operation.as_str(), calls[0].to), ("Write", InstanceId(2)));
                assert!(calls[0].start_s > 0.0 && calls[0].start_s < 0.5, "{calls:?}");
                asks += 1.0 / 400.0;
            }
            Next::Settle(reply) => {
                assert_eq!(reply.code, Code::Internal);
                assert!(reply.message.contains("delivered again"), "{}", reply.message);
                failed += 1.0 / 400.0;
            }
        }
    }
    near(failed, 0.5, 0.08);
    near(asks, 0.5, 0.08);
}
