//! Pseudo-random numbers: xoshiro256++ seeded by SplitMix64. Not for secrets, and no global state:
//! each tier, edge and class owns a stream, so that a change in one does not shift the others.

/// One stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream called `label` of a seed.
    pub fn new(seed: u64, label: u64) -> Self {
        let mut mixed = seed;
        let mut key = splitmix(&mut mixed) ^ label.wrapping_mul(0xd134_2543_de82_ef95);
        Self { state: std::array::from_fn(|_| splitmix(&mut key)) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `0..1`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `0..n`; `n` must not be 0.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(n) * (self.bits() >> 32)) >> 32) as u32
    }

    /// True with probability `p`; draws nothing if the answer is certain.
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && (p >= 1.0 || self.uniform() < p)
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Standard normal (polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let r = x * x + y * y;
            if r > 0.0 && r < 1.0 {
                return x * (-2.0 * r.ln() / r).sqrt();
            }
        }
    }

    /// Lognormal with this mean and coefficient of variation.
    pub fn lognormal(&mut self, mean: f64, cv: f64) -> f64 {
        let var = (cv * cv).ln_1p();
        mean * (self.normal() * var.sqrt() - var / 2.0).exp()
    }

    /// Gamma with this mean and coefficient of variation (Marsaglia and Tsang).
    pub fn gamma(&mut self, mean: f64, cv: f64) -> f64 {
        let shape = 1.0 / (cv * cv);
        let (d, boost) = if shape < 1.0 {
            (shape + 2.0 / 3.0, (1.0 - self.uniform()).powf(1.0 / shape))
        } else {
            (shape - 1.0 / 3.0, 1.0)
        };
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            let u = 1.0 - self.uniform();
            if v > 0.0 && u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return mean * d * v * boost / shape;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    fn moments(mut draw: impl FnMut(&mut Rng) -> f64) -> (f64, f64) {
        let mut rng = Rng::new(7, 1);
        let n = 400_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = draw(&mut rng);
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        (mean, (squares / f64::from(n) - mean * mean).sqrt() / mean)
    }

    fn check(what: &str, got: (f64, f64), mean: f64, cv: f64) {
        assert!((got.0 / mean - 1.0).abs() < 0.01, "{what}: mean {} is not {mean}", got.0);
        assert!((got.1 - cv).abs() < 0.03 * cv, "{what}: cv {} is not {cv}", got.1);
    }

    #[test]
    fn distributions_have_the_mean_and_spread_asked_for() {
        check("uniform", moments(Rng::uniform), 0.5, 1.0 / 3.0_f64.sqrt());
        check("exponential", moments(|r| r.exponential(3.0)), 3.0, 1.0);
        check("lognormal", moments(|r| r.lognormal(2.0, 0.5)), 2.0, 0.5);
        check("gamma, peaked", moments(|r| r.gamma(2.0, 0.5)), 2.0, 0.5);
        check("gamma, wide", moments(|r| r.gamma(2.0, 1.5)), 2.0, 1.5);
        check("below", moments(|r| f64::from(r.below(10))), 4.5, 8.25_f64.sqrt() / 4.5);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |label| Rng::new(1, label).bits();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
