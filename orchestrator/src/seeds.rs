//! Which seeds: `0..5`, `1,2,3`, or a count.

use std::str::FromStr;

/// Seeds to play at most: a mistyped range should not fill the memory.
const SEEDS_MAX: u64 = 100_000;

/// Seeds, in the order in which they were named, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Vec<u64>);

impl Seeds {
    /// The first `count` seeds.
    pub fn first(count: u64) -> Seeds {
        Seeds((0..count).collect())
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let expected = |what: String| {
            format!(
                "{what}; expected a count (5), a range (0..5, the end is not in it) or a list \
                     (1,2,3)"
            )
        };
        let number = |word: &str| {
            let word = word.trim();
            let seed = word.parse::<u64>().ok().filter(|seed| *seed < u64::MAX);
            seed.ok_or_else(|| expected(format!("`{word}` is no seed (0 to {})", u64::MAX - 1)))
        };
        let mut seeds = Vec::new();
        let range = |word: &str| -> Result<Option<(u64, u64)>, String> {
            let Some((from, to)) = word.split_once("..") else { return Ok(None) };
            let (from, inclusive) = (number(from)?, to.starts_with('='));
            let to = number(to.trim_start_matches('='))?;
            let to = if inclusive { to.saturating_add(1) } else { to };
            if to <= from {
                return Err(expected(format!("the range `{}` is empty", word.trim())));
            }
            Ok(Some((from, to)))
        };
        let single = !text.contains(',');
        for word in text.split(',') {
            let (from, to) = match range(word)? {
                Some(bounds) => bounds,
                None if single => (0, number(word)?),
                None => (number(word)?, number(word)?.saturating_add(1)),
            };
            if to - from > SEEDS_MAX || seeds.len() as u64 + (to - from) > SEEDS_MAX {
                return Err(expected(format!("more than {SEEDS_MAX} seeds")));
            }
            seeds.extend((from..to).filter(|seed| !seeds.contains(seed)).collect::<Vec<_>>());
        }
        if seeds.is_empty() {
            return Err(expected("no seeds".into()));
        }
        Ok(Seeds(seeds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ranges_and_lists() {
        for (text, seeds) in [
            ("3", vec![0, 1, 2]),
            ("1", vec![0]),
            ("0..5", vec![0, 1, 2, 3, 4]),
            ("7..=9", vec![7, 8, 9]),
            ("1,2,3", vec![1, 2, 3]),
            ("9, 1 ,9", vec![9, 1]),
            ("0..2,10..12", vec![0, 1, 10, 11]),
            ("18446744073709551613..=18446744073709551614", vec![u64::MAX - 2, u64::MAX - 1]),
        ] {
            assert_eq!(text.parse(), Ok(Seeds(seeds)), "{text}");
        }
        assert_eq!(Seeds::first(2), Seeds(vec![0, 1]));
    }

    #[test]
    fn what_is_no_seed_is_said() {
        for (text, says) in [
            ("", "`` is no seed"),
            ("x", "`x` is no seed"),
            ("-1", "`-1` is no seed"),
            ("0", "no seeds"),
            ("5..5", "the range `5..5` is empty"),
            ("5..2", "the range `5..2` is empty"),
            ("1,", "`` is no seed"),
            ("0..", "`` is no seed"),
            ("0..1000000000000", "more than 100000 seeds"),
            ("99999999999", "more than 100000 seeds"),
        ] {
            let error = text.parse::<Seeds>().unwrap_err();
            assert!(error.starts_with(says), "{text}: {error}");
            assert!(error.contains("expected a count"), "{error}");
        }
    }
}
