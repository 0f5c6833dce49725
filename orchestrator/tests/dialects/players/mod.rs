//! How recorded episodes of each system are played here, and what of them is compared. One file
//! and one line per dialect.

mod incident_sim;
mod netarena;
mod sentinel;
mod triage;

use crate::kit::Site;
use crate::verdict::Played;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// Plays one vector in a session of its own.
pub(crate) type Player = for<'a> fn(&'a Site, &'a Value) -> BoxFuture<'a, Played>;

/// Dialects with the file of their vectors and their player.
pub(crate) const PLAYERS: &[(&str, &str, Player)] = &[
    ("incident-sim", "incident_sim", |site, vector| Box::pin(incident_sim::play(site, vector))),
    ("netarena", "netarena", |site, vector| Box::pin(netarena::play(site, vector))),
    ("sentinel", "sentinel", |site, vector| Box::pin(sentinel::play(site, vector))),
    ("triage", "triage", |site, vector| Box::pin(triage::play(site, vector))),
];

/// A client of Sentinel-SRE's socket.
pub(crate) async fn sentinel_socket(site: &Site, query: &str) -> sentinel::Socket {
    sentinel::Socket::open(site, query).await
}

/// The number at a pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}
