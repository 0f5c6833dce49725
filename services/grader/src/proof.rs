//! The proof that a scenario is worth playing: it pages on every seed, doing nothing costs its
//! stake, the reference plan ends the harm, wrong plans are what their labels say, and nothing
//! simpler beats the reference.

use crate::worlds::{World, Worlds};
use action::{Action, Site};
use episode::{AllKinds, EpisodeError, MICRO};
use model::{Params, decimals};
use scenario::Scenario;
use scenario::resolved::WrongLabel;
use std::sync::Arc;

/// A reference may cost this share of doing nothing.
const REFERENCE_SHARE_MAX: f64 = 0.4;
/// Within this share of the stake two worlds are alike.
const ALIKE: f64 = 0.01;
/// A palliative plan scores at most this.
const PALLIATIVE_MAX: f64 = 0.5;
/// Nothing may score more than this beyond the reference.
const BEYOND_MAX: f64 = 0.02;
/// When the search for better plans begins them, seconds after the page.
const STARTS_S: [u32; 3] = [0, 120, 480];

/// What one seed of a scenario gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The seed.
    pub seed: u64,
    /// Impact of doing nothing, user-minutes.
    pub noop: f64,
    /// Impact of the reference plan.
    pub reference: f64,
    /// Scores of the wrong plans, before they are brought to 0..1, in file order.
    pub wrong: Vec<f64>,
    /// The best score that the search found, before it is brought to 0..1, and its plan.
    pub best: Option<(f64, String)>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The seed it was seen on.
    pub seed: u64,
    /// One sentence.
    pub message: String,
}

/// The proof of one scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    /// One row a seed.
    pub rows: Vec<Row>,
    /// What is wrong; empty: the scenario holds.
    pub findings: Vec<Finding>,
}

/// How far to search for plans that beat the reference on one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Not at all.
    None,
    /// Every single mutation, at three start times.
    Singles,
    /// Those, and this many pairs.
    Pairs(u32),
}

/// Proves one seed.
///
/// # Errors
/// Where a plan does not fit the topology, or the scenario not this build.
pub async fn prove(
    kinds: AllKinds,
    scenario: &Arc<Scenario>,
    seed: u64,
    search: Search,
) -> Result<Proof, EpisodeError> {
    let worlds = Worlds::new(kinds, scenario.clone(), seed, Vec::new()).await?;
    let noop = worlds.follow(&[]).await?;
    let reference = worlds.follow(&scenario.truth.reference).await?;
    let mut proof = Proof::default();
    let mut find = |message: String| proof.findings.push(Finding { seed, message });
    if !noop.paged {
        find("no page fires at tick 0; move the onset or the alert's threshold".into());
    }
    let d = check_stake(scenario, &noop, &reference, &mut find);
    let mut wrong = Vec::new();
    for (at, plan) in scenario.truth.wrong.iter().enumerate() {
        let world = worlds.follow(&plan.plan).await?;
        let value = (noop.impact() - world.impact()) as f64 / d;
        let share = value * d / (scenario.stakes.stake * MICRO);
        if let Some(message) = check_label(plan.label, share, value) {
            find(format!("wrong plan {}: {message}", at + 1));
        }
        wrong.push(value);
    }
    let best = match search {
        Search::None => None,
        _ => Some(best_plan(kinds, &worlds, &noop, d, search).await?),
    };
    let limit = (noop.impact() - reference.impact()) as f64 / d + BEYOND_MAX;
    if let Some((value, plan)) = &best
        && *value > limit
    {
        find(format!("{plan} scores {value:.3}, the reference {:.3}", limit - BEYOND_MAX));
    }
    let minutes = |world: &World| world.impact() as f64 / MICRO;
    proof.rows.push(Row {
        seed,
        noop: minutes(&noop),
        reference: minutes(&reference),
        wrong,
        best,
    });
    Ok(proof)
}

/// Checks noop and reference against the stake; returns the harm that counts as the whole score.
fn check_stake(
    scenario: &Scenario,
    noop: &World,
    reference: &World,
    find: &mut impl FnMut(String),
) -> f64 {
    let stake = scenario.stakes.stake * MICRO;
    if let Some(at) = reference.accepted.iter().position(|ok| !ok) {
        find(format!("action {} of the reference is refused", at + 1));
    }
    if !reference.slo_held {
        find(
            "an objective is missed in the hold window although the reference was followed".into(),
        );
    }
    if scenario.healthy {
        if reference.impact() > noop.impact() {
            find("the reference of a healthy scenario does harm".into());
        }
        return stake;
    }
    let d = (noop.impact() - reference.impact()) as f64;
    let (noop, reference) = (noop.impact() as f64 / MICRO, reference.impact() as f64 / MICRO);
    if d < stake {
        let stake = stake / MICRO;
        find(format!(
            "doing nothing costs {noop:.1} user-minutes and the reference {reference:.1}: less \
             apart than the stake of {stake:.1}"
        ));
    }
    if reference > REFERENCE_SHARE_MAX * noop {
        let share = 100.0 * reference / noop.max(1e-9);
        find(format!(
            "the reference costs {reference:.1} user-minutes, {share:.0} % of doing nothing \
             ({noop:.1}); at most 40 % are allowed"
        ));
    }
    d.max(stake)
}

/// Why a wrong plan is not what its label says.
fn check_label(label: WrongLabel, share: f64, value: f64) -> Option<String> {
    let gained = format!("it saves {} % of the stake", decimals(100.0 * share, 1));
    match label {
        WrongLabel::Harmful if share >= -ALIKE => Some(format!("harmful, but {gained}")),
        WrongLabel::Useless if share.abs() > ALIKE => Some(format!("useless, but {gained}")),
        WrongLabel::Palliative if share <= ALIKE => Some(format!("palliative, but {gained}")),
        WrongLabel::Palliative if value > PALLIATIVE_MAX => {
            Some(format!("palliative, but it scores {value:.2}"))
        }
        _ => None,
    }
}

/// The best of the plans that the search tries.
async fn best_plan(
    kinds: AllKinds,
    worlds: &Worlds,
    noop: &World,
    d: f64,
    search: Search,
) -> Result<(f64, String), EpisodeError> {
    let topology = &worlds.scenario().topology;
    let variants = action::variants(&Site::new(topology, &kinds));
    let mut best = (f64::NEG_INFINITY, String::new());
    for start in STARTS_S {
        for variant in &variants {
            let mut plan = waiting(start);
            plan.push(variant.clone());
            keep(&mut best, worlds, noop, d, &plan).await?;
        }
    }
    let Search::Pairs(pairs) = search else { return Ok(best) };
    let noise = worlds.page().noise_for("pairs");
    let pick = |n: u32, k: u64| {
        let at = noise.index(u64::from(n)).index(k).bits(0) % variants.len().max(1) as u64;
        variants.get(at as usize).cloned()
    };
    for n in 0..pairs {
        let start = STARTS_S[n as usize % STARTS_S.len()];
        let mut plan = waiting(start);
        plan.extend([pick(n, 0), pick(n, 1)].into_iter().flatten());
        keep(&mut best, worlds, noop, d, &plan).await?;
    }
    Ok(best)
}

async fn keep(
    best: &mut (f64, String),
    worlds: &Worlds,
    noop: &World,
    d: f64,
    plan: &[Action],
) -> Result<(), EpisodeError> {
    let world = worlds.follow(plan).await?;
    let value = (noop.impact() - world.impact()) as f64 / d;
    if value > best.0 {
        let words: Vec<_> = plan.iter().map(ToString::to_string).collect();
        *best = (value, words.join(", then "));
    }
    Ok(())
}

fn waiting(seconds: u32) -> Vec<Action> {
    let args = Params::default().with("seconds", f64::from(seconds));
    let wait = (seconds > 0).then(|| Action::new("wait", &args).ok());
    wait.flatten().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_checked_at_their_bounds() {
        for (label, share, value, fits) in [
            (WrongLabel::Harmful, -0.02, -0.02, true),
            (WrongLabel::Harmful, -0.005, -0.005, false),
            (WrongLabel::Useless, 0.009, 0.009, true),
            (WrongLabel::Useless, 0.02, 0.02, false),
            (WrongLabel::Useless, -0.02, -0.02, false),
            (WrongLabel::Palliative, 0.3, 0.3, true),
            (WrongLabel::Palliative, 0.0, 0.0, false),
            (WrongLabel::Palliative, 0.6, 0.6, false),
        ] {
            assert_eq!(check_label(label, share, value).is_none(), fits, "{label:?} {share}");
        }
    }
}
