//! The gRPC service of the control plane over a [`Household`]. It carries messages and adds the
//! incarnation; all rules are the household's.

use model::{EpisodeId, Query};
use proto::control::v1 as pb;
use proto::control::v1::component_server::Component;
use serde::Serialize;
use tonic::{Request, Response, Status};

use crate::answer::Desk;
use crate::sequence::{Answer, Call};
use crate::wire::order::pull_out;

/// The control plane of a process.
#[derive(Clone, Debug)]
pub struct ControlService {
    desk: Desk,
}

impl ControlService {
    /// Over this desk.
    pub fn new(desk: Desk) -> ControlService {
        ControlService { desk }
    }

    fn incarnation(&self) -> u64 {
        self.desk.household.incarnation()
    }
}

type Reply<T> = Result<Response<T>, Status>;

/// A sequenced method: `$make` wraps its message, and the answer is of the same name.
macro_rules! sequenced {
    ($self:ident, $request:ident, $variant:ident) => {{
        let request = $request.into_inner();
        let sequence = request.sequence;
        match $self.desk.household.call(sequence, Call::$variant(request))? {
            Answer::$variant(mut answer) => {
                answer.incarnation = $self.incarnation();
                Ok(Response::new(answer))
            }
            _ => Err(Status::internal("the answer is of another call")),
        }
    }};
}

#[tonic::async_trait]
impl Component for ControlService {
    async fn describe(&self, _: Request<pb::DescribeRequest>) -> Reply<pb::DescribeResponse> {
        let household = &self.desk.household;
        Ok(Response::new(pb::DescribeResponse {
            kind: household.kind().name().into(),
            doc: household.kind().doc().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            incarnation: self.incarnation(),
            episodes: u32::try_from(household.episodes()).unwrap_or(u32::MAX),
            episodes_max: u32::try_from(household.limits().episodes_max).unwrap_or(u32::MAX),
        }))
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Reply<pb::CreateResponse> {
        self.desk.household.create(request.into_inner())?;
        Ok(Response::new(pb::CreateResponse { incarnation: self.incarnation() }))
    }

    async fn connect_peers(
        &self,
        request: Request<pb::ConnectPeersRequest>,
    ) -> Reply<pb::ConnectPeersResponse> {
        for (kind, address) in request.into_inner().peers {
            let connected = self.desk.peers.connect(&kind, &address);
            connected.map_err(|error| Status::invalid_argument(format!("{kind}: {error}")))?;
        }
        Ok(Response::new(pb::ConnectPeersResponse { incarnation: self.incarnation() }))
    }

    async fn advance(&self, request: Request<pb::AdvanceRequest>) -> Reply<pb::AdvanceResponse> {
        sequenced!(self, request, Advance)
    }

    async fn operate(&self, request: Request<pb::OperateRequest>) -> Reply<pb::OperateResponse> {
        sequenced!(self, request, Operate)
    }

    async fn inject(&self, request: Request<pb::InjectRequest>) -> Reply<pb::InjectResponse> {
        sequenced!(self, request, Inject)
    }

    async fn clear(&self, request: Request<pb::ClearRequest>) -> Reply<pb::ClearResponse> {
        sequenced!(self, request, Clear)
    }

    async fn list_faults(
        &self,
        request: Request<pb::ListFaultsRequest>,
    ) -> Reply<pb::ListFaultsResponse> {
        let pb::ListFaultsRequest { episode, instance } = request.into_inner();
        let pulls = self.desk.household.look(EpisodeId(episode), |resident| {
            Ok(resident.instance(instance)?.levers().iter().map(pull_out).collect())
        })?;
        Ok(Response::new(pb::ListFaultsResponse { incarnation: self.incarnation(), pulls }))
    }

    async fn read(&self, request: Request<pb::ReadRequest>) -> Reply<pb::ReadResponse> {
        let pb::ReadRequest { episode, instance, query_json } = request.into_inner();
        let query: Query = serde_json::from_slice(&query_json)
            .map_err(|error| Status::invalid_argument(format!("query: {error}")))?;
        let answer_json = self.desk.household.look(EpisodeId(episode), |resident| {
            json(&resident.instance(instance)?.read(&query))
        })?;
        Ok(Response::new(pb::ReadResponse { incarnation: self.incarnation(), answer_json }))
    }

    async fn inspect(&self, request: Request<pb::InspectRequest>) -> Reply<pb::InspectResponse> {
        let pb::InspectRequest { episode, instance } = request.into_inner();
        let inspection_json = self
            .desk
            .household
            .look(EpisodeId(episode), |resident| json(&resident.instance(instance)?.inspect()))?;
        Ok(Response::new(pb::InspectResponse { incarnation: self.incarnation(), inspection_json }))
    }

    async fn snapshot(&self, request: Request<pb::SnapshotRequest>) -> Reply<pb::SnapshotResponse> {
        let pb::SnapshotRequest { episode, instances } = request.into_inner();
        let (seq, snapshots) = self.desk.household.look(EpisodeId(episode), |resident| {
            let chosen = match instances.is_empty() {
                true => resident.instances().iter().collect(),
                false => instances
                    .iter()
                    .map(|wide| resident.instance(*wide))
                    .collect::<Result<Vec<_>, _>>()?,
            };
            let taken = chosen.iter().map(|instance| instance.snapshot());
            let taken = taken.collect::<Result<Vec<_>, _>>();
            Ok((resident.seq(), taken.map_err(|error| Status::internal(error.to_string()))?))
        })?;
        let incarnation = self.incarnation();
        Ok(Response::new(pb::SnapshotResponse { incarnation, seq, snapshots }))
    }

    async fn restore(&self, request: Request<pb::RestoreRequest>) -> Reply<pb::RestoreResponse> {
        self.desk.household.restore(request.get_ref())?;
        Ok(Response::new(pb::RestoreResponse { incarnation: self.incarnation() }))
    }

    async fn drop(&self, request: Request<pb::DropRequest>) -> Reply<pb::DropResponse> {
        let pb::DropRequest { episode, epoch } = request.into_inner();
        let known = self.desk.household.forget(EpisodeId(episode), epoch)?;
        Ok(Response::new(pb::DropResponse { incarnation: self.incarnation(), known }))
    }
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Status> {
    serde_json::to_vec(value).map_err(|error| Status::internal(error.to_string()))
}
