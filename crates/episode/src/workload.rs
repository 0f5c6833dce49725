//! What users want: demand per class as a function of the scenario, the seed and the tick. Nothing
//! that happens in the world changes it.

use model::{CLASSES_MAX, Noise, PerClass, Tick};
use scenario::resolved::Workload;
use serde::{Deserialize, Serialize};

/// The pieces of constant demand, and the piece that covers the present tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Demand {
    noise: Noise,
    /// Start of the present piece.
    from: Tick,
    /// Start of the next one.
    to: Tick,
    /// Number of the present piece.
    piece: i64,
    level: PerClass,
}

impl Demand {
    pub(crate) fn new(workload: &Workload, noise: Noise, start: Tick) -> Demand {
        let level = [0.0; CLASSES_MAX];
        let mut demand = Demand { noise, from: start, to: start, piece: -1, level };
        demand.next_piece(workload);
        demand
    }

    fn next_piece(&mut self, workload: &Workload) {
        self.piece += 1;
        self.from = self.to;
        let (least, most) = (f64::from(workload.hold_min_s), f64::from(workload.hold_max_s));
        let held = self.noise.branch("hold").between(self.piece, least, most.max(least) + 1.0);
        self.to = self.from.plus((held as i64).max(1));
        let shape = 1.0 + workload.daily_amplitude * wave(self.from.0 as f64, workload.period_s);
        self.level = [0.0; CLASSES_MAX];
        for wanted in &workload.demand {
            let noise = self.noise.branch("level").index(wanted.class.at() as u64);
            let jitter = 1.0 + workload.jitter * noise.gauss(self.piece);
            self.level[wanted.class.at()] = (wanted.rate * shape * jitter).max(0.0);
        }
    }

    /// Demand of `tick`, requests per second; ticks come in order.
    pub(crate) fn at(&mut self, workload: &Workload, tick: Tick) -> PerClass {
        while tick >= self.to {
            self.next_piece(workload);
        }
        let mut demand = self.level;
        for burst in workload.bursts.iter().filter(|b| tick >= b.from && tick < b.to) {
            for (rate, factor) in demand.iter_mut().zip(&burst.factor) {
                *rate *= factor;
            }
        }
        demand
    }
}

/// A wave of period `period_s` between −1 and 1, made of parabolas: within 6 % of a sine, and the
/// same on every platform.
fn wave(at_s: f64, period_s: f64) -> f64 {
    let phase = at_s / period_s.max(1.0);
    let x = 2.0 * (phase - phase.floor());
    if x < 1.0 { 4.0 * x * (1.0 - x) } else { -4.0 * (x - 1.0) * (2.0 - x) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ClassId;
    use scenario::resolved::{Burst, Demand as Wanted};

    fn workload() -> Workload {
        let mut factor = [1.0; CLASSES_MAX];
        factor[0] = 3.0;
        Workload {
            demand: vec![Wanted { class: ClassId(0), rate: 100.0 }],
            daily_amplitude: 0.2,
            period_s: 3600.0,
            hold_min_s: 30,
            hold_max_s: 60,
            jitter: 0.02,
            bursts: vec![Burst { from: Tick(50), to: Tick(60), factor }],
        }
    }

    #[test]
    fn demand_is_held_and_bursts_are_steps_of_their_own() {
        let workload = workload();
        let mut demand = Demand::new(&workload, Noise::root(3), Tick(-300));
        let levels: Vec<f64> = (-300..900).map(|t| demand.at(&workload, Tick(t))[0]).collect();
        let steps = levels.windows(2).filter(|w| w[0] != w[1]).count();
        assert!((20..44).contains(&steps), "{steps} steps in 1200 ticks");
        assert!((levels[350] / levels[349] - 3.0).abs() < 0.2);
        assert!(levels.iter().all(|l| *l > 70.0 && *l < 400.0));
    }

    #[test]
    fn the_wave_goes_up_and_down_between_one_and_minus_one() {
        for (at, expected) in [(0.0, 0.0), (25.0, 1.0), (50.0, 0.0), (75.0, -1.0), (100.0, 0.0)] {
            assert!((wave(at, 100.0) - expected).abs() < 1e-12, "{at}");
        }
        assert!((wave(-25.0, 100.0) + 1.0).abs() < 1e-12);
    }
}
