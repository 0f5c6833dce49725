//! From what was written to what is meant. Every step takes checked nodes and gives resolved data
//! or the first flaw with its place.

mod edges;
mod events;
mod lookup;
mod merge;
mod names;
mod plan;
mod scenario;
mod topology;
mod watch;
mod workload;

pub(crate) use scenario::scenario;
pub(crate) use topology::topology;
