//! Dialects: other incident simulators' protocols, spoken over episodes of ordinary scenarios. A
//! dialect decodes a request into a typed action, shows what components publish as its own JSON,
//! and pays by its own profile of rewards. One file and one line each, in alphabetical order.

use crate::stage::{Endpoint, Stage, pages};
use axum::Router;
use std::sync::Arc;

/// One dialect.
pub struct Dialect {
    /// Its name, and the family of its scenarios.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The version it says it has.
    pub version: &'static str,
    /// The scenarios it plays.
    pub scenarios: &'static [&'static str],
    /// Its routes, for documents.
    pub endpoints: &'static [Endpoint],
    /// Its routes.
    pub routes: fn(Arc<Stage>) -> Router,
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Dialect {
    /// Everything it serves.
    pub fn router(&self, stage: Arc<Stage>) -> Router {
        pages::dressed(self.name, self.version, self.endpoints, (self.routes)(stage))
    }
}

macro_rules! dialects {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*
        static ALL: &[Dialect] = &[$($name::DIALECT),*];
    };
}

dialects![incident_sim, netarena, sentinel, triage];

/// All dialects, by name.
pub fn all() -> &'static [Dialect] {
    ALL
}

/// The dialect called `name`.
pub fn find(name: &str) -> Option<&'static Dialect> {
    ALL.iter().find(|dialect| dialect.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_are_listed_once_and_their_scenarios_are_kept_apart() {
        assert!(ALL.is_sorted_by_key(|dialect| dialect.name));
        let library = scenario::Library::shipped();
        for dialect in ALL {
            assert!(scenario::DIALECTS.contains(&dialect.name), "{dialect:?}");
            let family = format!("{}/", dialect.name);
            for name in dialect.scenarios {
                assert!(name.starts_with(&family) && library.scenario(name).is_some(), "{name}");
            }
            let of_family = library.scenarios.keys().filter(|name| name.starts_with(&family));
            assert_eq!(of_family.count(), dialect.scenarios.len(), "{dialect:?}");
        }
    }
}
