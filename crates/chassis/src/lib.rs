//! What the process of every kind shares: the episodes it holds, the control plane over them, the
//! answer to requests, the listener. Knows no kind by name and no machine from inside.

pub mod answer;
pub mod args;
pub mod household;
pub mod incarnation;
pub mod probe;
pub mod resident;
pub mod sequence;
pub mod serve;
pub mod service;
pub mod token;
pub mod wire;

#[cfg(test)]
mod tests;

pub use answer::{Desk, answer};
pub use args::ComponentArgs;
pub use household::{Household, Limits};
pub use probe::{ProbeError, probe};
pub use serve::{Component, Config, RequestRoutes, ServeError, serve, stop_signal};
pub use service::ControlService;
pub use token::{Token, TokenError, TokenLayer};
