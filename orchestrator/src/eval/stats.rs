//! What many episodes came to: passes, means, and how far they can be trusted.

use super::journal::Row;
use super::outcome::Ending;
use model::Noise;
use serde::Serialize;
use std::collections::BTreeMap;

/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2000;
/// Seed of its dice, which are its own: the same rows give the same interval.
const DICE: Noise = Noise::root(0).branch("bootstrap");

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// 95 % of resamples are above this and below `high`; absent for fewer than two worlds.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
}

/// What some episodes came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Pairs of scenario and seed.
    pub worlds: usize,
    /// Episodes.
    pub episodes: usize,
    /// Episodes that passed.
    pub passed: usize,
    /// Chance that one attempt passes.
    pub pass_at_1: Option<f64>,
    /// Chance that k attempts at the same world all pass, for k = 1, 2, …
    pub pass_hat: Vec<f64>,
    /// Mean score.
    pub score: Option<Estimate>,
    /// Mean impact, user-minutes.
    pub impact: Option<f64>,
    /// Mean steps.
    pub steps: Option<f64>,
    /// Mean length of the agent's phase, simulated minutes.
    pub minutes: Option<f64>,
    /// Simulated minutes of all of them.
    pub minutes_total: f64,
    /// How many ended how.
    pub ends: BTreeMap<Ending, usize>,
    /// Resets that did not count.
    pub later_resets: u64,
}

/// Summary of these rows; an episode passes from a score of `pass` on.
pub fn summary<'a>(rows: impl Iterator<Item = &'a Row>, pass: f64) -> Summary {
    let rows: Vec<_> = rows.collect();
    let mut worlds: BTreeMap<(&str, u64), Vec<f64>> = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for row in &rows {
        let world = (row.job.scenario.as_str(), row.job.seed);
        worlds.entry(world).or_default().push(row.assessment.score);
        *ends.entry(row.assessment.end).or_default() += 1;
    }
    let worlds: Vec<_> = worlds.into_values().collect();
    let passes = |scores: &Vec<f64>| scores.iter().filter(|score| **score >= pass).count();
    let plays: Vec<_> = worlds.iter().map(|scores| (scores.len(), passes(scores))).collect();
    let most = plays.iter().map(|(played, _)| *played).min().unwrap_or(0);
    let minutes = |row: &&Row| f64::from(row.assessment.seconds) / 60.0;
    Summary {
        worlds: worlds.len(),
        episodes: rows.len(),
        passed: plays.iter().map(|(_, passed)| passed).sum(),
        pass_at_1: pass_hat(&plays, 1),
        pass_hat: (1..=most).filter_map(|k| pass_hat(&plays, k)).collect(),
        score: estimate(&worlds),
        impact: mean(rows.iter().map(|row| row.assessment.impact)),
        steps: mean(rows.iter().map(|row| f64::from(row.assessment.steps))),
        minutes: mean(rows.iter().map(minutes)),
        minutes_total: rows.iter().map(minutes).sum(),
        ends,
        later_resets: rows.iter().map(|row| u64::from(row.later_resets)).sum(),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// Mean over worlds of the share of all ways to take k of its n plays in which every one passed:
/// C(c, k) / C(n, k). Worlds with fewer than k plays say nothing.
fn pass_hat(plays: &[(usize, usize)], k: usize) -> Option<f64> {
    let enough = plays.iter().filter(|(played, _)| *played >= k);
    mean(enough.map(|(played, passed)| {
        (0..k).map(|i| passed.saturating_sub(i) as f64 / (played - i) as f64).product()
    }))
}

/// The mean score; its interval by resampling whole worlds, since plays of one world are alike.
fn estimate(worlds: &[Vec<f64>]) -> Option<Estimate> {
    let mean = mean(worlds.iter().flatten().copied())?;
    if worlds.len() < 2 {
        return Some(Estimate { mean, low: None, high: None });
    }
    let sums: Vec<_> = worlds.iter().map(|scores| (scores.iter().sum(), scores.len())).collect();
    let mut means: Vec<f64> = (0..RESAMPLES).map(|sample| resampled(&sums, sample)).collect();
    means.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    let (low, high) = (means.get(tail).copied(), means.get(RESAMPLES - 1 - tail).copied());
    Some(Estimate { mean, low, high })
}

/// The mean of as many worlds, drawn with replacement.
fn resampled(sums: &[(f64, usize)], sample: usize) -> f64 {
    let dice = DICE.index(sample as u64);
    let (mut sum, mut count) = (0.0, 0usize);
    for draw in 0..sums.len() {
        let at = (dice.unit(draw as i64) * sums.len() as f64) as usize;
        let (scores, plays) = sums[at.min(sums.len() - 1)];
        sum += scores;
        count += plays;
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::journal::tests::row;
    use super::*;

    fn rows(worlds: &[&[f64]]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (seed, scores) in (0u64..).zip(worlds) {
            for (repeat, score) in (0u32..).zip(*scores) {
                let mut row = row(seed, *score);
                row.job.repeat = repeat;
                rows.push(row);
            }
        }
        rows
    }

    fn of(worlds: &[&[f64]]) -> Summary {
        summary(rows(worlds).iter(), 0.9)
    }

    #[test]
    fn passes_are_counted_by_world() {
        // 3 of 4 and 1 of 4 plays pass.
        let summary = of(&[&[1.0, 0.9, 0.95, 0.0], &[0.899, 1.0, 0.0, 0.0]]);
        assert_eq!((summary.worlds, summary.episodes, summary.passed), (2, 8, 4));
        assert_eq!(summary.pass_at_1, Some(0.5));
        // C(3,2)/C(4,2) = 1/2 and 0; C(3,3)/C(4,3) = 1/4 and 0.
        let hat = &summary.pass_hat;
        assert_eq!(hat.len(), 4);
        for (hat, expected) in hat.iter().zip([0.5, 0.25, 0.125, 0.0]) {
            assert!((hat - expected).abs() < 1e-12, "{summary:?}");
        }
        assert_eq!((summary.minutes, summary.minutes_total), (Some(1.5), 12.0));
        assert_eq!(summary.ends, BTreeMap::from([(Ending::Resolved, 8)]));
    }

    #[test]
    fn no_episodes_are_no_figures_and_one_world_has_no_interval() {
        assert_eq!(of(&[]), Summary::default());
        let one = of(&[&[0.2, 0.4]]).score.unwrap();
        assert!((one.mean - 0.3).abs() < 1e-12 && one.low.is_none(), "{one:?}");
        // Worlds with unequal numbers of plays: pass^k only as far as all go.
        assert_eq!(of(&[&[1.0, 1.0], &[1.0]]).pass_hat, [1.0]);
    }

    #[test]
    fn intervals_are_those_of_the_theory_and_the_same_every_time() {
        let scores: Vec<[f64; 1]> = (0..100).map(|i| [f64::from(i) / 99.0]).collect();
        let worlds: Vec<&[f64]> = scores.iter().map(|score| &score[..]).collect();
        let estimate = of(&worlds).score.unwrap();
        assert_eq!(Some(estimate), of(&worlds).score);
        // Uniform: sd = 0.2915, so 1.96 sd / √100 = 0.0571.
        let (low, high) = (estimate.low.unwrap(), estimate.high.unwrap());
        assert!((estimate.mean - 0.5).abs() < 1e-9, "{estimate:?}");
        assert!((high - low - 2.0 * 0.0571).abs() < 0.01, "{estimate:?}");
        assert!(low < estimate.mean && estimate.mean < high, "{estimate:?}");
        // Plays of the same world are no independent evidence.
        let (one, same) = (of(&[&[0.0], &[1.0]]), of(&[&[0.0; 9], &[1.0; 9]]));
        assert_eq!(one.score.unwrap().high, same.score.unwrap().high);
    }
}
