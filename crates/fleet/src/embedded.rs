//! The machines of one episode called directly, in one thread, without a runtime: every future is
//! ready at its first poll. The default body, the body of counterfactuals, and the one that other
//! bodies are compared with and healed from.

use machine::{Instance, Kind};
use mesh::{Arm, MeshError, Reached, walk};
use model::{
    Answer, EpisodeId, Hop, HopReply, Inspection, InstanceId, LeverPull, Next, Order, Query, Setup,
    Tick,
};

use crate::error::FleetError;
use crate::fleet::{Fleet, Told};
use crate::halt::Lanes;
use crate::reply::Reply;
use crate::roster::{Roster, Round, Savepoint};

/// All instances of one episode in this process.
#[derive(Debug)]
pub struct EmbeddedFleet {
    kinds: &'static [&'static dyn Kind],
    episode: EpisodeId,
    instances: Vec<Instance>,
    lanes: Lanes,
}

impl EmbeddedFleet {
    /// A fleet that holds nothing yet and knows these kinds.
    pub fn new(kinds: &'static [&'static dyn Kind]) -> EmbeddedFleet {
        let (episode, instances, lanes) = (EpisodeId(0), Vec::new(), Lanes::default());
        EmbeddedFleet { kinds, episode, instances, lanes }
    }

    /// An independent copy of everything; what is long is shared until it changes.
    pub fn fork(&self) -> EmbeddedFleet {
        EmbeddedFleet {
            kinds: self.kinds,
            episode: self.episode,
            instances: self.instances.iter().map(Instance::fork).collect(),
            lanes: self.lanes.clone(),
        }
    }

    /// The episode.
    pub fn episode(&self) -> EpisodeId {
        self.episode
    }

    /// The instances by id.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Number of the last mutating call of `kind`; 0 for a kind that has no instances.
    pub fn seq(&self, kind: &str) -> u64 {
        self.lanes.named(kind).map_or(0, |lane| lane.seq)
    }

    /// From now on the call that would be number `seq` of `kind`, or a later one, is not made:
    /// [`FleetError::Halted`]. Stays in force through `create` and `restore`.
    pub fn halt_before(&mut self, kind: &str, seq: u64) {
        self.lanes.halt_before(kind, seq);
    }

    /// Takes [`EmbeddedFleet::halt_before`] back.
    pub fn go_on(&mut self) {
        self.lanes.go_on();
    }

    fn build(&self, roster: &Roster) -> Result<(Vec<Instance>, Lanes), FleetError> {
        roster.check()?;
        let make = |setup: &Setup| {
            let name = &setup.spec.kind;
            let kind = self.kinds.iter().copied().find(|kind| kind.name() == name);
            let kind = kind.ok_or_else(|| self.unknown_kind(setup))?;
            Instance::create(kind, setup.clone(), roster.start)
                .map_err(|error| FleetError::defect(format!("{}: {error}", setup.spec.name)))
        };
        let instances = roster.setups.iter().map(make).collect::<Result<_, _>>()?;
        Ok((instances, Lanes::new(roster).halting_like(&self.lanes)))
    }

    fn unknown_kind(&self, setup: &Setup) -> FleetError {
        let known: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
        FleetError::defect(format!(
            "{} is of kind {:?}; this fleet knows {}",
            setup.spec.name,
            setup.spec.kind,
            known.join(", ")
        ))
    }

    fn instance(&self, id: InstanceId) -> Result<&Instance, FleetError> {
        self.instances.get(id.at()).ok_or_else(|| nobody(id))
    }

    /// Counts a call of one instance, and gives the instance.
    fn touch(&mut self, id: InstanceId) -> Result<&mut Instance, FleetError> {
        let lane = self.lanes.of(id.at()).ok_or_else(|| nobody(id))?;
        self.lanes.count(Some(lane))?;
        self.instances.get_mut(id.at()).ok_or_else(|| nobody(id))
    }
}

/// There is no such instance.
pub(crate) fn nobody(id: InstanceId) -> FleetError {
    FleetError::defect(format!("the episode has no instance {}", id.0))
}

impl Fleet for EmbeddedFleet {
    async fn create(&mut self, roster: &Roster) -> Result<(), FleetError> {
        let (instances, mut lanes) = self.build(roster)?;
        lanes.count(None)?;
        (self.episode, self.instances, self.lanes) = (roster.episode, instances, lanes);
        Ok(())
    }

    async fn advance(
        &mut self,
        round: &Round<'_>,
        into: &mut Vec<Reply>,
    ) -> Result<(), FleetError> {
        if round.inboxes.len() != self.instances.len() {
            return Err(FleetError::defect(format!(
                "{} inboxes for {} instances",
                round.inboxes.len(),
                self.instances.len()
            )));
        }
        self.lanes.count(None)?;
        into.resize_with(self.instances.len(), Reply::default);
        let all = self.instances.iter_mut().zip(round.inboxes).zip(into);
        for ((instance, inbox), reply) in all {
            reply.advanced = instance.advance(round.at, inbox);
            reply.take_outbox(instance.outbox());
            reply.digest = if round.want_digest { Some(instance.digest()?) } else { None };
        }
        Ok(())
    }

    async fn operate(&mut self, tick: Tick, order: &Order) -> Result<Told<String>, FleetError> {
        Ok(self.touch(order.target)?.operate(tick, order))
    }

    async fn inject(&mut self, tick: Tick, pull: &LeverPull) -> Result<Told<()>, FleetError> {
        Ok(self.touch(pull.target)?.inject(tick, pull))
    }

    async fn clear(
        &mut self,
        tick: Tick,
        target: InstanceId,
        id: u64,
    ) -> Result<Told<()>, FleetError> {
        Ok(self.touch(target)?.clear(tick, id))
    }

    async fn read(&self, of: InstanceId, query: &Query) -> Result<Answer, FleetError> {
        Ok(self.instance(of)?.read(query))
    }

    async fn inspect(&self, of: InstanceId) -> Result<Inspection, FleetError> {
        Ok(self.instance(of)?.inspect())
    }

    async fn request(&self, hop: &Hop) -> Result<HopReply, FleetError> {
        Ok(walk(self, hop).await?)
    }

    async fn snapshot(&self, of: InstanceId) -> Result<Vec<u8>, FleetError> {
        Ok(self.instance(of)?.snapshot()?)
    }

    async fn save(&self) -> Result<Savepoint, FleetError> {
        let snapshots = self.instances.iter().map(Instance::snapshot).collect::<Result<_, _>>()?;
        Ok(Savepoint { seqs: self.lanes.seqs(), snapshots })
    }

    async fn restore(&mut self, roster: &Roster, savepoint: &Savepoint) -> Result<(), FleetError> {
        let (mut instances, mut lanes) = self.build(roster)?;
        savepoint.check(roster)?;
        lanes.set_seqs(&savepoint.seqs)?;
        for (instance, snapshot) in instances.iter_mut().zip(&savepoint.snapshots) {
            instance.restore(snapshot)?;
        }
        (self.episode, self.instances, self.lanes) = (roster.episode, instances, lanes);
        Ok(())
    }

    async fn heal(&mut self, kind: &str, _: &EmbeddedFleet) -> Result<(), FleetError> {
        Err(FleetError::defect(format!("an embedded {kind} cannot lose its state")))
    }

    async fn drop_episode(&mut self) -> Result<(), FleetError> {
        self.instances.clear();
        self.lanes = Lanes::default();
        Ok(())
    }
}

impl Arm for EmbeddedFleet {
    fn plan(&self, hop: &Hop, replies: &[HopReply]) -> Result<Next, MeshError> {
        let at = hop.instance;
        let instance = self
            .instances
            .get(at.at())
            .ok_or_else(|| MeshError::Defect(format!("the episode has no instance {}", at.0)))?;
        let served = instance.kind().rpcs();
        if !served.contains(&hop.operation.as_str()) {
            return Err(MeshError::Defect(format!(
                "{} serves no request {:?}; it serves {}",
                instance.kind().name(),
                hop.operation,
                served.join(", ")
            )));
        }
        Ok(instance.plan(hop, replies))
    }

    fn send(&self, hop: Hop) -> Reached<'_> {
        Box::pin(async move { walk(self, &hop).await })
    }
}
