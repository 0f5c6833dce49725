//! The control port: what an experimenter does to episodes and may know of them, as gRPC, the same
//! as JSON over HTTP, and a page of metrics. Nothing of it is served where agents connect. Start
//! with `service`.

mod aim;
mod convert;
mod metrics;
mod mirror;
mod past;
mod schema;
mod service;

pub(crate) use convert::to_struct;
pub use metrics::{Held, Metrics};
pub use mirror::{Mirror, MirrorLayer};
pub use schema::Schema;
pub use service::ControlService;

/// The services that answer JSON as well.
pub const MIRRORED: &[&str] = &[
    "mayday.orchestrator.v1.Control",
    "mayday.orchestrator.v1.Episodes",
    "mayday.evaluation.v1.Evaluations",
];
