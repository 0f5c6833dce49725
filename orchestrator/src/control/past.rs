//! Where a fork begins: which part of a record it keeps.

use crate::sessions::SessionError;
use episode::{ControlOrder, External};
use model::Tick;
use proto::orchestrator::v1 as pb;
use record::{Entry, Input, Record};

/// The part of a record up to where a fork begins, and the time to let pass there.
pub(crate) fn past(
    record: &Record,
    (now, steps): (Tick, u32),
    at: Option<pb::fork_request::At>,
) -> Result<(Record, Option<u32>), SessionError> {
    use pb::fork_request::At;
    let wrong = |sentence: String| Err(SessionError::Wrong(sentence));
    let over = record.entries.iter().any(|entry| matches!(entry, Entry::End { .. }));
    let (kept, stands) = match at {
        None if over => {
            let sentence = "the episode is over: name the step or tick at which to fork it";
            return Err(SessionError::NotNow(sentence.into()));
        }
        None => (record.entries.len(), now),
        Some(At::Step(step)) if step > steps => {
            return wrong(format!("`step` is {step}; expected 0 to {steps}"));
        }
        Some(At::Step(step)) => upto(record, |done, _| done < step),
        Some(At::Tick(tick)) if tick < 0 || tick > now.0 => {
            return wrong(format!("`tick` is {tick}; expected 0 to {}", now.0));
        }
        Some(At::Tick(tick)) => upto(record, |_, ends| ends.0 <= tick),
    };
    let wait = match at {
        Some(At::Tick(tick)) => u32::try_from(tick - stands.0).ok().filter(|ticks| *ticks > 0),
        _ => None,
    };
    let entries = record.entries[..kept].to_vec();
    Ok((Record { header: record.header.clone(), entries }, wait))
}

/// How many entries come before the first input that is not wanted or that ends the episode, and
/// the tick after them. `wanted` is told the steps before the input and the tick at which it is
/// over.
fn upto(record: &Record, wanted: impl Fn(u32, Tick) -> bool) -> (usize, Tick) {
    let (mut done, mut stands) = (0, Tick(0));
    let mut at = 0;
    while at < record.entries.len() {
        let Entry::Input(input) = &record.entries[at] else { break };
        // An input is followed by its step, if it is an action, and by the end, if it is the last.
        let group = 1 + record.entries[at + 1..]
            .iter()
            .take_while(|entry| !matches!(entry, Entry::Input(_)))
            .count();
        let follows = &record.entries[at..at + group];
        let step = follows.iter().find_map(|entry| match entry {
            Entry::Step(step) => Some(step),
            _ => None,
        });
        let ends = step.map_or_else(|| after(input), |step| step.to);
        let last = follows.iter().any(|entry| matches!(entry, Entry::End { .. }));
        if last || !wanted(done, ends) {
            break;
        }
        done += u32::from(step.is_some());
        stands = ends;
        at += group;
    }
    (at, stands)
}

/// The tick after an order of the control port.
fn after(input: &Input) -> Tick {
    match External::of(input) {
        Ok(External::Control(ControlOrder::Advance { ticks })) => input.tick.plus(i64::from(ticks)),
        _ => input.tick,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Digest, EpisodeId};
    use pb::fork_request::At;
    use record::{Actor, EndReason, Header, Step};

    /// A wait of 30 s, an order to let 20 s pass, a wait of 30 s, and a resolve.
    fn record() -> Record {
        let input = |seq, tick, actor, body: &str| {
            Entry::Input(Input { seq, tick: Tick(tick), actor, body: body.into() })
        };
        let step = |number, from, to| {
            let (reply, world, impact_micro) = (Digest::default(), Digest::default(), 0);
            Entry::Step(Step { number, from: Tick(from), to: Tick(to), reply, world, impact_micro })
        };
        let wait = r#"{"action":"wait","seconds":30}"#;
        let entries = vec![
            input(1, 0, Actor::Agent, wait),
            step(1, 0, 30),
            input(2, 30, Actor::Control, r#"{"advance":{"ticks":20}}"#),
            input(3, 50, Actor::Agent, wait),
            step(2, 50, 80),
            input(4, 80, Actor::Agent, r#"{"action":"resolve"}"#),
            step(3, 80, 80),
            Entry::End { tick: Tick(80), reason: EndReason::Resolved },
        ];
        Record { header: Header::new(EpisodeId(1), 1, "s", "{}".into()), entries }
    }

    #[test]
    fn what_was_not_over_by_then_is_left_out() {
        let record = record();
        let now = (Tick(80), 3);
        for (at, kept, wait) in [
            (At::Step(0), 0, None),
            (At::Step(1), 2, None),
            (At::Step(2), 5, None),
            // The step that ends the episode is nothing to fork after.
            (At::Step(3), 5, None),
            (At::Tick(0), 0, None),
            (At::Tick(29), 0, Some(29)),
            (At::Tick(30), 2, None),
            (At::Tick(49), 2, Some(19)),
            (At::Tick(50), 3, None),
            (At::Tick(79), 3, Some(29)),
            (At::Tick(80), 5, None),
        ] {
            let (past, waits) = past(&record, now, Some(at)).unwrap();
            assert_eq!((past.entries.len(), waits), (kept, wait), "{at:?}");
        }
        for (at, says) in [
            (Some(At::Step(4)), "expected 0 to 3"),
            (Some(At::Tick(81)), "expected 0 to 80"),
            (Some(At::Tick(-1)), "expected 0 to 80"),
            (None, "name the step or tick"),
        ] {
            let said = past(&record, now, at).unwrap_err().to_string();
            assert!(said.contains(says), "{at:?}: {said}");
        }
        let open = Record { entries: record.entries[..5].to_vec(), ..record };
        assert_eq!(past(&open, (Tick(80), 2), None).unwrap(), (open.clone(), None));
    }
}
