//! Names from end to end: what becomes of a lost or wrong record reaches callers as their caches
//! run out, on both planes alike, and what ends it.

use crate::common::{parsed, run};
use action::Action;
use episode::{ControlOrder, Episode};
use fleet::{EmbeddedFleet, Fleet};
use model::{Answer, Code, EpisodeId, LeverPull, Noise, Params, Query, Severity, Tick};
use std::collections::BTreeMap;

/// The class whose requests call `payment`, by its name, which caches keep for 30 s.
const CHECKOUT: usize = 2;
const SHOP: &str = include_str!("named-shop.yaml");
const RECORD: &str = "payment.shop.internal";
/// From an entry to the gateway's report: a round for the lookup, one for the answer, and two
/// callers that see half of each change.
const LAG: i64 = 3;

struct World(Episode<EmbeddedFleet>);

impl World {
    fn new() -> World {
        let (kinds, id) = (fleet::kinds(), EpisodeId(1));
        let (fleet, shop) = (EmbeddedFleet::new(kinds), parsed("test/named-shop", SHOP));
        let mut episode = Episode::prepare(fleet, kinds, shop, id, 3, 1).expect("fits");
        run(episode.begin()).expect("begun");
        World(episode)
    }

    /// A world in which `lever` of the name service was pulled at tick 10.
    fn with(lever: &str) -> World {
        let mut world = World::new();
        world.to(10);
        let topology = &world.0.scenario().topology;
        let target = topology.instance("names").expect("a name service");
        let args = Params::default();
        let args = if lever.starts_with("dns.") { args.with("record", RECORD) } else { args };
        let pull = LeverPull { id: 1 << 33, target, edge: None, lever: lever.into(), args };
        run(world.0.control(&ControlOrder::Inject(vec![pull]))).expect("injected");
        world
    }

    fn to(&mut self, tick: i64) {
        run(self.0.play_to(Tick(tick))).expect("played");
    }

    fn does(&mut self, action: &str, args: &[(&str, &str)]) {
        let mut params = Params::default();
        for (name, value) in args {
            params = params.with(name, *value);
        }
        let reply =
            run(self.0.step(&Action::new(action, &params).expect("fits"))).expect("stepped");
        let text = serde_json::to_string(&reply.observation).expect("json");
        assert!(text.contains("accepted"), "{action}: {text}");
    }

    fn signal(&self, of: &str, name: &str) -> f64 {
        let id = self.0.scenario().topology.instance(of).expect("known");
        let now = self.0.tick();
        let query =
            Query::Metrics { signals: vec![name.into()], from: now.plus(-1), to: now, every: 1 };
        match run(self.0.fleet().read(id, &query)).expect("read") {
            Answer::Metrics { series, .. } => series[name][0].expect("a value"),
            other => panic!("{other:?}"),
        }
    }

    fn facts(&self, query: &Query) -> BTreeMap<String, String> {
        let id = self.0.scenario().topology.instance("names").expect("known");
        match run(self.0.fleet().read(id, query)).expect("read") {
            Answer::Facts(facts) => facts,
            other => panic!("{other:?}"),
        }
    }

    /// Of 400 checkouts now: the share that fails, and their mean time.
    fn checkouts(&self) -> (f64, f64) {
        let noise = Noise::root(9).branch("checkouts").index(self.0.tick().0 as u64);
        let (mut failed, mut time_s) = (0.0, 0.0);
        for n in 0..400 {
            let mut hop = self.0.hop(CHECKOUT, self.0.tick(), noise.bits(n));
            hop.sampled = false;
            let reply = run(self.0.fleet().request(&hop)).expect("a reply");
            failed += f64::from(u8::from(reply.code != Code::Ok)) / 400.0;
            time_s += reply.latency_s / 400.0;
        }
        (failed, time_s)
    }

    /// Share of the checkouts that fail on the flow plane.
    fn flow(&self) -> f64 {
        let gateway = self.0.scenario().topology.instance("gateway").expect("known");
        self.0.fleet().instances()[gateway.at()].outbox().report.failed[CHECKOUT]
    }
}

#[test]
fn a_lost_record_is_felt_as_caches_run_out_and_the_callee_hears_less() {
    let calm = World::new();
    assert!(calm.flow() < 0.01 && calm.signal("names", "lookups.nxdomain.ratio") < 1e-6);
    let mut world = World::with("dns.record_lost");
    world.to(11);
    let before = world.signal("payment", "requests.rate");
    for (after, expected) in [(15_i64, 0.393), (30, 0.632), (90, 0.950)] {
        world.to(11 + after + LAG);
        let (drawn, seconds) = world.checkouts();
        let said = world.flow();
        assert!((said - expected).abs() < 0.05, "after {after} s: {said}, expected {expected}");
        // Requests see what callers are told now, the report what they were told seconds ago.
        assert!((drawn - said).abs() < 0.12, "after {after} s: drawn {drawn}, flow {said}");
        assert!(seconds < 0.5, "a name that does not exist costs no time: {seconds}");
        let heard = world.signal("payment", "requests.rate") / before;
        // Users come once more when they failed, and half of them meet the same caches.
        let (least, most) = (1.0 - expected, 1.0 - expected * expected);
        assert!(heard > least - 0.05 && heard < most + 0.05, "after {after} s: hears {heard}");
    }
    assert!(world.signal("payment", "requests.error.ratio") < 0.02, "and is well");
    assert!(world.signal("names", "lookups.nxdomain.ratio") > 0.3);
    assert!((world.signal("names", "zone.present.ratio") - 0.5).abs() < 1e-9);
    let facts = world.facts(&Query::Config);
    assert_eq!(facts[&format!("record {RECORD}")], "no such name");
}

#[test]
fn callers_and_the_name_service_say_so_in_their_logs() {
    let mut world = World::with("dns.record_lost");
    world.to(100);
    for (of, text) in
        [("shop", "lookup payment.shop.internal: no such host"), ("names", "NXDOMAIN")]
    {
        let id = world.0.scenario().topology.instance(of).expect("known");
        let query = Query::Logs {
            from: Tick(90),
            to: Tick(100),
            severity: Severity::Warn,
            contains: text.into(),
            limit: 5,
        };
        let Answer::Logs(lines) = run(world.0.fleet().read(id, &query)).expect("read") else {
            panic!("no lines");
        };
        assert_eq!(lines.len(), 5, "{of} says {text}");
    }
}

#[test]
fn a_wrong_record_costs_its_callers_their_time_outs() {
    let mut world = World::with("dns.record_wrong");
    world.to(71);
    let (failed, seconds) = world.checkouts();
    assert!((failed - world.flow()).abs() < 0.08, "{failed} {}", world.flow());
    assert!((0.7..0.97).contains(&failed), "two times to live: {failed}");
    assert!(seconds > 1.5, "most wait for three seconds: {seconds}");
    assert!(world.signal("names", "lookups.nxdomain.ratio") < 1e-6, "names it, but wrongly");
    let facts = world.facts(&Query::Config);
    assert_eq!(facts[&format!("record {RECORD}")], "A 10.0.9.200, ttl 30 s");
}

#[test]
fn the_record_written_anew_helps_as_answers_run_out_and_a_flush_then_at_once() {
    let mut world = World::with("dns.record_lost");
    world.to(400);
    assert!(world.flow() > 0.99);
    // Orders take effect after 5 s of the 30 s that an action takes.
    world.does("fix_record", &[("component", "names"), ("record", RECORD)]);
    let left = world.flow();
    assert!((left - 0.497).abs() < 0.05, "e^(−21/30) of the negative answers: {left}");
    let calm = world.signal("names", "lookups.refresh.rate");
    world.does("flush_resolver", &[("component", "names")]);
    assert!(world.flow() < 0.01, "{}", world.flow());
    assert!(world.signal("names", "lookups.refresh.rate") < 3.0 * calm + 10.0);
}

#[test]
fn a_flush_before_that_cuts_off_everybody() {
    let mut world = World::with("dns.record_lost");
    world.to(15);
    assert!(world.flow() < 0.25);
    world.does("flush_resolver", &[("component", "names")]);
    assert!(world.flow() > 0.99, "{}", world.flow());
}

#[test]
fn a_rollback_of_the_zone_is_a_fix_and_a_restart_of_the_callee_is_none() {
    let mut world = World::with("dns.record_lost");
    world.to(200);
    world.does("restart", &[("component", "payment")]);
    world.to(300);
    assert!(world.flow() > 0.99);
    world.does("rollback", &[("component", "names")]);
    world.to(600);
    assert!(world.flow() < 0.01, "{}", world.flow());
}

#[test]
fn a_name_service_that_is_down_is_missed_when_caches_run_out() {
    let mut world = World::with("server.crash_loop");
    world.to(14);
    let early = world.flow();
    world.to(150);
    let late = world.flow();
    assert!(early < 0.35 && late > 0.9, "{early} {late}");
}

#[test]
fn unknown_records_are_refused_with_those_there_are() {
    let mut world = World::new();
    let args = Params::default().with("component", "names").with("record", "x.shop.internal");
    let reply = run(world.0.step(&Action::new("fix_record", &args).expect("fits"))).expect("told");
    let text = serde_json::to_string(&reply.observation).expect("json");
    assert!(text.contains("no record `x.shop.internal`") && text.contains(RECORD), "{text}");
}

#[test]
fn a_terminal_gets_what_the_zone_says() {
    for (lever, part) in [
        ("dns.record_lost", "NXDOMAIN"),
        ("dns.record_wrong", r"\t30\tIN\tA\t10.0.9.200"),
        ("server.errors", r"\t30\tIN\tA\t10.0.1.15"),
    ] {
        let mut world = match lever {
            "server.errors" => World::new(),
            lever => World::with(lever),
        };
        world.to(12);
        let line = format!("dig {RECORD}");
        let args = Params::default().with("host", "node-1").with("command", line.as_str());
        let reply = run(world.0.step(&Action::new("shell", &args).expect("fits"))).expect("typed");
        let text = serde_json::to_string(&reply.observation).expect("json");
        assert!(text.contains(part), "{lever}: {text}");
    }
}
