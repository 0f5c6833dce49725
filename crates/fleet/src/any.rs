//! A fleet whose body is chosen at run time.

use model::{Answer, Hop, HopReply, Inspection, InstanceId, LeverPull, Order, Query, Tick};

use crate::embedded::EmbeddedFleet;
use crate::error::FleetError;
use crate::fleet::{Fleet, Told};
use crate::remote::RemoteFleet;
use crate::reply::Reply;
use crate::roster::{Roster, Round, Savepoint};

/// Either body.
#[derive(Debug)]
pub enum AnyFleet {
    /// In this process, called directly.
    Embedded(EmbeddedFleet),
    /// Over gRPC. Boxed: what stands in a vector of episodes should be small.
    Remote(Box<RemoteFleet>),
}

macro_rules! each {
    ($self:ident, $fleet:ident => $call:expr) => {
        match $self {
            AnyFleet::Embedded($fleet) => $call.await,
            AnyFleet::Remote($fleet) => $call.await,
        }
    };
}

impl Fleet for AnyFleet {
    async fn create(&mut self, roster: &Roster) -> Result<(), FleetError> {
        each!(self, fleet => fleet.create(roster))
    }

    async fn advance(
        &mut self,
        round: &Round<'_>,
        into: &mut Vec<Reply>,
    ) -> Result<(), FleetError> {
        each!(self, fleet => fleet.advance(round, into))
    }

    async fn operate(&mut self, tick: Tick, order: &Order) -> Result<Told<String>, FleetError> {
        each!(self, fleet => fleet.operate(tick, order))
    }

    async fn inject(&mut self, tick: Tick, pull: &LeverPull) -> Result<Told<()>, FleetError> {
        each!(self, fleet => fleet.inject(tick, pull))
    }

    async fn clear(
        &mut self,
        tick: Tick,
        target: InstanceId,
        id: u64,
    ) -> Result<Told<()>, FleetError> {
        each!(self, fleet => fleet.clear(tick, target, id))
    }

    async fn read(&self, of: InstanceId, query: &Query) -> Result<Answer, FleetError> {
        each!(self, fleet => fleet.read(of, query))
    }

    async fn inspect(&self, of: InstanceId) -> Result<Inspection, FleetError> {
        each!(self, fleet => fleet.inspect(of))
    }

    async fn request(&self, hop: &Hop) -> Result<HopReply, FleetError> {
        each!(self, fleet => fleet.request(hop))
    }

    async fn snapshot(&self, of: InstanceId) -> Result<Vec<u8>, FleetError> {
        each!(self, fleet => fleet.snapshot(of))
    }

    async fn save(&self) -> Result<Savepoint, FleetError> {
        each!(self, fleet => fleet.save())
    }

    async fn restore(&mut self, roster: &Roster, savepoint: &Savepoint) -> Result<(), FleetError> {
        each!(self, fleet => fleet.restore(roster, savepoint))
    }

    async fn heal(&mut self, kind: &str, replay: &EmbeddedFleet) -> Result<(), FleetError> {
        each!(self, fleet => fleet.heal(kind, replay))
    }

    async fn drop_episode(&mut self) -> Result<(), FleetError> {
        each!(self, fleet => fleet.drop_episode())
    }
}
