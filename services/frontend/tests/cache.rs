//! The cache of sessions and the clients that hold stale entries of it, driven as every body drives
//! a frontend.

use frontend::KIND;
use machine::{Instance, Moving};
use model::{
    Calls, ClassSpec, EdgeId, EdgePolicy, EdgeSpec, Grant, GroupSpec, Inbox, InstanceId,
    InstanceSpec, LeverPull, Order, Params, Report, Setup, Tick,
};
use server::signals::{FAILED, OK, own};

/// Columns of the kind: hits, calls in vain.
const HITS: usize = 0;
const VAIN: usize = 1;

/// A frontend before a gateway that pages of the first class call once, the others never.
struct Bench {
    frontend: Instance,
    tick: i64,
    generation: u32,
}

impl Bench {
    fn new() -> Bench {
        let groups = vec![GroupSpec::plain("stable", 1, 2)];
        let params = Params::default().check(KIND.params()).expect("parameters");
        let mut calls = [0.0; 8];
        calls[0] = 1.0;
        let gateway = EdgeSpec::plain(1, Some(0), 2, "Route");
        let setup = Setup {
            outgoing: vec![EdgeSpec {
                policy: EdgePolicy { timeout_s: 2.0, ..EdgePolicy::default() },
                calls,
                ..gateway
            }],
            callees: vec!["gateway".into()],
            classes: vec![ClassSpec::plain("read"), ClassSpec::plain("static")],
            ..Setup::alone(InstanceSpec {
                params,
                ..InstanceSpec::plain("web", "frontend", groups)
            })
        };
        let frontend = Instance::create(KIND, setup, Tick(0)).expect("a frontend");
        Bench { frontend, tick: 0, generation: 0 }
    }

    /// Four hundred pages per second, a quarter of them without calls.
    fn play(&mut self, ticks: i64) {
        let mut calls = Calls::none(EdgeId(0));
        (calls.rate[0], calls.rate[1], calls.timeout_s) = (300.0, 100.0, 4.0);
        let grant = Grant { generation: self.generation, ..Grant::ample(InstanceId(0), 0, 2) };
        let (calls, grants, reports) = (vec![calls], vec![grant], vec![Report::IDEAL]);
        let inbox = Inbox { calls, grants, reports, ..Inbox::default() };
        for _ in 0..ticks {
            self.frontend.advance(Moving { tick: Tick(self.tick), round: 0, rounds: 1 }, &inbox);
            self.tick += 1;
        }
    }

    fn own(&self, at: usize) -> f64 {
        self.frontend.outbox().row[own(self.frontend.setup()) + at]
    }

    fn sent(&self) -> f64 {
        self.frontend.outbox().calls[0].rate.iter().sum()
    }

    fn stale(&mut self) {
        let args = Params::default().with("ratio", 0.1).with("calls", 20.0);
        let (target, lever) = (InstanceId(0), "frontend.stale_cache".to_string());
        let pull = LeverPull { id: 1, target, edge: None, lever, args };
        self.frontend.inject(Tick(self.tick), &pull).expect("a lever");
    }

    fn flush(&mut self) {
        let args = Params::default();
        let order = Order { target: InstanceId(0), verb: "flush".into(), args };
        self.frontend.operate(Tick(self.tick), &order).expect("an order");
    }
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{value} is not {expected} ± {within}");
}

#[test]
fn clients_with_stale_entries_fail_and_call_again_and_again_until_the_cache_is_emptied() {
    let mut bench = Bench::new();
    bench.play(30);
    near(bench.sent(), 300.0, 0.01);
    assert_eq!((bench.own(VAIN), bench.frontend.outbox().row[FAILED]), (0.0, 0.0));
    bench.stale();
    bench.play(30);
    // Nine in ten pages go on as ever; a tenth makes twenty calls each in vain.
    near(bench.own(VAIN), 0.1 * 20.0 * 300.0, 0.1);
    near(bench.sent(), 0.9 * 300.0 + 600.0, 0.1);
    near(bench.frontend.outbox().row[FAILED], 0.1, 1e-6);
    near(bench.frontend.outbox().report.failed[0], 0.1, 1e-6);
    bench.generation += 1;
    bench.play(30);
    near(bench.own(VAIN), 600.0, 0.1);
    bench.flush();
    bench.play(5);
    assert_eq!(bench.own(VAIN), 0.0);
    near(bench.sent(), 300.0, 0.5);
}

#[test]
fn pages_cost_more_until_an_emptied_cache_is_filled_again() {
    let mut bench = Bench::new();
    bench.play(30);
    let usual = bench.frontend.outbox().row[OK];
    near(bench.own(HITS), 0.9, 1e-9);
    bench.flush();
    bench.play(4);
    let cold = bench.frontend.outbox().row[OK];
    assert!(bench.own(HITS) < 0.1 && cold > 2.0 * usual, "{cold} {usual}");
    bench.play(600);
    near(bench.own(HITS), 0.9, 1e-3);
    near(bench.frontend.outbox().row[OK], usual, 0.02 * usual);
}
