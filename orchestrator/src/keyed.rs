//! A text that only its owner knows, and hashes that nobody makes without it.

use crate::failure::Failure;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Shorter ones are guessed.
const LENGTH_MIN: usize = 16;

/// A key; it is not to be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Keyed(String);

impl std::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyed")
    }
}

impl Keyed {
    /// This text as a key; `variable` is where people give it.
    ///
    /// # Errors
    /// Where it is too short.
    pub fn new(variable: &str, text: &str) -> Result<Keyed, Failure> {
        let enough = text.chars().count() >= LENGTH_MIN;
        enough.then(|| Keyed(text.to_string())).ok_or_else(|| {
            Failure::usage(format!(
                "{variable} has to have {LENGTH_MIN} characters or more, such as 32 random \
                 hexadecimal digits"
            ))
        })
    }

    /// A text that is known to be long enough.
    pub fn known(text: String) -> Keyed {
        Keyed(text)
    }

    /// The key in a variable of the environment, if there is one.
    ///
    /// # Errors
    /// Where the variable is set but is no key.
    pub fn of_environment(variable: &str) -> Result<Option<Keyed>, Failure> {
        #[expect(clippy::disallowed_methods, reason = "a flag would put the key into argv")]
        match std::env::var(variable) {
            Ok(text) if text.is_empty() => Ok(None),
            Ok(text) => Keyed::new(variable, &text).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Failure::usage(format!("{variable} is no text")))
            }
        }
    }

    /// The text, to be kept.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// HMAC-SHA-256 over the parts, one behind the other.
    pub fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        // A key of any length is one: this fails for none.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()) else {
            return [0; 32];
        };
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// The number in the first eight bytes of a hash.
pub fn head(hash: [u8; 32]) -> u64 {
    u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
}
