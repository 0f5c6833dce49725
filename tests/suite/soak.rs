//! Many episodes of random actions: no panic, no NaN, no negative rate, no broken law. Reduced
//! counts by default; `cargo xtask soak` plays a thousand.

use crate::common::{all_scenarios, run, soak};
use action::Site;
use episode::Episode;
use fleet::{EmbeddedFleet, Fleet};
use model::{EpisodeId, Noise, Outbox};

fn episodes() -> usize {
    if soak() { 1000 } else { 25 }
}

#[test]
fn soak_random_actions_break_no_law() {
    let scenarios = all_scenarios();
    for n in 0..episodes() {
        let scenario = &scenarios[n % scenarios.len()];
        let kinds = fleet::kinds();
        let dice = Noise::root(n as u64).branch("soak");
        let variants = action::variants(&Site::new(&scenario.topology, &kinds));
        let fleet = EmbeddedFleet::new(kinds);
        let id = EpisodeId(n as u64);
        let mut episode =
            Episode::prepare(fleet, kinds, scenario.clone(), id, n as u64, 1).unwrap();
        run(async {
            episode.begin().await.unwrap();
            let mut impact = episode.impact();
            for step in 0..40 {
                if episode.ended().is_some() {
                    break;
                }
                let action = &variants[dice.bits(step) as usize % variants.len()];
                let reply = episode.step(action).await.unwrap();
                assert!(episode.impact() >= impact, "impact only grows");
                impact = episode.impact();
                let o = &reply.observation;
                assert!(o.impact_estimate.is_finite() && o.impact_estimate >= 0.0);
                for objective in &o.objectives {
                    assert!((0.0..=1.0).contains(&objective.good_ratio), "{objective:?}");
                }
                for instance in episode.fleet().instances() {
                    sound(instance.outbox(), &instance.setup().spec.name, &scenario.name);
                }
            }
            for id in scenario.topology.ids() {
                let inspection = episode.fleet().inspect(id).await.unwrap();
                for (name, fact) in &inspection.facts {
                    assert!(fact.is_finite(), "{name} of {}", inspection.name);
                }
            }
        });
    }
}

fn sound(outbox: &Outbox, name: &str, scenario: &str) {
    let r = &outbox.report;
    for share in r.failed.iter().chain(&r.turned_away).chain([&r.refused]) {
        assert!((0.0..=1.0).contains(share), "{scenario} {name}: {share}");
    }
    let rates = outbox.calls.iter().flat_map(|c| c.rate);
    let needs = outbox.needs.iter().flat_map(|n| [n.cpu_cores, n.memory, n.disk_write]);
    for value in rates.chain(needs).chain(outbox.row).chain([r.ok_mean_s, r.capacity]) {
        assert!(value.is_finite() && value >= 0.0, "{scenario} {name}: {value}");
    }
}
