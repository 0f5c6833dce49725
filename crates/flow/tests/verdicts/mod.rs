//! What the per-request simulation of the same chain did, and the flow plane must do too:
//! which dips heal by themselves, and what heals a storm.

use crate::chain::{Chain, World};
use model::BreakerPolicy;

/// Database queue, back-off, and for 64, 96, 128, 256, 1000 slots: does the system heal? Points
/// on a knife edge (queue drain time = time-out) have none.
type Line = (f64, f64, [Option<bool>; 5]);

const HEALS: Option<bool> = Some(true);
const DOWN: Option<bool> = Some(false);

const TABLE: [Line; 6] = [
    (64.0, 0.0, [HEALS, HEALS, HEALS, HEALS, HEALS]),
    (64.0, 0.05, [HEALS, HEALS, HEALS, HEALS, HEALS]),
    (500.0, 0.0, [HEALS, HEALS, HEALS, None, None]),
    (500.0, 0.05, [HEALS, HEALS, HEALS, DOWN, DOWN]),
    (2000.0, 0.0, [HEALS, HEALS, DOWN, DOWN, DOWN]),
    (2000.0, 0.05, [HEALS, HEALS, HEALS, DOWN, DOWN]),
];

#[test]
fn a_dip_heals_or_stays_as_measured() {
    for (places, backoff, fates) in TABLE {
        for (slots, fate) in [64.0, 96.0, 128.0, 256.0, 1000.0].into_iter().zip(fates) {
            let mut w = Chain::new(0.69, slots, places, backoff).dipped();
            w.play(240);
            let at = format!("queue {places}, back-off {backoff}, {slots} slots");
            assert!(w.success(30..60) > 0.999, "{at}: healthy before");
            assert!(w.success(62..80) < 0.8, "{at}: the dip hurts");
            let end = w.success(220..240);
            match fate {
                Some(true) => assert!(end > 0.99, "{at}: {end}"),
                Some(false) => assert!(end < 0.1, "{at}: {end}"),
                None => {}
            }
        }
    }
}

#[test]
fn sub_steps_stay_rare() {
    let mut w = Chain::new(0.69, 256.0, 2000.0, 0.0).dipped();
    w.play(300);
    let moving = w.rows.iter().filter(|r| r.rounds > 1).count();
    assert!((8..=40).contains(&moving), "{moving} moving ticks of 300");
}

/// The storm that outlives its trigger.
fn storm() -> Chain {
    Chain::new(0.69, 256.0, 2000.0, 0.0)
}

/// Success at the end when `act` sets something up on the storm.
fn after(act: impl Fn(&mut World)) -> f64 {
    let mut w = storm().dipped();
    act(&mut w);
    w.play(400);
    assert!(w.success(30..60) > 0.98, "healthy before");
    w.success(370..400)
}

/// The same when every policy is changed at tick 120.
fn with_policy(change: impl Fn(&mut model::EdgePolicy) + Copy + 'static) -> f64 {
    after(|w| {
        w.at(120, move |w| {
            for edge in w.nodes.iter_mut().flat_map(|n| &mut n.spec.edges) {
                change(&mut edge.policy);
            }
        });
    })
}

fn shed(to: f64, seconds: usize) -> f64 {
    after(|w| {
        w.at(120, move |w| w.crowds[0].admit = to);
        w.at(120 + seconds, |w| w.crowds[0].admit = 1.0);
    })
}

#[test]
fn some_mitigations_do_not_heal_a_storm() {
    let nothing = after(|_| {});
    assert!(nothing < 0.1, "nothing: {nothing}");
    let callers = after(|w| {
        w.at(120, |w| {
            w.find("gw").knobs.groups[0].running = 4.0;
            w.find("ord").knobs.groups[0].running = 8.0;
        });
    });
    assert!(callers < 0.1, "callers doubled: {callers}");
    for (to, seconds) in [(0.35, 30), (0.35, 60), (0.5, 30), (0.5, 60)] {
        let end = shed(to, seconds);
        assert!(end < 0.1, "shed to {to} for {seconds} s: {end}");
    }
}

#[test]
fn other_mitigations_heal_it() {
    let deep = shed(0.08, 30);
    assert!(deep > 0.99, "shed to 8 %: {deep}");
    let off = with_policy(|p| p.retries = 0);
    assert!(off > 0.99, "retries off: {off}");
    let budget = with_policy(|p| p.retry_budget = Some(0.1));
    assert!(budget > 0.99, "budget: {budget}");
    let wider = after(|w| w.at(120, |w| w.find("db").knobs.groups[0].running = 4.0));
    assert!(wider > 0.99, "database x4: {wider}");
}

#[test]
fn a_breaker_from_the_start_heals_it() {
    let mut breaker = storm();
    breaker.policy.breaker =
        Some(BreakerPolicy { failure_ratio: 0.5, volume_min: 20.0, open_s: 5.0, probe_ratio: 0.1 });
    let mut w = breaker.dipped();
    w.play(300);
    assert!(w.success(270..300) > 0.99, "breaker: {}", w.success(270..300));
}

/// Success in the dip and at the end, with deadlines on the edges of `callers`.
fn with_deadlines(slots: f64, callers: &[&str]) -> (f64, f64) {
    let mut w = Chain::new(0.69, slots, 2000.0, 0.0).dipped();
    for caller in callers {
        w.find(caller).spec.edges[0].policy.propagate_deadline = true;
    }
    w.play(240);
    (w.success(62..80), w.success(210..240))
}

#[test]
fn deadlines_heal_where_slots_bound_the_attempts() {
    for (slots, callers) in
        [(128.0, &["gw"][..]), (128.0, &["ord"]), (128.0, &["gw", "ord"]), (256.0, &["gw", "ord"])]
    {
        let (dip, end) = with_deadlines(slots, callers);
        assert!(dip < 0.3, "most of the dip is lost: {slots} {callers:?} {dip}");
        assert!(end > 0.99, "{slots} {callers:?}: {end}");
    }
    for callers in [["gw"], ["ord"]] {
        let (_, end) = with_deadlines(256.0, &callers);
        assert!(end < 0.05, "one of two edges is not enough: {callers:?} {end}");
    }
    // With a thousand slots per caller 28 % of the users got through, for good.
    let (_, end) = with_deadlines(1000.0, &["gw", "ord"]);
    assert!((0.2..0.36).contains(&end), "{end}");
}

#[test]
fn errors_alone_start_a_storm() {
    // 30 % errors at u = 0.69 leave attempts just below capacity: the rest is the queue's doing.
    let mut w = Chain::new(0.69, 256.0, 2000.0, 0.05).build();
    w.at(60, |w| w.find("db").knobs.error = [0.3; 8]);
    w.play(200);
    assert!(w.success(30..60) > 0.999);
    assert!(w.success(170..200) < 0.1, "{}", w.success(170..200));
}

#[test]
fn a_time_out_below_what_the_callee_needs_loses_everything() {
    let mut w = storm().build();
    w.at(60, |w| w.find("gw").spec.edges[0].policy.timeout_s = 0.004);
    w.play(120);
    assert!(w.success(90..120) < 0.35, "{}", w.success(90..120));
}

#[test]
fn a_dead_dependency_is_seen_at_the_top() {
    // Without failure that travels up, users of a dead system saw 86 % success.
    for kill in [0, 1] {
        let mut w = Chain::new(0.69, 64.0, 64.0, 0.0).build();
        w.at(60, move |w| {
            let db = w.find("db");
            if kill == 0 {
                db.knobs.error = [1.0; 8];
            } else {
                db.knobs.groups[0].running = 0.0;
            }
        });
        w.play(120);
        assert!(w.success(80..120) < 0.001, "{}", w.success(80..120));
    }
}
