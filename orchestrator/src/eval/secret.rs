//! What seeds and tasks of an evaluation are made with, so that an agent that has trained on this
//! simulator does not meet worlds again that it knows.

use crate::failure::Failure;
use crate::keyed::{Keyed, head};

/// Variable that holds the secret.
pub const VARIABLE: &str = "MAYDAY_EVAL_SECRET";
/// A secret; prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Keyed);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// This text as a secret.
    ///
    /// # Errors
    /// Where it is too short.
    pub fn new(text: &str) -> Result<Secret, Failure> {
        Keyed::new(VARIABLE, text).map(Secret)
    }

    /// The secret of the environment, if there is one.
    ///
    /// # Errors
    /// Where the variable is set but is no secret.
    pub fn of_environment() -> Result<Option<Secret>, Failure> {
        Ok(Keyed::of_environment(VARIABLE)?.map(Secret))
    }

    /// A new one.
    ///
    /// # Errors
    /// Where the system gives no random numbers.
    pub fn draw() -> Result<Secret, Failure> {
        random().map(|text| Secret(Keyed::known(text)))
    }

    /// The text, to be kept.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Tells one secret from another, and nothing else.
    pub fn fingerprint(&self) -> String {
        hexadecimal(&self.hash(&["fingerprint"])[..8])
    }

    /// The seed of a world: of the scenario, and of the seed that an evaluation names. 63 bits, as
    /// many as the agents' protocol has.
    pub fn seed(&self, scenario: &str, seed: u64) -> u64 {
        head(self.hash(&["seed", scenario, &seed.to_string()])) >> 1
    }

    /// A name made of these words, which nobody guesses without the secret.
    pub fn name(&self, words: &[&str]) -> String {
        let words = [&["name"], words].concat();
        hexadecimal(&self.hash(&words)[..16])
    }

    fn hash(&self, words: &[&str]) -> [u8; 32] {
        let lengths: Vec<_> = words.iter().map(|word| (word.len() as u64).to_be_bytes()).collect();
        let pairs = lengths.iter().zip(words);
        let parts: Vec<_> =
            pairs.flat_map(|(length, word)| [&length[..], word.as_bytes()]).collect();
        self.0.hash(&parts)
    }
}

/// 128 random bits in hexadecimal.
///
/// # Errors
/// Where the system gives none.
pub fn random() -> Result<String, Failure> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::failed(format!("the system gives no random numbers ({error}): set {VARIABLE}"))
    })?;
    Ok(hexadecimal(&bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_from_secret_scenario_and_seed() {
        let (one, other) = ("0123456789abcdef", "0123456789abcdeg");
        let secret = |text| Secret::new(text).unwrap();
        let all = [
            secret(one).seed("a/b", 0),
            secret(one).seed("a/b", 1),
            secret(one).seed("a/c", 0),
            secret(other).seed("a/b", 0),
        ];
        for (at, seed) in all.iter().enumerate() {
            assert!(*seed <= i64::MAX as u64);
            assert!(!all[..at].contains(seed), "{all:?}");
        }
        assert_eq!(all[0], secret(one).seed("a/b", 0));
        // Reports of different releases are compared by their seeds.
        assert_eq!(all[0], GOLDEN);
        assert_ne!(secret(one).fingerprint(), secret(other).fingerprint());
        // Words do not run into each other.
        assert_ne!(secret(one).name(&["a", "bc"]), secret(one).name(&["ab", "c"]));
        assert!(Secret::new("short").unwrap_err().to_string().contains("16 characters"));
        assert_eq!(format!("{:?}", secret(one)), "Secret");
    }

    const GOLDEN: u64 = 2_583_815_703_583_190_559;
}
