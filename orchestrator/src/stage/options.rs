//! Which dialects `mayday serve` speaks, and where: below a prefix of the agents' port, or on the
//! root of a port of their own.

use super::{Limits, Stage};
use crate::dialects::{self, Dialect};
use crate::failure::Failure;
use crate::serving;
use crate::sessions::Sessions;
use crate::shelf::Shelf;
use axum::Router;
use scenario::Scenario;
use serde_json::Value;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

/// Dialects of other incident simulators. They are off unless named: to be compatible they tell
/// more than an agent under test should know.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DialectArgs {
    /// Speaks this dialect below /NAME of the agents' port; may be given several times.
    #[arg(long = "dialect", value_name = "NAME", value_parser = find)]
    below: Vec<&'static Dialect>,
    /// Speaks a dialect on the root of a port of its own, for clients whose paths are fixed; may
    /// be given several times. Port 0 lets the kernel choose.
    #[arg(long = "dialect-listen", value_name = "NAME=ADDRESS")]
    apart: Vec<Apart>,
}

/// A dialect on a port of its own.
#[derive(Clone, Debug)]
struct Apart {
    dialect: &'static Dialect,
    listen: SocketAddr,
}

fn find(name: &str) -> Result<&'static Dialect, String> {
    dialects::find(name).ok_or_else(|| {
        let known: Vec<_> = dialects::all().iter().map(|dialect| dialect.name).collect();
        action::near::suggestion("dialect", name, &known)
    })
}

impl FromStr for Apart {
    type Err = String;

    fn from_str(text: &str) -> Result<Apart, String> {
        let shape = "expected NAME=ADDRESS, such as netarena=127.0.0.1:7860";
        let (name, listen) = text.split_once('=').ok_or(shape)?;
        let listen = listen.parse().map_err(|_| shape)?;
        Ok(Apart { dialect: find(name)?, listen })
    }
}

/// A dialect whose port is bound and that does not serve yet.
#[derive(Debug)]
pub struct Bound {
    /// Its name.
    pub name: &'static str,
    /// Where it listens.
    pub address: SocketAddr,
    /// The listener.
    pub listener: TcpListener,
    /// What it serves.
    pub routes: Router,
}

impl Bound {
    /// Its name and its address.
    pub fn told(&self) -> (String, Value) {
        (self.name.into(), self.address.to_string().into())
    }
}

impl DialectArgs {
    /// How many places a dialect is spoken at.
    pub fn count(&self) -> usize {
        self.below.len() + self.apart.len()
    }

    /// All scenarios that the chosen dialects play.
    ///
    /// # Errors
    /// Where the library lacks one, or one is wrong.
    pub fn scenarios(&self, shelf: &Shelf) -> Result<Vec<Arc<Scenario>>, Failure> {
        let apart = self.apart.iter().map(|apart| apart.dialect);
        let mut names: Vec<_> = self
            .below
            .iter()
            .copied()
            .chain(apart)
            .flat_map(|dialect| dialect.scenarios.iter().copied())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| shelf.load(name)).collect()
    }

    /// A stage for each chosen dialect: the routes below prefixes, and what is to be served apart.
    /// Has to be called in the runtime that computes; `carriers` carry the bytes.
    ///
    /// # Errors
    /// Where an address cannot be had.
    pub async fn open(
        &self,
        sessions: &Arc<Sessions>,
        scenarios: &[Arc<Scenario>],
        limits: Limits,
        carriers: &Handle,
    ) -> Result<(Router, Vec<Bound>), Failure> {
        let routes = |dialect: &'static Dialect| {
            let stage = Stage::new(sessions.clone(), scenarios.iter().cloned(), limits);
            dialect.router(Arc::new(stage))
        };
        let mut below = Router::new();
        let mut seen = Vec::new();
        for dialect in &self.below {
            if !seen.contains(&dialect.name) {
                seen.push(dialect.name);
                below = below.nest(&format!("/{}", dialect.name), routes(dialect));
            }
        }
        let mut bound = Vec::new();
        for Apart { dialect, listen } in &self.apart {
            let taken = carriers.spawn(serving::bind(*listen)).await.map_err(Failure::failed)?;
            let (listener, address) = taken.map_err(|failure| {
                Failure::failed(failure.to_string().replace("--listen", "--dialect-listen"))
            })?;
            let (name, routes) = (dialect.name, routes(dialect));
            bound.push(Bound { name, address, listener, routes });
        }
        Ok((below, bound))
    }
}
