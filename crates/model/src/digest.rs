//! Digests of world state: two multiply-mix lanes over 64-bit words. Not cryptographic; it must be
//! fast (every tick folds all outboxes) and the same on every platform.

use serde::{Deserialize, Serialize};

/// A 128-bit digest; prints as 32 hexadecimal digits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Digest(pub u64, pub u64);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}{:016x}", self.0, self.1)
    }
}

impl std::str::FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Digest, String> {
        let bad = || format!("a digest is 32 hexadecimal digits, not {text:?}");
        if text.len() != 32 || !text.is_ascii() {
            return Err(bad());
        }
        let half = |part: &str| u64::from_str_radix(part, 16).map_err(|_| bad());
        Ok(Digest(half(&text[..16])?, half(&text[16..])?))
    }
}

/// Folds words into a [`Digest`]; the order of the words matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digester {
    a: u64,
    b: u64,
}

impl Default for Digester {
    fn default() -> Self {
        Digester { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 }
    }
}

/// High and low half of the 128-bit product, folded.
const fn fold(x: u64, y: u64) -> u64 {
    let wide = (x as u128) * (y as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// One step of a lane.
const fn mix(lane: u64, word: u64) -> u64 {
    fold(lane ^ word, 0x9e37_79b9_7f4a_7c15) ^ lane >> 7
}

impl Digester {
    /// Folds one word.
    pub fn word(&mut self, word: u64) {
        self.a = fold(self.a ^ word, 0x9e37_79b9_7f4a_7c15) ^ self.b.rotate_left(23);
        self.b = fold(self.b ^ word.rotate_left(32), 0xd6e8_feb8_6659_fd93).wrapping_add(self.a);
    }

    /// Folds a number by its IEEE bits; both zeros count as one value.
    pub fn float(&mut self, value: f64) {
        self.word((value + 0.0).to_bits());
    }

    /// Folds many numbers by their IEEE bits, with their count: four independent lanes, so that the
    /// multiplications overlap. Both zeros count as one value.
    pub fn floats(&mut self, values: &[f64]) {
        let mut lanes = self.lanes();
        let mut chunks = values.chunks_exact(4);
        for four in &mut chunks {
            for (lane, value) in lanes.iter_mut().zip(four) {
                *lane = mix(*lane, (value + 0.0).to_bits());
            }
        }
        for (lane, value) in lanes.iter_mut().zip(chunks.remainder()) {
            *lane = mix(*lane, (value + 0.0).to_bits());
        }
        lanes.iter().for_each(|lane| self.word(*lane));
        self.word(values.len() as u64);
    }

    /// Folds many bytes with their length, by lanes as [`Digester::floats`]; not the same as
    /// [`Digester::bytes`].
    pub fn block(&mut self, bytes: &[u8]) {
        let mut lanes = self.lanes();
        let word = |bytes: &[u8]| {
            let mut word = [0u8; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let mut chunks = bytes.chunks_exact(32);
        for four in &mut chunks {
            for (lane, bytes) in lanes.iter_mut().zip(four.chunks_exact(8)) {
                *lane = mix(*lane, word(bytes));
            }
        }
        for (lane, bytes) in lanes.iter_mut().zip(chunks.remainder().chunks(8)) {
            *lane = mix(*lane, word(bytes));
        }
        lanes.iter().for_each(|lane| self.word(*lane));
        self.word(bytes.len() as u64);
    }

    fn lanes(&self) -> [u64; 4] {
        [self.a, self.b, self.a.rotate_left(32), self.b.rotate_left(32)]
    }

    /// Folds bytes with their length, so that ("ab", "c") differs from ("a", "bc").
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Folds another digest.
    pub fn digest(&mut self, other: Digest) {
        self.word(other.0);
        self.word(other.1);
    }

    /// The digest of everything folded so far; folding may go on.
    pub fn finish(&self) -> Digest {
        let mut last = *self;
        last.word(0x5bf0_3635);
        last.word(0x1b87_3593);
        Digest(last.a, last.b)
    }

    /// The digest of `bytes` alone.
    pub fn of(bytes: &[u8]) -> Digest {
        let mut digester = Digester::default();
        digester.bytes(bytes);
        digester.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_a_swap_and_a_split_change_the_digest() {
        let of = |words: &[u64]| {
            let mut d = Digester::default();
            words.iter().for_each(|w| d.word(*w));
            d.finish()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        let mut seen = std::collections::BTreeSet::new();
        for bit in 0..64 {
            assert!(seen.insert(of(&[1 << bit])));
        }
        assert_ne!(Digester::of(b"ab"), Digester::of(b"ab\0"));
    }

    #[test]
    fn a_flipped_bit_a_swap_or_a_missing_number_changes_the_digest_of_many() {
        let of = |values: &[f64]| {
            let mut d = Digester::default();
            d.floats(values);
            d.finish()
        };
        let values: Vec<f64> = (0..11).map(|n| 1.5 * f64::from(n)).collect();
        let mut seen = std::collections::BTreeSet::from([of(&values)]);
        for at in 0..values.len() {
            let mut other = values.clone();
            other[at] = f64::from_bits(other[at].to_bits() ^ 1);
            assert!(seen.insert(of(&other)));
            other = values.clone();
            other.swap(at, (at + 1) % 11);
            assert!(seen.insert(of(&other)));
            assert!(seen.insert(of(&values[..at])));
        }
        assert_eq!(of(&[0.0, 1.0]), of(&[-0.0, 1.0]));
    }

    #[test]
    fn a_flipped_bit_a_swap_or_a_missing_byte_changes_the_digest_of_a_block() {
        let of = |bytes: &[u8]| {
            let mut d = Digester::default();
            d.block(bytes);
            d.finish()
        };
        let bytes: Vec<u8> = (0..107_u8).map(|n| n.wrapping_mul(5)).collect();
        let mut seen = std::collections::BTreeSet::from([of(&bytes)]);
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(seen.insert(of(&other)));
            assert!(seen.insert(of(&bytes[..at])));
            other = bytes.clone();
            other.swap(at, (at + 1) % bytes.len());
            assert!(seen.insert(of(&other)));
        }
        assert_ne!(of(&[1, 0]), of(&[1]), "the length counts");
    }

    #[test]
    fn digests_print_and_parse() {
        let digest = Digester::of(b"mayday");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("xyz".parse::<Digest>().is_err());
    }
}
