//! The grader: what an episode was worth, by what happened to the users. It plays the worlds in
//! which nobody did anything and in which the reference plan was followed, in its own embedded
//! fleet, and explains each score by terms that add up.

pub mod cache;
pub mod grade;
pub mod local;
pub mod proof;
pub mod service;
pub mod terms;
pub mod wire;
pub mod worlds;

pub use local::LocalJudge;
pub use proof::{Finding, Proof, Search, prove};
pub use service::GraderService;
pub use wire::RemoteJudge;
pub use worlds::{World, Worlds};
