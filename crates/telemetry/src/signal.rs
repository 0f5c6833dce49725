//! Signals: what monitoring shows of an instance, decoded from a history row and the levels of
//! changed keys. Names are lower-case words joined by dots, `component.noun.unit` without the
//! component; each kind lists its signals in its own `signals.rs` and nowhere else.

use crate::history::Levels;
use model::{COLUMNS_MAX, Setup};

/// How the rounds of a tick become one value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The mean over the rounds (rates).
    Mean,
    /// The value of the last round (levels and qualities).
    Last,
}

/// One history column of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: &'static str,
    /// How rounds are pooled.
    pub pooling: Pooling,
}

/// All that a signal is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The instance.
    pub setup: &'a Setup,
    /// The unpacked row.
    pub row: &'a [f64; COLUMNS_MAX],
    /// Levels of changed keys at the end of the tick.
    pub levels: &'a Levels,
}

/// One signal of a kind.
#[derive(Clone, Copy)]
pub struct SignalSpec {
    /// Its name, e.g. `error.ratio`.
    pub name: &'static str,
    /// Its unit in UCUM's notation, e.g. `s`, `1`, `By`, `{request}/s`.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Relative measurement noise (one standard deviation) in rendered series.
    pub noise: f64,
    /// Its value.
    pub value: fn(&Moment<'_>) -> f64,
}

impl std::fmt::Debug for SignalSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignalSpec").field("name", &self.name).field("unit", &self.unit).finish()
    }
}
