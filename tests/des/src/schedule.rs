//! A value that changes at given instants. It knows nothing of what it stands for.

/// A piecewise constant function of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// `(from, value)`, seconds, in ascending order; the first value also holds before its instant.
    steps: Vec<(f64, f64)>,
}

impl Schedule {
    /// The same value at all times.
    pub fn constant(value: f64) -> Self {
        Self { steps: vec![(0.0, value)] }
    }

    /// `first`, then each value from its instant (seconds) on.
    ///
    /// # Panics
    /// If the instants do not ascend.
    pub fn steps(first: f64, changes: &[(f64, f64)]) -> Self {
        let mut steps = vec![(0.0, first)];
        for &(from, value) in changes {
            assert!(from >= steps[steps.len() - 1].0, "instants of a schedule must ascend");
            steps.push((from, value));
        }
        Self { steps }
    }

    /// `normal`, but `value` in `from..until` (seconds).
    pub fn during(normal: f64, from: f64, until: f64, value: f64) -> Self {
        Self::steps(normal, &[(from, value), (until, normal)])
    }

    /// The value at `time` (seconds).
    pub fn at(&self, time: f64) -> f64 {
        let after = self.steps.partition_point(|step| step.0 <= time);
        self.steps[after.saturating_sub(1)].1
    }

    /// The instants (seconds) at which the value changes.
    pub(crate) fn instants(&self) -> impl Iterator<Item = f64> + '_ {
        self.steps.iter().map(|step| step.0)
    }

    /// All values it ever takes.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.steps.iter().map(|step| step.1)
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn a_value_holds_from_its_instant_on() {
        let s = Schedule::during(1.0, 60.0, 80.0, 0.4);
        let seen = [0.0, 59.9, 60.0, 79.9, 80.0].map(|t| s.at(t));
        assert_eq!(seen, [1.0, 1.0, 0.4, 0.4, 1.0]);
    }
}
