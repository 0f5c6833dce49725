//! What seeds and tasks of an evaluation are made with, so that an agent that has trained on this
//! simulator does not meet worlds again that it knows.

use crate::failure::Failure;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Variable that holds the secret.
pub const VARIABLE: &str = "MAYDAY_EVAL_SECRET";
/// Shorter ones are guessed.
const LENGTH_MIN: usize = 16;

/// A secret; prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

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
        let enough = text.chars().count() >= LENGTH_MIN;
        enough.then(|| Secret(text.to_string())).ok_or_else(|| {
            Failure::usage(format!(
                "{VARIABLE} has to have {LENGTH_MIN} characters or more, such as 32 random \
                 hexadecimal digits"
            ))
        })
    }

    /// The secret of the environment, if there is one.
    ///
    /// # Errors
    /// Where the variable is set but is no secret.
    pub fn of_environment() -> Result<Option<Secret>, Failure> {
        #[expect(clippy::disallowed_methods, reason = "a flag would put the secret into argv")]
        match std::env::var(VARIABLE) {
            Ok(text) if text.is_empty() => Ok(None),
            Ok(text) => Secret::new(&text).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Failure::usage(format!("{VARIABLE} is no text")))
            }
        }
    }

    /// A new one.
    ///
    /// # Errors
    /// Where the system gives no random numbers.
    pub fn draw() -> Result<Secret, Failure> {
        random().map(Secret)
    }

    /// The text, to be kept.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Tells one secret from another, and nothing else.
    pub fn fingerprint(&self) -> String {
        hexadecimal(&self.hash(&["fingerprint"])[..8])
    }

    /// The seed of a world: of the scenario, and of the seed that an evaluation names. 63 bits, as
    /// many as the agents' protocol has.
    pub fn seed(&self, scenario: &str, seed: u64) -> u64 {
        let hash = self.hash(&["seed", scenario, &seed.to_string()]);
        let head = hash.first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(head) >> 1
    }

    /// A name made of these words, which nobody guesses without the secret.
    pub fn name(&self, words: &[&str]) -> String {
        let words = [&["name"], words].concat();
        hexadecimal(&self.hash(&words)[..16])
    }

    fn hash(&self, words: &[&str]) -> [u8; 32] {
        // A key of any length is one: this fails for no secret.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()) else {
            return [0; 32];
        };
        for word in words {
            mac.update(&(word.len() as u64).to_be_bytes());
            mac.update(word.as_bytes());
        }
        mac.finalize().into_bytes().into()
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
