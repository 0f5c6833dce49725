//! What monitoring watches: counts of good and wanted requests, burn rates over two windows,
//! conditions on signals, and the alerts made of them. All of it is engine state.

use machine::Kind;
use model::{COLUMNS_MAX, Digester, InstanceId, PerClass, Setup, Tick};
use scenario::resolved::{Condition, Scenario, Slo, Subject};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use telemetry::{Levels, Moment, Row, unpack};

/// One tick of all users: wanted, good, answered, attempts, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) wanted: PerClass,
    pub(crate) good: PerClass,
    pub(crate) answered: PerClass,
    pub(crate) attempts: f64,
}

/// The last row and the levels of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) row: Row,
    pub(crate) levels: Levels,
}

impl Seen {
    /// The value of a signal, as it is (measurement noise is for rendered series).
    pub(crate) fn signal(&self, kind: &dyn Kind, setup: &Setup, name: &str) -> Option<f64> {
        let signal = kind.signals().iter().find(|s| s.name == name)?;
        let mut row = [0.0; COLUMNS_MAX];
        for (value, code) in row.iter_mut().zip(&self.row) {
            *value = unpack(*code);
        }
        Some((signal.value)(&Moment { setup, row: &row, levels: &self.levels }))
    }
}

/// Sums of one objective over its two windows, in millionths of a request, so that they are exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Burn {
    /// (wanted, good) per tick of the long window, newest last.
    window: VecDeque<(i64, i64)>,
    /// Sums over the short window.
    recent: (i64, i64),
    /// Sums over the long window.
    all: (i64, i64),
    fast: usize,
    slow: usize,
    objective: f64,
    /// Of everything that ever was in the window, in whose place a digest takes it.
    rolling: Digester,
}

impl Burn {
    fn new(slo: &Slo) -> Burn {
        let (fast, slow) = (slo.fast_s.max(1) as usize, slo.slow_s.max(slo.fast_s).max(1) as usize);
        let window = VecDeque::with_capacity(slow);
        let (objective, rolling) = (slo.objective, Digester::default());
        Burn { window, recent: (0, 0), all: (0, 0), fast, slow, objective, rolling }
    }

    fn push(&mut self, wanted: f64, good: f64) {
        let micro = |rate: f64| (rate * 1e6).round() as i64;
        let new = (micro(wanted), micro(good));
        if self.window.len() == self.slow
            && let Some(old) = self.window.pop_front()
        {
            self.all = (self.all.0 - old.0, self.all.1 - old.1);
        }
        self.window.push_back(new);
        self.rolling.word(new.0 as u64);
        self.rolling.word(new.1 as u64);
        self.all = (self.all.0 + new.0, self.all.1 + new.1);
        self.recent = (self.recent.0 + new.0, self.recent.1 + new.1);
        if self.window.len() > self.fast {
            let old = self.window[self.window.len() - 1 - self.fast];
            self.recent = (self.recent.0 - old.0, self.recent.1 - old.1);
        } else if self.fast == self.slow {
            self.recent = self.all;
        }
    }

    /// Good over wanted in the short or the long window; 1 without demand.
    pub(crate) fn ratio(&self, ticks: usize) -> f64 {
        let (wanted, good) = if ticks == self.fast { self.recent } else { self.all };
        if wanted > 0 { good as f64 / wanted as f64 } else { 1.0 }
    }

    /// Speed at which the error budget is spent: 1 spends it exactly.
    pub(crate) fn burn(&self, ticks: usize) -> f64 {
        (1.0 - self.ratio(ticks)) / (1.0 - self.objective).max(1e-6)
    }

    /// Everything but the window itself: what is digested costs the same however long it is.
    fn brief(&self) -> impl Serialize + use<> {
        let Burn { window, recent, all, fast, slow, objective, rolling } = self;
        (window.len(), *recent, *all, *fast, *slow, *objective, *rolling)
    }

    /// Value of one of the signals of an objective.
    fn signal(&self, name: &str) -> f64 {
        let (fast, slow) = (self.fast, self.slow);
        match name {
            "burn.fast" => self.burn(fast),
            "burn.slow" => self.burn(slow),
            "good.ratio" => self.ratio(fast),
            _ => self.burn(fast).min(self.burn(slow)),
        }
    }

    pub(crate) fn fast(&self) -> usize {
        self.fast
    }

    pub(crate) fn slow(&self) -> usize {
        self.slow
    }
}

/// A condition's counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// Ticks in a row it held.
    ticks: u32,
}

impl Held {
    /// Counts one tick; whether the condition holds long enough now.
    pub(crate) fn count(&mut self, holds: bool, for_s: u32) -> bool {
        self.ticks = if holds { self.ticks.saturating_add(1) } else { 0 };
        self.ticks >= for_s.max(1)
    }

    fn ticks(self) -> u32 {
        self.ticks
    }
}

/// One alert rule at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Alarm {
    pub(crate) held: Held,
    pub(crate) firing: bool,
    /// First tick on which the condition held, of the present or last firing.
    pub(crate) onset: Tick,
    /// When it last stopped firing.
    pub(crate) ended: Option<Tick>,
}

/// Everything that monitoring keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Watch {
    pub(crate) counts: Counts,
    pub(crate) seen: Vec<Seen>,
    pub(crate) burns: Vec<Burn>,
    pub(crate) alarms: Vec<Alarm>,
}

/// What a condition is evaluated over besides the watch itself.
#[derive(Clone, Copy)]
pub(crate) struct Cast<'a> {
    pub(crate) setups: &'a [Setup],
    pub(crate) kinds: &'a [&'static dyn Kind],
}

impl Watch {
    pub(crate) fn new(scenario: &Scenario) -> Watch {
        Watch {
            counts: Counts::default(),
            seen: vec![Seen::default(); scenario.topology.instances.len()],
            burns: scenario.slos.iter().map(Burn::new).collect(),
            alarms: vec![Alarm::default(); scenario.alerts.len()],
        }
    }

    /// What a digest takes of it.
    pub(crate) fn brief(&self) -> impl Serialize + '_ {
        let Watch { counts, seen, burns, alarms } = self;
        (counts, seen, burns.iter().map(Burn::brief).collect::<Vec<_>>(), alarms)
    }

    /// Takes the users' tick over.
    pub(crate) fn users(&mut self, counts: Counts, scenario: &Scenario) {
        self.counts = counts;
        for (slo, burn) in scenario.slos.iter().zip(&mut self.burns) {
            let (mut wanted, mut good) = (0.0, 0.0);
            for class in &slo.classes {
                wanted += counts.wanted[class.at()];
                good += counts.good[class.at()].min(counts.wanted[class.at()]);
            }
            burn.push(wanted, good);
        }
    }

    /// Whether a condition holds in this tick.
    pub(crate) fn holds(&self, condition: &Condition, cast: Cast<'_>) -> bool {
        let value = match condition.of {
            Subject::Component(id) => self.component(id, &condition.signal, cast),
            Subject::Users => users_signal(&self.counts, &condition.signal),
            Subject::Slo(at) => self.burns[usize::from(at)].signal(&condition.signal),
        };
        condition.comparison.holds(value, condition.value)
    }

    fn component(&self, id: InstanceId, signal: &str, cast: Cast<'_>) -> f64 {
        let at = id.at();
        self.seen[at].signal(cast.kinds[at], &cast.setups[at], signal).unwrap_or(0.0)
    }

    /// Counts all alert rules at the end of `tick`.
    pub(crate) fn alert(&mut self, scenario: &Scenario, cast: Cast<'_>, tick: Tick) {
        for (at, rule) in scenario.alerts.iter().enumerate() {
            let holds = self.holds(&rule.when, cast);
            let alarm = &mut self.alarms[at];
            let fires = alarm.held.count(holds, rule.when.for_s);
            if fires && !alarm.firing {
                alarm.onset = tick.plus(1 - i64::from(alarm.held.ticks()));
            }
            if alarm.firing && !fires {
                alarm.ended = Some(tick);
            }
            alarm.firing = fires;
        }
    }
}

fn users_signal(counts: &Counts, name: &str) -> f64 {
    let sum = |rates: &PerClass| rates.iter().sum::<f64>();
    let wanted = sum(&counts.wanted);
    let good: f64 = counts.wanted.iter().zip(&counts.good).map(|(w, g)| g.min(*w)).sum();
    let share = |part: f64| if wanted > 0.0 { part / wanted } else { 1.0 };
    match name {
        "demand.rate" => wanted,
        "good.rate" => good,
        "good.ratio" => share(good),
        "bad.ratio" => 1.0 - share(good),
        "error.ratio" => 1.0 - share(sum(&counts.answered).min(wanted)),
        _ => {
            if wanted > 0.0 {
                counts.attempts / wanted
            } else {
                1.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_windows_have_to_burn() {
        let slo = Slo {
            name: "checkout".into(),
            classes: Vec::new(),
            objective: 0.99,
            fast_s: 5,
            slow_s: 20,
            burn: 10.0,
        };
        let mut burn = Burn::new(&slo);
        (0..20).for_each(|_| burn.push(100.0, 100.0));
        assert_eq!(burn.signal("burn"), 0.0);
        (0..5).for_each(|_| burn.push(100.0, 50.0));
        assert!((burn.signal("burn.fast") - 50.0).abs() < 1e-9);
        assert!((burn.signal("burn.slow") - 12.5).abs() < 1e-9);
        assert!((burn.signal("burn") - 12.5).abs() < 1e-9);
        (0..5).for_each(|_| burn.push(0.0, 0.0));
        assert_eq!(burn.signal("good.ratio"), 1.0, "no demand, no failure");
    }

    #[test]
    fn what_is_digested_tells_windows_of_the_same_sums_apart() {
        let slo = Slo {
            name: "checkout".into(),
            classes: Vec::new(),
            objective: 0.99,
            fast_s: 2,
            slow_s: 4,
            burn: 10.0,
        };
        let of = |goods: [f64; 2]| {
            let mut burn = Burn::new(&slo);
            goods.into_iter().for_each(|good| burn.push(100.0, good));
            (burn.all, machine::digest("burn", &burn.brief()).unwrap())
        };
        let (first, second) = (of([100.0, 50.0]), of([50.0, 100.0]));
        assert_eq!(first.0, second.0);
        assert_ne!(first.1, second.1);
    }

    #[test]
    fn a_condition_must_hold_in_a_row() {
        let mut held = Held::default();
        let fired: Vec<_> =
            [true, true, false, true, true, true].map(|h| held.count(h, 3)).to_vec();
        assert_eq!(fired, [false, false, false, false, false, true]);
    }
}
