//! The calls of the control plane as a fleet makes them: a message to the process of a kind, and
//! its answer, however often it has to be asked. Knows no state of an episode.

use std::sync::Arc;

use http::uri::PathAndQuery;
use mesh::unary;
use prost::Message;
use proto::control::v1 as pb;
use tonic::Request;

use crate::error::FleetError;
use crate::links::Links;
use crate::retry::{Failed, RemoteConfig};

/// A message of the control plane, with its method and its answer.
pub(crate) trait Control: Message + Clone + Send + Sync + 'static {
    /// Path of the method.
    const PATH: &'static str;
    /// The answer.
    type Answer: Message + Default + Send + Sync + 'static;
}

/// One line per method that a fleet calls.
macro_rules! control {
    ($($method:literal: $request:ident -> $answer:ident;)*) => {$(
        impl Control for pb::$request {
            const PATH: &'static str = concat!("/mayday.control.v1.Component/", $method);
            type Answer = pb::$answer;
        }
    )*};
}

control! {
    "Describe": DescribeRequest -> DescribeResponse;
    "Create": CreateRequest -> CreateResponse;
    "ConnectPeers": ConnectPeersRequest -> ConnectPeersResponse;
    "Advance": AdvanceRequest -> AdvanceResponse;
    "Operate": OperateRequest -> OperateResponse;
    "Inject": InjectRequest -> InjectResponse;
    "Clear": ClearRequest -> ClearResponse;
    "Read": ReadRequest -> ReadResponse;
    "Inspect": InspectRequest -> InspectResponse;
    "Snapshot": SnapshotRequest -> SnapshotResponse;
    "Restore": RestoreRequest -> RestoreResponse;
    "Drop": DropRequest -> DropResponse;
}

/// Asks the processes.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) links: Arc<Links>,
    pub(crate) config: RemoteConfig,
}

impl Client {
    /// Asks the process of `kind`; a failure is about its call number `seq`.
    pub(crate) async fn ask<Q: Control>(
        &self,
        kind: &str,
        seq: u64,
        request: Q,
    ) -> Result<Q::Answer, FleetError> {
        let link = self.links.to(kind)?;
        let attempt = || async {
            let path = PathAndQuery::from_static(Q::PATH);
            let mut request = Request::new(request.clone());
            trail::carry(&mut request);
            let answer = unary(link.channel.clone(), path, request).await;
            answer.map(tonic::Response::into_inner).map_err(|s| Failed::of(kind, seq, &s))
        };
        self.config.persist(kind, link, attempt).await
    }

    /// Tells the process of `kind` where the others are.
    pub(crate) async fn introduce(&self, kind: &str, seq: u64) -> Result<(), FleetError> {
        let peers = self.links.addresses();
        if peers.is_empty() {
            return Ok(());
        }
        self.ask(kind, seq, pb::ConnectPeersRequest { peers }).await.map(drop)
    }
}
