//! What a cache holds: the share of the lookups that hit, and how many entries that takes. An entry
//! comes by a fetch that succeeds and goes when it expires or has to make room.

use serde::{Deserialize, Serialize};

/// Changes below this are none, so that a steady cache comes to rest.
const STILL: f64 = 1e-7;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// Share of the lookups that hit, 0..=1.
    pub(crate) hit: f64,
    /// Entries.
    pub(crate) entries: f64,
    /// Entries that made room for others, per second.
    pub(crate) evicted: f64,
    /// Size of a mean entry, in multiples of the parameter's.
    pub(crate) size: f64,
}

/// What happens to the content in one round. Rates per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    /// Entries that fetches would bring if no lookup hit: lookups whose fetch succeeds and is not
    /// that of another one.
    pub(crate) lookups: f64,
    /// Entries loaded by order.
    pub(crate) loaded: f64,
    /// Share of the content that goes per second, beside what makes room.
    pub(crate) lost: f64,
    /// Keys that would draw the same load if all were asked for alike.
    pub(crate) keys: f64,
    /// Entries for which there is room.
    pub(crate) room: f64,
    /// Size of entries that come, in multiples of the parameter's.
    pub(crate) size: f64,
    /// Length of the round, seconds.
    pub(crate) delta_s: f64,
}

impl Content {
    /// A cache that has come to rest with this share of hits.
    pub(crate) fn warm(hit: f64, keys: f64, room: f64) -> Content {
        let hit = hit.clamp(0.0, 1.0 - 1e-6);
        let entries = (keys * hit / (1.0 - hit)).min(room);
        Content { hit, entries, evicted: 0.0, size: 1.0 }
    }

    /// A share of it is gone at once.
    pub(crate) fn lose(&mut self, share: f64) {
        let kept = 1.0 - share.clamp(0.0, 1.0);
        self.hit *= kept;
        self.entries *= kept;
    }

    /// One round. With y = 1 − hit, dy/dt = −(lookups/keys)·y² − (loaded/keys)·y + gone·(1 − y): a
    /// fetch brings back a key as popular as those still missing, and what goes takes its share of
    /// the hits with it. The step is linearly implicit: it rests where the equation does and never
    /// overshoots, however long the round.
    pub(crate) fn round(&mut self, flow: &Flow) {
        let (dt, keys) = (flow.delta_s, flow.keys.max(1.0));
        let miss = 1.0 - self.hit;
        let fetched = flow.lookups * miss;
        let (fetching, loading) = (fetched / keys, flow.loaded / keys);
        let gone = flow.lost + self.evicted / self.entries.max(1.0);
        let slope = gone * self.hit - (fetching + loading) * miss;
        let hit = self.hit - slope * dt / (1.0 + (2.0 * fetching + loading + gone) * dt);
        let arrived = fetched + flow.loaded;
        let entries = (self.entries + arrived * dt) / (1.0 + flow.lost * dt);
        let over = (entries - flow.room).max(0.0);
        settle(&mut self.evicted, over / dt);
        settle(&mut self.hit, hit.clamp(0.0, 1.0));
        settle(&mut self.entries, entries - over);
        let renewed = (arrived * dt / self.entries.max(1.0)).min(1.0);
        let size = self.size + (flow.size - self.size) * renewed;
        settle(&mut self.size, size);
    }
}

fn settle(value: &mut f64, new: f64) {
    if (new - *value).abs() > STILL * value.abs().max(1.0) {
        *value = new;
    }
}

/// Share of the misses that ask for a key which no other miss asks for already, when `in_flight`
/// of them are on their way and `keys` are missing: the mean of e^(−x) over the load per key.
pub(crate) fn distinct(in_flight: f64, keys: f64) -> f64 {
    let load = in_flight / keys.max(1.0);
    if load < 1e-6 { 1.0 } else { (1.0 - libm::exp(-load)) / load }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: f64 = 400.0;

    fn flow(lookups: f64, room: f64) -> Flow {
        let (lost, size) = (1.0 / 300.0, 1.0);
        Flow { lookups, lost, keys: KEYS, room, size, delta_s: 1.0, ..Flow::default() }
    }

    fn play(content: &mut Content, flow: &Flow, seconds: u32) {
        (0..seconds).for_each(|_| content.round(flow));
    }

    #[test]
    fn it_rests_where_fetches_replace_what_expires() {
        let (mut cold, mut warm) = (Content::default(), Content::warm(0.99, KEYS, 1e9));
        for content in [&mut cold, &mut warm] {
            play(content, &flow(400.0, 1e9), 4000);
            // (1 − h)²/h = keys/(lookups·ttl), and entries = fetches per second times their life.
            let miss = 1.0 - content.hit;
            let expected = KEYS / (400.0 * 300.0);
            assert!((miss * miss / content.hit / expected - 1.0).abs() < 0.02, "{content:?}");
            assert!((content.entries / (400.0 * miss * 300.0) - 1.0).abs() < 0.02, "{content:?}");
        }
        let before = cold.clone();
        cold.round(&flow(400.0, 1e9));
        assert_eq!(before, cold, "at rest");
    }

    #[test]
    fn it_stays_cold_while_no_fetch_succeeds() {
        let mut content = Content::default();
        play(&mut content, &flow(0.0, 1e9), 600);
        assert_eq!((content.hit, content.entries), (0.0, 0.0));
        play(&mut content, &flow(400.0, 1e9), 10);
        // 1 − 1/(1 + lookups·t/keys), less a little for the steps.
        assert!((content.hit - 0.88).abs() < 0.05, "{content:?}");
    }

    #[test]
    fn too_little_room_evicts_and_costs_hits() {
        let mut content = Content::warm(0.95, KEYS, 1e9);
        play(&mut content, &flow(400.0, 1200.0), 2000);
        // hit = room/(room + keys) where evictions rule.
        assert!((content.hit - 0.75).abs() < 0.02, "{content:?}");
        assert!(content.evicted > 50.0 && content.entries == 1200.0, "{content:?}");
    }

    #[test]
    fn loading_by_order_warms_without_lookups() {
        let mut content = Content::default();
        let load = Flow { loaded: 50.0, ..flow(0.0, 1e9) };
        play(&mut content, &load, 16);
        assert!(content.hit > 0.75 && content.hit < 0.9, "{content:?}");
    }

    #[test]
    fn misses_of_few_keys_ask_for_the_same_ones() {
        assert_eq!(distinct(0.0, 100.0), 1.0);
        assert!((distinct(100.0, 100.0) - 0.632).abs() < 0.001);
        assert!(distinct(500.0, 1.0) < 0.003);
    }
}
