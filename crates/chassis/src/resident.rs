//! The instances of one kind in one episode, and the last sequenced call with its answer.

use std::sync::Arc;
use std::time::Instant;

use machine::{Instance, Kind, Moving};
use mesh::{MeshError, WireError};
use model::{Hop, HopReply, InstanceId, Next, Order, Setup, Tick};
use proto::control::v1 as pb;
use tonic::Status;

use crate::household::Admission;
use crate::sequence::{Answer, Call};
use crate::wire::exchange::inbox_in;
use crate::wire::moved::moved_out;
use crate::wire::order::{order_in, pull_in};
use crate::wire::{narrow, present};

/// One episode of one kind.
#[derive(Debug)]
pub struct Resident {
    epoch: u64,
    seq: u64,
    made: Option<(Call, Answer)>,
    creation: Option<pb::CreateRequest>,
    instances: Vec<Instance>,
    directory: Arc<[String]>,
    used: Instant,
}

/// A message that no instances can be made of.
#[derive(Debug)]
pub(crate) struct Unfit(String);

impl Unfit {
    /// As the answer of `kind`.
    pub(crate) fn about(self, kind: &str) -> Status {
        Status::invalid_argument(format!("{kind}: {}", self.0))
    }
}

impl Resident {
    /// In the first state.
    pub(crate) fn create(
        kind: &'static dyn Kind,
        request: &pb::CreateRequest,
    ) -> Result<Resident, Unfit> {
        let sequence = request.sequence.unwrap_or_default();
        let instances = instances(kind, &request.setups_json, request.start)?;
        let mut resident = Resident::of(sequence, instances, &request.directory);
        resident.creation = Some(request.clone());
        Ok(resident)
    }

    /// In given states.
    pub(crate) fn restore(
        kind: &'static dyn Kind,
        request: &pb::RestoreRequest,
    ) -> Result<Resident, Unfit> {
        let sequence = request.sequence.unwrap_or_default();
        let mut instances = instances(kind, &request.setups_json, request.start)?;
        if instances.len() != request.snapshots.len() {
            let (have, want) = (request.snapshots.len(), instances.len());
            return Err(Unfit(format!("{have} snapshots for {want} instances")));
        }
        for (instance, snapshot) in instances.iter_mut().zip(&request.snapshots) {
            instance.restore(snapshot).map_err(|error| Unfit(error.to_string()))?;
        }
        Ok(Resident::of(sequence, instances, &request.directory))
    }

    fn of(sequence: pb::Sequence, instances: Vec<Instance>, directory: &[String]) -> Resident {
        Resident {
            epoch: sequence.epoch,
            seq: sequence.seq,
            made: None,
            creation: None,
            instances,
            directory: directory.into(),
            used: Instant::now(),
        }
    }

    /// What a second `Create` of the same epoch is.
    pub(crate) fn created_by(&self, request: &pb::CreateRequest) -> Admission {
        if self.seq == 1 && self.creation.as_ref() == Some(request) {
            return Admission::Repeat;
        }
        Admission::Refuse(Box::new(Status::failed_precondition(format!(
            "the episode is at call {} of this epoch already: raise the epoch to start it again",
            self.seq
        ))))
    }

    /// Epoch of its owner.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of the last sequenced call.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When somebody last asked for it.
    pub(crate) fn used(&self) -> Instant {
        self.used
    }

    /// Somebody asks for it.
    pub(crate) fn touch(&mut self, now: Instant) {
        self.used = now;
    }

    /// Kinds of the instances of the episode, by id.
    pub fn directory(&self) -> Arc<[String]> {
        self.directory.clone()
    }

    /// Its instances, by ascending id.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The instance at this position of the topology.
    ///
    /// # Errors
    /// Where it is not here.
    pub fn instance(&self, wide: u32) -> Result<&Instance, Status> {
        let at = self.position(wide)?;
        Ok(&self.instances[at])
    }

    fn position(&self, wide: u32) -> Result<usize, Status> {
        let here = |id| self.instances.binary_search_by_key(&id, |held| held.setup().id).ok();
        let id = narrow("instance", wide).ok().map(InstanceId);
        id.and_then(here)
            .ok_or_else(|| Status::invalid_argument(format!("no instance {wide} is held here")))
    }

    /// The answer of the last call again, if `call` is that one.
    pub(crate) fn repeat(&self, call: &Call) -> Result<Answer, Status> {
        match &self.made {
            Some((made, answer)) if made == call => Ok(answer.clone()),
            Some(_) => Err(Status::failed_precondition(format!(
                "call {} was another one: make the interrupted call again before a new one",
                self.seq
            ))),
            None => Err(Status::out_of_range(format!(
                "the answer of call {} went with the process that gave it: restore the state \
                 before it",
                self.seq
            ))),
        }
    }

    /// Makes the next call. A message that does not fit changes nothing.
    pub(crate) fn make(&mut self, call: Call) -> Result<Answer, Status> {
        let answer = match &call {
            Call::Advance(request) => Answer::Advance(self.advance(request)?),
            Call::Operate(request) => Answer::Operate(self.operate(request)?),
            Call::Inject(request) => Answer::Inject(self.inject(request)?),
            Call::Clear(request) => Answer::Clear(self.clear(request)?),
        };
        self.seq += 1;
        self.creation = None;
        self.made = Some((call, answer.clone()));
        Ok(answer)
    }

    fn advance(&mut self, request: &pb::AdvanceRequest) -> Result<pb::AdvanceResponse, Status> {
        if request.inboxes.len() != self.instances.len() {
            let (have, want) = (request.inboxes.len(), self.instances.len());
            return Err(Status::invalid_argument(format!("{have} inboxes, {want} instances")));
        }
        let inboxes: Vec<_> =
            request.inboxes.iter().map(inbox_in).collect::<Result<_, _>>().map_err(misfit)?;
        let (tick, round, rounds) = (Tick(request.tick), request.round, request.rounds);
        let at = Moving { tick, round, rounds };
        let mut response = pb::AdvanceResponse::default();
        for (instance, inbox) in self.instances.iter_mut().zip(&inboxes) {
            let advanced = instance.advance(at, inbox);
            let digest = match request.want_digest {
                // An unencodable state is a defect; unwinding makes the household forget it.
                true => Some(instance.digest().expect("the state of a machine can be encoded")),
                false => None,
            };
            response.moved.push(moved_out(instance.outbox(), advanced.as_ref(), digest));
        }
        Ok(response)
    }

    fn operate(&mut self, request: &pb::OperateRequest) -> Result<pb::OperateResponse, Status> {
        use pb::operate_response::Outcome;
        let order: Order = part("order", request.order.as_ref(), order_in)?;
        let at = self.position(u32::from(order.target.0))?;
        let outcome = match self.instances[at].operate(Tick(request.tick), &order) {
            Ok(sentence) => Outcome::Accepted(sentence),
            Err(refusal) => Outcome::Refusal(pb::Refusal { reason: refusal.reason }),
        };
        Ok(pb::OperateResponse { outcome: Some(outcome), ..pb::OperateResponse::default() })
    }

    fn inject(&mut self, request: &pb::InjectRequest) -> Result<pb::InjectResponse, Status> {
        let pull = part("pull", request.pull.as_ref(), pull_in)?;
        let at = self.position(u32::from(pull.target.0))?;
        let outcome = self.instances[at].inject(Tick(request.tick), &pull);
        let refusal = outcome.err().map(|refusal| pb::Refusal { reason: refusal.reason });
        Ok(pb::InjectResponse { refusal, ..pb::InjectResponse::default() })
    }

    fn clear(&mut self, request: &pb::ClearRequest) -> Result<pb::ClearResponse, Status> {
        let at = self.position(request.target)?;
        let outcome = self.instances[at].clear(Tick(request.tick), request.id);
        let refusal = outcome.err().map(|refusal| pb::Refusal { reason: refusal.reason });
        Ok(pb::ClearResponse { refusal, ..pb::ClearResponse::default() })
    }

    /// The next thing that a hop does.
    pub(crate) fn plan(
        &self,
        kind: &dyn Kind,
        hop: &Hop,
        replies: &[HopReply],
    ) -> Result<Next, MeshError> {
        let instance = self
            .instance(u32::from(hop.instance.0))
            .map_err(|status| MeshError::Defect(status.message().into()))?;
        if !kind.rpcs().contains(&hop.operation.as_str()) {
            return Err(MeshError::Defect(format!(
                "{} serves no request {:?}; it serves {}",
                kind.name(),
                hop.operation,
                kind.rpcs().join(", ")
            )));
        }
        Ok(instance.plan(hop, replies))
    }
}

fn part<P, M>(
    field: &'static str,
    part: Option<&P>,
    convert: fn(&P) -> Result<M, WireError>,
) -> Result<M, Status> {
    present(field, part).and_then(convert).map_err(misfit)
}

fn misfit(error: WireError) -> Status {
    Status::invalid_argument(error.to_string())
}

fn instances(
    kind: &'static dyn Kind,
    setups_json: &[Vec<u8>],
    start: i64,
) -> Result<Vec<Instance>, Unfit> {
    let mut instances: Vec<Instance> = Vec::new();
    for json in setups_json {
        let setup: Setup =
            serde_json::from_slice(json).map_err(|error| Unfit(format!("setup: {error}")))?;
        let name = setup.spec.name.clone();
        if setup.spec.kind != kind.name() {
            return Err(Unfit(format!("{name} is of kind {:?}", setup.spec.kind)));
        }
        if instances.last().is_some_and(|last| last.setup().id >= setup.id) {
            return Err(Unfit(format!("{name} is out of order: list setups by ascending id")));
        }
        let made = Instance::create(kind, setup, Tick(start));
        instances.push(made.map_err(|error| Unfit(format!("{name}: {error}")))?);
    }
    Ok(instances)
}
