//! What a kind adds to a server, and the machine made of both. A behavior is the kind's own state;
//! every method has the server at hand.

use crate::logs::{Phrases, logs};
use crate::plan::{Own, OwnFailure, PastOf, plan};
use crate::state::Server;
use machine::{Cx, Machine, Past, SnapshotError};
use model::{
    Answer, Digest, Hop, HopReply, Inbox, LeverPull, Next, Order, Outbox, ParamError, Query,
    Refusal, Setup,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The part of a server kind that is its own.
pub trait Behavior:
    Phrases + Clone + Debug + Default + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// History columns beside the shared ones.
    const COLUMNS: usize;
    /// How a request that fails here by itself looks to its caller.
    const FAILURE: OwnFailure;

    /// Processes of these groups are new.
    fn renewed(&mut self, _server: &mut Server, _groups: &[usize]) {}

    /// Adds its own to the knobs of the round.
    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>);

    /// After serving: its own columns (from `row[first]` on) and needs.
    fn served(&mut self, server: &mut Server, cx: &mut Cx<'_>, out: &mut Outbox, first: usize);

    /// Would [`Behavior::operate`] do this? `None`: the order is not one of its own.
    fn accepts(&self, _server: &Server, _order: &Order) -> Option<Result<(), Refusal>> {
        None
    }

    /// Does an order of its own; false if it is not.
    fn operate(&mut self, _server: &mut Server, _cx: &mut Cx<'_>, _order: &Order) -> bool {
        false
    }

    /// Share of the topology's calls over outgoing edge number `edge` that a request of class
    /// number `class` makes, 0..=1, by the published past: the request plane's view of what the
    /// knobs gave to [`Server::make_calls`].
    fn calls_made(_past: &PastOf<'_>, _edge: usize, _class: usize) -> f64 {
        1.0
    }

    /// A lever was pulled; the server remembers it already.
    fn injected(&mut self, _server: &mut Server, _cx: &mut Cx<'_>, _pull: &LeverPull) {}

    /// Adds its own facts of status or configuration.
    fn facts(&self, _server: &Server, _query: &Query, _facts: &mut BTreeMap<String, String>) {}

    /// Adds its own facts of the truth.
    fn inspect(&self, _server: &Server, _facts: &mut BTreeMap<String, f64>) {}
}

/// The machine of a server kind.
#[derive(Clone, Debug)]
pub struct ServerMachine<B> {
    server: Server,
    own: B,
    first: usize,
}

impl<B: Behavior> ServerMachine<B> {
    /// In its first state.
    ///
    /// # Errors
    /// Names what does not fit in the setup.
    pub fn create(setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        let server = Server::create(setup, B::COLUMNS)?;
        let first = crate::signals::own(setup);
        Ok(Box::new(ServerMachine { server, own: B::default(), first }))
    }
}

impl<B: Behavior> Machine for ServerMachine<B> {
    fn round(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox) {
        let renewed = self.server.take_grants(inbox);
        if !renewed.is_empty() {
            self.own.renewed(&mut self.server, &renewed);
        }
        self.server.probe(cx);
        self.server.set_knobs(cx);
        self.server.take_names(inbox);
        self.own.knobs(&mut self.server, cx);
        self.server.serve(cx, inbox, out);
        self.own.served(&mut self.server, cx, out, self.first);
    }

    fn accepts(&self, order: &Order) -> Result<(), Refusal> {
        let own = self.own.accepts(&self.server, order);
        own.unwrap_or_else(|| self.server.accepts(order))
    }

    fn operate(&mut self, cx: &mut Cx<'_>, order: &Order) {
        if !self.own.operate(&mut self.server, cx, order) {
            self.server.operate(cx, order);
        }
    }

    fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        self.server.inject(cx, pull);
        self.own.injected(&mut self.server, cx, pull);
    }

    fn clear(&mut self, _cx: &mut Cx<'_>, pull: &LeverPull) {
        self.server.clear(pull);
    }

    fn read(&self, past: &Past<'_>, query: &Query) -> Answer {
        if matches!(query, Query::Logs { .. }) {
            return Answer::Logs(logs(&self.server.setup, &self.own, past, query));
        }
        let mut facts = self.server.facts(query);
        self.own.facts(&self.server, query, &mut facts);
        Answer::Facts(facts)
    }

    fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        self.server.inspect(facts);
        self.own.inspect(&self.server, facts);
    }

    fn plan(&self, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
        let own = Own { failure: B::FAILURE, calls_made: B::calls_made };
        plan(&self.server.setup, own, past, hop, replies)
    }

    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        self.server.snapshot(&self.own)
    }

    fn digest(&self) -> Result<Digest, SnapshotError> {
        self.server.digest(&self.own)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.own = self.server.restore(bytes)?;
        Ok(())
    }

    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
