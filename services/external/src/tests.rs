//! The third party under load: its quota, what each lever does, and what can be asked of it.

use crate::KIND;
use machine::{Instance, Moving};
use model::{
    Answer, Calls, ClassSpec, EdgeId, Inbox, InstanceId, InstanceSpec, LeverPull, Order, Params,
    Query, Setup, Tick,
};

struct Rig {
    external: Instance,
    tick: i64,
}

impl Rig {
    fn new() -> Rig {
        let params = Params::default().with("quota", 100.0).with("quota_max", 150.0);
        let params = params.check(KIND.params()).unwrap();
        let acquirer = InstanceSpec::plain("acquirer", "external", Vec::new());
        let setup = Setup {
            classes: vec![ClassSpec { writes: true, ..ClassSpec::plain("pay") }],
            ..Setup::alone(InstanceSpec { params, ..acquirer })
        };
        let mut rig = Rig { external: Instance::create(KIND, setup, Tick(0)).unwrap(), tick: 0 };
        rig.play(20, 80.0);
        rig
    }

    fn play(&mut self, seconds: i64, rate: f64) {
        let mut calls = Calls::none(EdgeId(0));
        calls.rate[0] = rate;
        calls.timeout_s = 1.0;
        let inbox = Inbox { calls: vec![calls], ..Inbox::default() };
        for _ in 0..seconds {
            self.external.advance(Moving { tick: Tick(self.tick), round: 0, rounds: 1 }, &inbox);
            self.tick += 1;
        }
    }

    fn pull(&mut self, lever: &str, args: Params) {
        let target = InstanceId(0);
        let pull = LeverPull { id: 1, target, edge: None, lever: lever.into(), args };
        self.external.inject(Tick(self.tick), &pull).unwrap();
    }

    fn clear(&mut self) {
        self.external.clear(Tick(self.tick), 1).unwrap();
    }

    fn order(&mut self, rps: f64) -> Result<String, model::Refusal> {
        let args = Params::default().with("rps", rps);
        let order = Order { target: InstanceId(0), verb: "request_quota".into(), args };
        self.external.operate(Tick(self.tick), &order)
    }

    fn turned_away(&self) -> f64 {
        self.external.outbox().report.turned_away[0]
    }
}

#[test]
fn within_the_quota_all_pass_and_beyond_it_a_flat_ceiling() {
    let mut rig = Rig::new();
    assert_eq!(rig.turned_away(), 0.0);
    rig.play(30, 160.0);
    // 94 of 160 pass: the 66 refused count a tenth each.
    assert!((rig.turned_away() - (1.0 - 93.3 / 160.0)).abs() < 0.01, "{}", rig.turned_away());
    rig.play(40, 80.0);
    assert!(rig.turned_away() < 1e-4, "nothing of it stays: {}", rig.turned_away());
}

#[test]
fn a_quota_that_was_cut_comes_back_on_request_and_takes_its_time() {
    let mut rig = Rig::new();
    rig.pull("external.quota", Params::default().with("rps", 40.0));
    rig.play(60, 80.0);
    assert!(rig.turned_away() > 0.5, "{}", rig.turned_away());
    assert!(rig.order(30.0).unwrap_err().reason.contains("allows 40 per second already"));
    rig.order(500.0).unwrap();
    rig.play(230, 80.0);
    assert!(rig.turned_away() > 0.5, "nobody has decided yet");
    rig.play(40, 80.0);
    assert!(rig.turned_away() < 1e-4, "{}", rig.turned_away());
    let Answer::Facts(facts) = rig.external.read(&Query::Status) else { panic!("facts") };
    assert_eq!(facts["quota"], "150 calls per second", "no more than the contract has");
    assert!(rig.order(200.0).unwrap_err().reason.contains("150 per second and no more"));
}

#[test]
fn brown_outs_are_slow_or_fail_and_leave_nothing_behind() {
    let mut rig = Rig::new();
    let calm = rig.external.outbox().report;
    rig.pull("external.slow", Params::default().with("factor", 10.0));
    rig.play(20, 80.0);
    let slow = rig.external.outbox().report;
    assert!((slow.ok_mean_s / calm.ok_mean_s - 10.0).abs() < 0.1, "{}", slow.ok_mean_s);
    rig.clear();
    rig.pull("external.errors", Params::default().with("ratio", 0.3));
    rig.play(20, 80.0);
    assert!((rig.external.outbox().report.failed[0] - 0.3).abs() < 1e-6);
    rig.clear();
    rig.play(60, 80.0);
    let after = rig.external.outbox().report;
    assert!(after.failed[0] < 1e-6 && (after.ok_mean_s / calm.ok_mean_s - 1.0).abs() < 1e-3);
}

#[test]
fn nobody_here_operates_it() {
    let mut rig = Rig::new();
    for verb in ["scale", "rollback", "shed", "set_policy", "deploy"] {
        let order = Order { target: InstanceId(0), verb: verb.into(), args: Params::default() };
        let refusal = rig.external.operate(Tick(rig.tick), &order).unwrap_err();
        assert!(refusal.reason.contains("external has no operation"), "{refusal}");
    }
    assert!(rig.external.outbox().needs.is_empty(), "no host runs it");
    assert!(KIND.outside());
}
