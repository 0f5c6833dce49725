//! Baselines are made once per scenario, seed and control inputs, and kept.

use episode::Baselines;
use model::{Digest, Digester};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What baselines depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Digest);

impl Key {
    /// The key of a scenario (canonical JSON), a seed and control inputs (canonical text).
    pub fn new(scenario: &str, seed: u64, controls: &str) -> Key {
        let mut digester = Digester::default();
        digester.word(u64::from(record::WORLD_REVISION));
        digester.word(seed);
        digester.bytes(scenario.as_bytes());
        digester.bytes(controls.as_bytes());
        Key(digester.finish())
    }
}

/// The newest baselines, up to a number.
#[derive(Debug)]
pub struct Cache {
    known: BTreeMap<Key, Arc<Baselines>>,
    order: VecDeque<Key>,
    most: usize,
}

impl Cache {
    /// Keeps at most `most`.
    pub fn new(most: usize) -> Cache {
        Cache { known: BTreeMap::new(), order: VecDeque::new(), most: most.max(1) }
    }

    /// What is known.
    pub fn get(&self, key: &Key) -> Option<Arc<Baselines>> {
        self.known.get(key).cloned()
    }

    /// Keeps baselines; the oldest ones make room.
    pub fn put(&mut self, key: Key, baselines: Arc<Baselines>) {
        if self.known.insert(key, baselines).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > self.most {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let mut cache = Cache::new(2);
        let keys: Vec<_> = (0..3).map(|seed| Key::new("{}", seed, "")).collect();
        let baselines = Baselines { noop: vec![], reference: vec![], d: 1, healthy: false };
        keys.iter().for_each(|k| cache.put(*k, Arc::new(baselines.clone())));
        assert!(cache.get(&keys[0]).is_none());
        assert!(cache.get(&keys[1]).is_some() && cache.get(&keys[2]).is_some());
        assert_ne!(Key::new("{}", 1, "a"), Key::new("{}", 1, "b"));
    }
}
