//! Names of components: who answers for them, and what their callers get when they ask. Callers
//! keep answers for a while, so a change of a name reaches them little by little.

use crate::ids::InstanceId;
use serde::{Deserialize, Serialize};

/// Most names that one resolver answers for.
pub const NAMES_MAX: usize = 32;

/// A name by which all callers of a component find it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameSpec {
    /// The name, e.g. `orders.shop.internal`.
    pub name: String,
    /// Whose it is.
    pub component: InstanceId,
    /// Who answers for it.
    pub resolver: InstanceId,
    /// How long a cache keeps an answer, seconds, > 0.
    pub ttl_s: f64,
}

/// What the callers of a name get for it now, as shares of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Share that gets no address, 0..=1: the call fails at once.
    pub missing: f64,
    /// Share that gets an address where nobody answers, 0..=1: the time-out passes.
    pub astray: f64,
}

impl Resolution {
    /// Everybody gets the right address.
    pub const RIGHT: Resolution = Resolution { missing: 0.0, astray: 0.0 };
}

/// The address of a component or host: one flat network, numbered by id.
pub fn address(of: InstanceId) -> String {
    format!("10.0.{}.{}", 1 + of.0 / 200, 10 + of.0 % 200)
}

/// Whose address it is, or would be: the network has more addresses than members.
pub fn addressee(address: &str) -> Option<InstanceId> {
    let (block, at) = address.strip_prefix("10.0.")?.split_once('.')?;
    let (block, at) = (block.parse::<u16>().ok()?, at.parse::<u16>().ok()?);
    let fits = (1..=255).contains(&block) && (10..210).contains(&at);
    fits.then(|| InstanceId(200 * (block - 1) + at - 10))
}

/// An entry of a zone in words, as configurations list it.
pub fn record_text(address: Option<&str>, ttl_s: f64) -> String {
    match address {
        Some(address) => format!("A {address}, ttl {ttl_s} s"),
        None => "no such name".into(),
    }
}

/// The address in such words; none where the name does not exist.
pub fn record_address(text: &str) -> Option<&str> {
    text.strip_prefix("A ")?.split(',').next()
}

/// The time to live in such words, seconds; none where the name does not exist.
pub fn record_ttl_s(text: &str) -> Option<f64> {
    text.rsplit_once(", ttl ")?.1.strip_suffix(" s")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_instance_has_an_address_of_its_own() {
        let all: BTreeSet<_> = (0..2000).map(|at| address(InstanceId(at))).collect();
        assert_eq!(all.len(), 2000);
        assert_eq!(address(InstanceId(0)), "10.0.1.10");
        assert!((0..2000).map(InstanceId).all(|id| addressee(&address(id)) == Some(id)));
        for text in ["10.0.1.9", "10.0.0.10", "10.0.1.210", "10.1.1.10", "10.0.1", ""] {
            assert_eq!(addressee(text), None, "{text}");
        }
    }

    #[test]
    fn an_entry_in_words_has_its_address_and_its_time_to_live() {
        let there = record_text(Some("10.0.1.50"), 45.5);
        assert_eq!((record_address(&there), record_ttl_s(&there)), (Some("10.0.1.50"), Some(45.5)));
        let missing = record_text(None, 300.0);
        assert_eq!((record_address(&missing), record_ttl_s(&missing)), (None, None));
    }
}
