//! Answers of a round on the wire: outbox, history row and digest.

use machine::Advanced;
use model::{COLUMNS_MAX, Digest, Outbox, Tick};
use proto::control::v1 as pb;
use telemetry::Change;

use super::exchange::outbox_out;
use super::{WireError, get, narrow, put};

/// The answer of an instance for the wire.
pub fn moved_out(
    outbox: &Outbox,
    advanced: Option<&Advanced>,
    digest: Option<Digest>,
) -> pb::Moved {
    pb::Moved {
        outbox: Some(outbox_out(outbox)),
        history: advanced.map(history_out),
        digest: digest.map(|Digest(high, low)| pb::Digest { high, low }),
    }
}

/// A digest from the wire.
pub fn digest_in(digest: &pb::Digest) -> Digest {
    Digest(digest.high, digest.low)
}

fn history_out(advanced: &Advanced) -> pb::History {
    let used = advanced.row.iter().rposition(|code| *code != 0).map_or(0, |at| at + 1);
    pb::History {
        row: advanced.row[..used].iter().map(|code| u32::from(*code)).collect(),
        changes: advanced.changes.iter().map(change_out).collect(),
    }
}

/// History from the wire.
///
/// # Errors
/// Where a part does not fit the model.
pub fn history_in(history: &pb::History) -> Result<Advanced, WireError> {
    let mut row = [0; COLUMNS_MAX];
    if history.row.len() > COLUMNS_MAX {
        let problem = format!("{} columns, at most {COLUMNS_MAX}", history.row.len());
        return Err(WireError::new("history.row", problem));
    }
    for (code, wide) in row.iter_mut().zip(&history.row) {
        *code = narrow("history.row", *wide)?;
    }
    let changes = history.changes.iter().map(change_in).collect::<Result<_, _>>()?;
    Ok(Advanced { row, changes })
}

fn change_out(change: &Change) -> pb::Change {
    pb::Change {
        tick: change.tick.0,
        key: u32::from(change.key),
        value: put(change.value),
        note: change.note.clone(),
    }
}

fn change_in(change: &pb::Change) -> Result<Change, WireError> {
    Ok(Change {
        tick: Tick(change.tick),
        key: narrow("change.key", change.key)?,
        value: get(change.value),
        note: change.note.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::samples::Samples;
    use machine::encode;
    use prost::Message;

    #[test]
    fn rows_changes_and_digests_come_back_bit_for_bit() {
        for seed in 0..500 {
            let mut samples = Samples::new(seed);
            let (outbox, advanced) = (samples.outbox(), samples.advanced());
            let digest = Digest(u64::MAX - seed, seed);
            let bytes = moved_out(&outbox, Some(&advanced), Some(digest)).encode_to_vec();
            let back = pb::Moved::decode(&bytes[..]).unwrap();
            assert_eq!(digest_in(&back.digest.unwrap()), digest);
            let back = history_in(&back.history.unwrap()).unwrap();
            assert_eq!(encode("advanced", &back), encode("advanced", &advanced), "seed {seed}");
        }
        let moved = moved_out(&Outbox::default(), None, None);
        assert_eq!((moved.history, moved.digest), (None, None));
    }

    #[test]
    fn a_row_that_is_too_wide_is_refused() {
        let wide = pb::History { row: vec![0; COLUMNS_MAX + 1], changes: vec![] };
        assert!(history_in(&wide).is_err());
        let large = pb::History { row: vec![1 << 16], changes: vec![] };
        assert!(history_in(&large).is_err());
    }
}
