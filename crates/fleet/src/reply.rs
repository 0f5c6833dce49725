//! What an instance answers in a round. Replies are buffers: the caller keeps them from round to
//! round, so that a round allocates nothing.

use machine::Advanced;
use model::{Digest, Outbox};

/// The answer of one instance to a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it says.
    pub outbox: Outbox,
    /// What the last round of a tick adds to its history.
    pub advanced: Option<Advanced>,
    /// Digest of its state, where the round asked for it.
    pub digest: Option<Digest>,
}

impl Reply {
    /// Takes over the content of `outbox` into the buffers that are here.
    pub(crate) fn take_outbox(&mut self, outbox: &Outbox) {
        // In full, so that a new field cannot be left behind.
        let Outbox { report, calls, needs, grants, answers, motion, row } = outbox;
        let own = &mut self.outbox;
        (own.report, own.motion, own.row) = (*report, *motion, *row);
        own.calls.clone_from(calls);
        own.needs.clone_from(needs);
        own.grants.clone_from(grants);
        own.answers.clone_from(answers);
    }
}
