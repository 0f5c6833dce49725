//! Simulated telemetry as OTLP: what one episode's history says, as export requests whose bytes
//! follow from the episode alone, and the sender that brings them to a collector. Start with
//! `scribe`. It does not know where requests, lines and levels come from, and no kind by name.

mod attribute;
pub mod call;
pub mod config;
pub mod names;
pub mod payload;
pub mod scene;
pub mod scribe;
pub mod sender;
pub mod stats;
pub mod time;
mod transport;
mod write;

pub use call::{Call, Request};
pub use config::{Config, ConfigError, Environment};
pub use payload::{Payload, Signal};
pub use scene::Scene;
pub use scribe::{Level, Line, Scribe, Style, Window};
pub use sender::{Overflow, Sender};
pub use stats::{Counts, Stats};
