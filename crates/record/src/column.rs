//! What databases keep as text, read back: the same in every store that is one.

use crate::jsonl::parse_episode;
use crate::record::EndReason;
use model::EpisodeId;

/// An episode.
///
/// # Errors
/// What the text is not.
pub fn episode(text: &str) -> Result<EpisodeId, String> {
    parse_episode(text).ok_or_else(|| unreadable("episode", text))
}

/// A seed, which is larger than a database's whole numbers may be.
///
/// # Errors
/// What the text is not.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| unreadable("seed", text))
}

/// Why an episode is over.
///
/// # Errors
/// What the text is not.
pub fn end(text: &str) -> Result<EndReason, String> {
    let found = EndReason::ALL.into_iter().find(|reason| reason.word() == text);
    found.ok_or_else(|| unreadable("end", text))
}

fn unreadable(what: &str, text: &str) -> String {
    format!("{text:?} is no {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_or_are_named() {
        assert_eq!(episode("00000000000000ff"), Ok(EpisodeId(255)));
        assert_eq!(seed(&u64::MAX.to_string()), Ok(u64::MAX));
        assert!(EndReason::ALL.into_iter().all(|reason| end(reason.word()) == Ok(reason)));
        assert_eq!(episode("ff"), Err(r#""ff" is no episode"#.into()));
        assert_eq!(seed("-1"), Err(r#""-1" is no seed"#.into()));
        assert_eq!(end("bored"), Err(r#""bored" is no end"#.into()));
    }
}
