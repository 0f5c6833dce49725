//! Which scenario a seed means. Clients of this dialect know the choice of CPython's `random`
//! module: a Mersenne Twister (MT19937) seeded by the absolute value of an integer. This is no
//! randomness of the simulation; it only maps a number to a name.

/// Words of the twister's state.
const WORDS: usize = 624;
/// Distance of the words that are mixed.
const MIDDLE: usize = 397;

/// The generator.
struct Twister {
    state: [u32; WORDS],
    at: usize,
}

impl Twister {
    fn of_word(word: u32) -> Twister {
        let mut state = [word; WORDS];
        for at in 1..WORDS {
            let before = state[at - 1];
            let mixed = (before ^ (before >> 30)).wrapping_mul(1_812_433_253);
            state[at] = mixed.wrapping_add(at as u32);
        }
        Twister { state, at: WORDS }
    }

    /// Seeded by the words of a number, the lowest first.
    fn of_key(key: &[u32]) -> Twister {
        let mut twister = Twister::of_word(19_650_218);
        let state = &mut twister.state;
        let (mut at, mut of_key) = (1, 0);
        let step = |state: &mut [u32; WORDS], at: &mut usize, factor: u32, add: u32| {
            let before = state[*at - 1];
            let mixed = (before ^ (before >> 30)).wrapping_mul(factor);
            state[*at] = (state[*at] ^ mixed).wrapping_add(add);
            *at += 1;
            if *at == WORDS {
                state[0] = state[WORDS - 1];
                *at = 1;
            }
        };
        for _ in 0..WORDS.max(key.len()) {
            let add = key[of_key].wrapping_add(of_key as u32);
            step(state, &mut at, 1_664_525, add);
            of_key = (of_key + 1) % key.len();
        }
        for _ in 1..WORDS {
            let less = (at as u32).wrapping_neg();
            step(state, &mut at, 1_566_083_941, less);
        }
        state[0] = 0x8000_0000;
        twister
    }

    fn word(&mut self) -> u32 {
        if self.at == WORDS {
            self.twist();
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let upper = self.state[at] & 0x8000_0000;
            let lower = self.state[(at + 1) % WORDS] & 0x7fff_ffff;
            let both = upper | lower;
            let odd = if both & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + MIDDLE) % WORDS] ^ (both >> 1) ^ odd;
        }
        self.at = 0;
    }
}

/// The position that the original chooses among `count` (1 or more) for a seed, whose sign does not
/// matter.
pub(super) fn choice(seed: u64, count: usize) -> usize {
    let (low, high) = (seed as u32, (seed >> 32) as u32);
    let key = [low, high];
    let mut twister = Twister::of_key(if high == 0 { &key[..1] } else { &key });
    let bits = usize::BITS - count.leading_zeros();
    loop {
        let drawn = (twister.word() >> (32 - bits)) as usize;
        if drawn < count {
            return drawn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the original: positions for the seeds 0 to 63.
    const OF_3: &str = "1000022101211100120220012122022002221220112011012010120020201121";
    const OF_2: &str = "1000010101011100110000011101001000111010110011011010100000001101";

    #[test]
    fn seeds_mean_what_they_mean_to_the_original() {
        for (count, recorded) in [(3, OF_3), (2, OF_2)] {
            let chosen: String = (0..64).map(|seed| choice(seed, count).to_string()).collect();
            assert_eq!(chosen, recorded);
        }
        assert_eq!(choice(9, 1), 0);
        // Computed with CPython 3: random.Random(N).choice(range(3)) and of range(2).
        for (seed, of_3, of_2) in LARGE {
            assert_eq!((choice(*seed, 3), choice(*seed, 2)), (*of_3, *of_2), "{seed}");
        }
    }

    const LARGE: &[(u64, usize, usize)] = &[
        (20_260_408, 2, 0),
        (4_294_967_295, 2, 0),
        (4_294_967_296, 0, 0),
        (18_446_744_073_709_551_615, 0, 0),
    ];
}
