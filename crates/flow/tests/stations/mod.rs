//! One tier under open load, over random parameters: nothing negative, nothing lost, and more
//! load never helps.

use crate::chain::one;
use flow::mmck::mmck;
use flow::queue::relax;
use flow::{Balance, Knobs, Round, TierSpec, TierState};
use model::{CLASSES_MAX, Calls, EdgeId, PerClass};
use proptest::prelude::*;

/// Three hundred seeded cases.
fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn spec(service_s: f64, slots: f64, queue: f64, cv: f64, balance: Balance) -> TierSpec {
    TierSpec {
        classes: 2,
        service_s,
        service_cv: cv,
        concurrency: slots,
        queue,
        balance,
        edges: Vec::new(),
    }
}

fn calls(rate: PerClass) -> Calls {
    Calls { rate, ..Calls::none(EdgeId(0)) }
}

fn any_balance() -> impl Strategy<Value = Balance> {
    prop_oneof![
        Just(Balance::Shared),
        Just(Balance::Random),
        Just(Balance::RoundRobin),
        Just(Balance::TwoChoices)
    ]
}

/// Plays `ticks` seconds at constant load; the last round, and the relative imbalance
/// (arrivals − served − refused − ΔQ) summed over all of them.
fn steady(spec: &TierSpec, knobs: &Knobs, rate: PerClass, ticks: usize) -> (Round, f64) {
    let mut state = TierState::new(spec);
    let (mut imbalance, mut arrived, mut queue) = (0.0, 0.0, 0.0);
    for _ in 0..ticks {
        let r = state.round(spec, knobs, &[calls(rate)], &[], 1.0);
        imbalance += r.arrived - r.served - r.refused - (r.queue - queue);
        arrived += r.arrived;
        queue = r.queue;
    }
    (state.last().clone(), imbalance.abs() / f64::max(arrived, 1e-9))
}

fn sound(r: &Round) -> bool {
    let p = &r.report;
    let rates = [r.offered, r.arrived, r.turned_away, r.served, r.refused, r.queue, r.wait_s];
    let times = [p.ok_mean_s, p.ok_var_s2, p.fail_mean_s, p.fail_var_s2, p.unloaded_s, p.path_s];
    let rest = [p.capacity, p.servers, p.places, r.cpu_cores, r.busy_slots, r.wait_var_s2];
    let shares = [p.refused, p.refusal, p.in_time, r.own_error, r.failed];
    rates.iter().chain(&times).chain(&rest).all(|x| x.is_finite() && *x >= 0.0)
        && shares.iter().chain(&p.failed).all(|x| (0.0..=1.0).contains(x))
        && r.calls.iter().all(|c| c.rate.iter().all(|x| x.is_finite() && *x >= 0.0))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn relaxing_conserves_requests(
        load in 0.0..3.0f64, rate in 10.0..5000.0f64, places in 0.0..3000.0f64,
        fill in 0.0..1.0f64, dt in prop_oneof![Just(0.25), Just(1.0)],
    ) {
        let (offered, queue) = (load * rate, fill * places);
        let st = mmck(offered, rate, 16.0, places, 1.0);
        let now = relax(st, offered, rate, places, queue, dt);
        prop_assert!((0.0..=places + 1e-9).contains(&now.queue));
        let near = (now.queue - st.queue).abs() <= 0.02 * st.queue + 0.5;
        let growth = if near { 0.0 } else { now.queue - queue };
        let gap = (offered - now.served - offered * now.refused) * dt - growth;
        prop_assert!(gap.abs() <= 1e-9 * (offered * dt + 1.0), "{gap} of {offered} ({now:?})");
    }

    #[test]
    fn a_tier_is_sound_and_conserves(
        load in 0.05..2.5f64, service in 0.001..0.05f64, slots in 1.0..64.0f64,
        queue in 0.0..500.0f64, cv in 0.0..2.0f64, balance in any_balance(),
        replicas in 1u32..6, slow in 0.5..3.0f64, error in 0.0..1.0f64, refuse in 0.0..0.9f64,
    ) {
        let spec = spec(service, slots.round(), queue, cv, balance);
        let mut knobs = Knobs::calm(f64::from(replicas));
        (knobs.slow[1], knobs.error[1], knobs.refuse[1]) = (slow, error, refuse);
        let rate = load * slots * f64::from(replicas) / service;
        let mut mix = one(rate * 0.7);
        mix[1] = rate * 0.3;
        let (r, imbalance) = steady(&spec, &knobs, mix, 60);
        prop_assert!(sound(&r), "{r:?}");
        prop_assert!(imbalance < 0.01, "{imbalance}");
        prop_assert!((r.turned_away - mix[1] * refuse).abs() <= 1e-9 * rate);
        let busy = slots.round() * f64::from(replicas);
        prop_assert!(r.busy_slots <= busy * 1.001, "{} of {busy}", r.busy_slots);
    }

    #[test]
    fn more_load_never_helps(
        load in 0.05..2.0f64, more in 1.001..1.5f64, service in 0.001..0.05f64,
        slots in 1.0..64.0f64, queue in 1.0..500.0f64, balance in any_balance(),
    ) {
        let spec = spec(service, slots.round(), queue, 1.0, balance);
        let knobs = Knobs::calm(3.0);
        let rate = load * slots * 3.0 / service;
        let (a, _) = steady(&spec, &knobs, one(rate), 400);
        let (b, _) = steady(&spec, &knobs, one(rate * more), 400);
        // Within the error of the constant-time formulas.
        prop_assert!(b.wait_s >= a.wait_s * 0.995 - 1e-6, "wait {} -> {}", a.wait_s, b.wait_s);
        prop_assert!(b.served >= a.served * 0.994, "served {} -> {}", a.served, b.served);
        let (la, lb) = (a.report.refused, b.report.refused);
        prop_assert!(lb >= la - 0.0015, "loss {la} -> {lb}");
    }
}

#[test]
fn a_tier_at_rest_repeats_itself_bit_for_bit_and_after_a_snapshot() {
    let spec = spec(0.01, 8.0, 100.0, 1.0, Balance::Shared);
    let knobs = Knobs::calm(2.0);
    let inbox = [calls(one(900.0))];
    let mut state = TierState::new(&spec);
    for _ in 0..200 {
        state.round(&spec, &knobs, &inbox, &[], 1.0);
    }
    let rested = state.last().clone();
    // Only the core is restored from a snapshot; buffers start empty.
    let mut restored = TierState::new(&spec);
    restored.core = state.core.clone();
    for _ in 0..3 {
        assert_eq!(*state.round(&spec, &knobs, &inbox, &[], 1.0), rested);
        assert_eq!(*restored.round(&spec, &knobs, &inbox, &[], 1.0), rested);
    }
    // ... and a change of anything is seen at once.
    let mut slower = spec.clone();
    slower.service_s = 0.02;
    assert!(state.round(&slower, &knobs, &inbox, &[], 1.0).wait_s > rested.wait_s);
}

#[test]
fn a_class_that_always_fails_does_not_vanish_in_the_mixture() {
    let mut knobs = Knobs::calm(1.0);
    knobs.error[1] = 1.0;
    let spec = spec(0.01, 8.0, 100.0, 1.0, Balance::Shared);
    let mut mix = [0.0; CLASSES_MAX];
    (mix[0], mix[1]) = (90.0, 10.0);
    let (r, _) = steady(&spec, &knobs, mix, 60);
    assert_eq!(r.report.failed[0], 0.0);
    assert!(r.report.failed[1] > 0.999_999);
    assert!((r.failed - 0.1).abs() < 1e-9);
}
