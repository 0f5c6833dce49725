//! The trait that the engine drives. Async because a body may be elsewhere; an embedded one is
//! ready at its first poll. Implementations spawn nothing.

use std::future::Future;

use model::{
    Answer, Hop, HopReply, Inspection, InstanceId, LeverPull, Order, Query, Refusal, Tick,
};

use crate::embedded::EmbeddedFleet;
use crate::error::FleetError;
use crate::reply::Reply;
use crate::roster::{Roster, Round, Savepoint};

/// The outcome of an order or a lever: the component's sentence, or its refusal. Both are facts of
/// the simulation.
pub type Told<T> = Result<T, Refusal>;

/// All components of one episode.
///
/// `create`, `advance`, `operate`, `inject` and `clear` change the world. Each is counted once for
/// every kind that it reaches (`create` and `advance` reach all). After an error the same call has
/// to be made again until it succeeds, before any other of these; what was done of it is not done
/// twice.
pub trait Fleet: Send {
    /// Creates all instances in their first state; call 1 of every kind. Replaces an episode of an
    /// older epoch.
    fn create(&mut self, roster: &Roster) -> impl Future<Output = Result<(), FleetError>> + Send;

    /// One round of all instances. `into` gets one reply per instance, by id; its buffers are
    /// reused.
    fn advance(
        &mut self,
        round: &Round<'_>,
        into: &mut Vec<Reply>,
    ) -> impl Future<Output = Result<(), FleetError>> + Send;

    /// Gives an order to its target. The sentence says when it takes effect.
    fn operate(
        &mut self,
        tick: Tick,
        order: &Order,
    ) -> impl Future<Output = Result<Told<String>, FleetError>> + Send;

    /// Pulls a lever of its target.
    fn inject(
        &mut self,
        tick: Tick,
        pull: &LeverPull,
    ) -> impl Future<Output = Result<Told<()>, FleetError>> + Send;

    /// Lets go of lever pull `id` of `target`.
    fn clear(
        &mut self,
        tick: Tick,
        target: InstanceId,
        id: u64,
    ) -> impl Future<Output = Result<Told<()>, FleetError>> + Send;

    /// What monitoring may show of an instance.
    fn read(
        &self,
        of: InstanceId,
        query: &Query,
    ) -> impl Future<Output = Result<Answer, FleetError>> + Send;

    /// The truth about an instance.
    fn inspect(
        &self,
        of: InstanceId,
    ) -> impl Future<Output = Result<Inspection, FleetError>> + Send;

    /// Sends a request in at `hop.instance` and answers as its caller sees it. Changes nothing.
    fn request(&self, hop: &Hop) -> impl Future<Output = Result<HopReply, FleetError>> + Send;

    /// The whole state of an instance.
    fn snapshot(&self, of: InstanceId) -> impl Future<Output = Result<Vec<u8>, FleetError>> + Send;

    /// The whole state of all instances.
    fn save(&self) -> impl Future<Output = Result<Savepoint, FleetError>> + Send;

    /// Instead of `create`: all instances in the state of `savepoint`, from which counting goes on.
    fn restore(
        &mut self,
        roster: &Roster,
        savepoint: &Savepoint,
    ) -> impl Future<Output = Result<(), FleetError>> + Send;

    /// After [`FleetError::Lost`]: brings the instances of `kind` into the state that they have in
    /// `replay`, an embedded replay of the same record that stands before the call that failed.
    fn heal(
        &mut self,
        kind: &str,
        replay: &EmbeddedFleet,
    ) -> impl Future<Output = Result<(), FleetError>> + Send;

    /// Forgets the episode, everywhere.
    fn drop_episode(&mut self) -> impl Future<Output = Result<(), FleetError>> + Send;
}
