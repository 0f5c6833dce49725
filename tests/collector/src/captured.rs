//! What a collector was sent, and how it behaves.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How a collector behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manners {
    /// So many requests it refuses first, as one that is busy.
    pub refuses: usize,
    /// It takes requests and never answers.
    pub silent: bool,
    /// So many items of every request it rejects.
    pub rejects: i64,
}

/// One export request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// `traces`, `logs` or `metrics`.
    pub signal: &'static str,
    /// The message, without compression.
    pub bytes: Vec<u8>,
    /// Headers or metadata, names in lower case.
    pub headers: BTreeMap<String, String>,
}

/// What a collector does with a request.
pub(crate) enum Fate {
    Refuse,
    Ignore,
    Take,
}

/// Requests so far.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) manners: Manners,
    inner: Mutex<(usize, Vec<Captured>)>,
}

impl Shelf {
    pub(crate) fn new(manners: Manners) -> Shelf {
        Shelf { manners, inner: Mutex::new((0, Vec::new())) }
    }

    pub(crate) fn receive(&self, one: Captured) -> Fate {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.0 += 1;
        if self.manners.silent {
            return Fate::Ignore;
        }
        if inner.0 <= self.manners.refuses {
            return Fate::Refuse;
        }
        inner.1.push(one);
        Fate::Take
    }

    pub(crate) fn taken(&self) -> Vec<Captured> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}
