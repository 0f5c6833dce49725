//! How the server behaves.

use std::time::Duration;

/// Largest message from a client, bytes; beyond it the socket closes with 1009.
pub const MESSAGE_MAX: usize = 16 << 20;

/// Limits and periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Most sessions at once.
    pub sessions_max: usize,
    /// The option that sets it, for the answer to whom it refuses.
    pub sessions_option: &'static str,
    /// A session without a request for this long is closed.
    pub idle: Duration,
    /// A session whose socket broke can be gone on with for this long.
    pub grace: Duration,
    /// How often a silent socket is pinged.
    pub ping: Duration,
    /// No answer takes longer: below what clients wait, so that none comes late.
    pub answer: Duration,
    /// A client that does not read for this long is gone.
    pub write: Duration,
    /// HTTP `/reset`, `/step` and `/state` are served.
    pub simulation: bool,
    /// Names under which Model Context Protocol clients may reach this server; empty: any.
    pub hosts: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sessions_max: 4096,
            sessions_option: "sessions_max",
            idle: Duration::from_secs(3600),
            grace: Duration::from_secs(120),
            ping: Duration::from_secs(20),
            answer: Duration::from_secs(50),
            write: Duration::from_secs(30),
            simulation: true,
            hosts: ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec(),
        }
    }
}
