//! Options of a component process, by flag or environment. The token is not among them: it comes
//! from the environment only ([`crate::token`]).

use std::net::SocketAddr;
use std::time::Duration;

use crate::household::Limits;
use crate::serve::Config;
use crate::token::{Token, TokenError};

/// Options of a component process.
#[derive(Clone, Debug, clap::Args)]
pub struct ComponentArgs {
    /// Address to listen on; port 0 lets the kernel choose.
    #[arg(long, env = "MAYDAY_LISTEN", default_value = "127.0.0.1:7000", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Most episodes held at once.
    #[arg(long, env = "MAYDAY_MAX_EPISODES", default_value_t = 4096, value_name = "N")]
    pub max_episodes: usize,
    /// An episode that nobody asked for this long may be forgotten, seconds.
    #[arg(long, env = "MAYDAY_IDLE_TTL", default_value_t = 3600, value_name = "SECONDS")]
    pub idle_ttl: u64,
    /// Serve gRPC reflection.
    #[arg(long, env = "MAYDAY_REFLECTION")]
    pub reflection: bool,
}

impl ComponentArgs {
    /// The configuration, with the token of the environment.
    ///
    /// # Errors
    /// Where the environment holds something that is no token.
    pub fn config(&self) -> Result<Config, TokenError> {
        Ok(Config {
            listen: self.listen,
            token: Token::from_environment()?,
            limits: Limits {
                episodes_max: self.max_episodes,
                idle_ttl: Duration::from_secs(self.idle_ttl),
            },
            reflection: self.reflection,
        })
    }
}
