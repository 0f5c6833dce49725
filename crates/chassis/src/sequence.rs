//! Sequenced calls: what they are, and where one stands among those already made.

use proto::control::v1 as pb;

/// A call that changes an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// One round.
    Advance(pb::AdvanceRequest),
    /// An order.
    Operate(pb::OperateRequest),
    /// A lever pulled.
    Inject(pb::InjectRequest),
    /// A lever let go of.
    Clear(pb::ClearRequest),
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To a round.
    Advance(pb::AdvanceResponse),
    /// To an order.
    Operate(pb::OperateResponse),
    /// To a pull.
    Inject(pb::InjectResponse),
    /// To letting go.
    Clear(pb::ClearResponse),
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the next one.
    Next,
    /// It is the last one again.
    Repeat,
    /// It comes from an owner that lost the episode.
    Outdated,
    /// It comes from an owner that has not created or restored the episode here.
    Unknown,
    /// Calls are missing before it, or it is long over.
    Gap,
}

/// Where `call` stands after call `seq` of `epoch`.
pub fn place(call: &pb::Sequence, epoch: u64, seq: u64) -> Place {
    match call.epoch.cmp(&epoch) {
        std::cmp::Ordering::Less => Place::Outdated,
        std::cmp::Ordering::Greater => Place::Unknown,
        std::cmp::Ordering::Equal if call.seq == seq => Place::Repeat,
        std::cmp::Ordering::Equal if call.seq == seq.saturating_add(1) => Place::Next,
        std::cmp::Ordering::Equal => Place::Gap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_next_a_repeat_or_refused() {
        let at = |epoch, seq| place(&pb::Sequence { episode: 1, epoch, seq }, 3, 10);
        assert_eq!(at(3, 11), Place::Next);
        assert_eq!(at(3, 10), Place::Repeat);
        assert_eq!(at(3, 9), Place::Gap);
        assert_eq!(at(3, 12), Place::Gap);
        assert_eq!(at(2, 11), Place::Outdated);
        assert_eq!(at(2, 10), Place::Outdated);
        assert_eq!(at(4, 11), Place::Unknown);
    }
}
