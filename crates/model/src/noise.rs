//! Randomness as a function: `noise(seed, label, tick)`. No stream, so a read can never change
//! the future, and evaluation order cannot matter. The hash is two rounds of the 64-bit finalizer
//! of SplitMix64 (Steele, Lea, Flood 2014) over the three keys; golden values are pinned below.

use serde::{Deserialize, Serialize};

/// A node in the tree of labels that grows from an episode's seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Noise(u64);

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a over the label's bytes, then mixed: labels are short and few.
const fn label_key(label: &str) -> u64 {
    let bytes = label.as_bytes();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    mix(hash ^ GAMMA)
}

impl Noise {
    /// The root of an episode's tree.
    pub const fn root(seed: u64) -> Noise {
        Noise(mix(seed.wrapping_add(GAMMA)))
    }

    /// The branch named `label`, e.g. an instance's or a purpose's name.
    pub const fn branch(self, label: &str) -> Noise {
        Noise(mix(self.0 ^ label_key(label)))
    }

    /// The branch numbered `n`, e.g. a request id.
    pub const fn index(self, n: u64) -> Noise {
        Noise(mix(self.0.wrapping_add(mix(n ^ GAMMA))))
    }

    /// 64 uniform bits for `tick`.
    pub const fn bits(self, tick: i64) -> u64 {
        mix(self.0 ^ mix((tick as u64).wrapping_mul(GAMMA).wrapping_add(1)))
    }

    /// Uniform in [0, 1) for `tick`, 53 bits.
    pub fn unit(self, tick: i64) -> f64 {
        (self.bits(tick) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high) for `tick`.
    pub fn between(self, tick: i64, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit(tick)
    }

    /// Mean 0, variance 1, within ±3.5: the sum of twelve 16-bit uniforms (Irwin–Hall), which needs
    /// no transcendental and is therefore the same on every platform.
    pub fn gauss(self, tick: i64) -> f64 {
        let mut sum = 0u64;
        for draw in 0..3u64 {
            let bits = self.index(draw).bits(tick);
            sum += (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        }
        ((sum as f64 + 6.0) / 65536.0 - 6.0).clamp(-3.5, 3.5)
    }

    /// The raw key, for spans' ids.
    pub const fn key(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values_never_change() {
        let noise = Noise::root(42).branch("gateway");
        assert_eq!(
            [noise.bits(0), noise.bits(1), noise.bits(-1), noise.index(7).bits(0)],
            GOLDEN,
            "noise moved: raise the world revision and re-pin"
        );
    }

    const GOLDEN: [u64; 4] = [
        8_496_306_240_392_221_224,
        6_307_604_040_382_207_884,
        13_515_826_404_701_053_732,
        14_414_694_083_918_917_786,
    ];

    #[test]
    fn units_are_uniform_and_gauss_has_unit_variance() {
        let noise = Noise::root(7).branch("x");
        let n = 20_000;
        let mean = (0..n).map(|t| noise.unit(t)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let (mut sum, mut square) = (0.0, 0.0);
        for t in 0..n {
            let g = noise.gauss(t);
            sum += g;
            square += g * g;
        }
        assert!((sum / n as f64).abs() < 0.03, "{sum}");
        assert!((square / n as f64 - 1.0).abs() < 0.05, "{square}");
    }
}
