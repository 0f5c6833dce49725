//! Scenarios: what breaks in which system, and what should be done about it. A YAML file becomes
//! what was written ([`raw`]), then what is meant ([`resolved`]); everything wrong with it is
//! said with file, line and column. Modules in reading order.

pub mod resolved;

pub mod error;
pub mod library;
pub mod raw;

pub mod format;
pub mod grammar;

mod resolve;
mod sound;

pub mod load;
pub mod schema;

pub use error::ScenarioError;
pub use library::{DIALECTS, Library, of_dialect};
pub use load::{load, parse, topology};
pub use resolved::Scenario;
pub use schema::schema;

#[cfg(test)]
mod tests;
