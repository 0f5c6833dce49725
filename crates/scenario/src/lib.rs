//! Scenarios: what breaks in which system, and what should be done about it. A YAML file becomes
//! what was written ([`raw`]), then what is meant ([`resolved`]); everything wrong with it is
//! said with file, line and column.

pub mod resolved;

pub use resolved::Scenario;
