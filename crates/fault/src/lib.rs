//! What can break: one catalogue of faults. A fault is data: which levers it pulls, on which
//! targets, with which strength. Levers belong to kinds; mitigations belong to scenarios.

pub mod aim;
pub mod spec;

pub mod catalogue;

mod params;

pub use aim::{Aim, Target};
pub use catalogue::{all, find};
pub use spec::{FaultError, FaultSpec, Targets};
