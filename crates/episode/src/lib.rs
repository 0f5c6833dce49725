//! The engine: the story of a step, from the agent's action to its observation, in any fleet.
//! Start with `step`, then `tick`.

pub mod engine;
pub mod episode;
pub mod error;
pub mod handover;
pub mod impact;
pub mod input;
pub mod judge;
pub mod observe;
pub mod replay;
pub mod step;

mod exchange;
mod motion;
mod reads;
mod rig;
mod schedule;
mod tick;
mod users;
mod watch;
mod workload;

pub use engine::Engine;
pub use episode::{AllKinds, Episode};
pub use error::EpisodeError;
pub use handover::Handover;
pub use impact::MICRO;
pub use input::{ControlOrder, External};
pub use judge::{Baselines, Grade, Judge, Term};
pub use observe::{ActionResult, AlertView, ObjectiveView, Observation};
pub use replay::scenario_of;
pub use step::{Purse, StepReply};
