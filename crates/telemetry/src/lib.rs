//! What is kept of the past and how it is shown: history columns, the change list, signals.

pub mod column;
pub mod history;
pub mod signal;

pub use column::{pack, unpack};
pub use history::{Change, History, Levels, Row};
pub use signal::{ColumnSpec, Moment, Pooling, SignalSpec};
