//! Where the processes of the kinds are, and the arm of the walk that asks them. A peer is
//! addressed by (kind, operation); no kind is named here.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;
use http::uri::PathAndQuery;
use model::{EpisodeId, Hop, HopReply, InstanceId, Next};
use parking_lot::RwLock;
use prost::Message;
use tonic::client::Grpc;
use tonic::metadata::AsciiMetadataValue;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::attempt::Reached;
use crate::channel::{AddressError, Channel, MESSAGE_BYTES_MAX};
use crate::error::MeshError;
use crate::status::from_status;
use crate::walk::Arm;
use crate::{deadline, trace, wire};

/// Channels by kind. Cloning is cheap and shares them.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    channels: Arc<RwLock<BTreeMap<String, Peer>>>,
    token: Option<HeaderValue>,
}

#[derive(Clone, Debug)]
struct Peer {
    address: String,
    channel: Channel,
}

impl Peers {
    /// No peers yet; `token` is shown to those that will be connected by address.
    pub fn new(token: Option<HeaderValue>) -> Peers {
        Peers { channels: Arc::default(), token }
    }

    /// Reaches `kind` through `channel`.
    pub fn set(&self, kind: &str, channel: Channel) {
        let peer = Peer { address: String::new(), channel };
        self.channels.write().insert(kind.to_string(), peer);
    }

    /// Reaches `kind` at `address`; a connection to the same address is kept.
    ///
    /// # Errors
    /// Where `address` is not one.
    pub fn connect(&self, kind: &str, address: &str) -> Result<(), AddressError> {
        if self.channels.read().get(kind).is_some_and(|peer| peer.address == address) {
            return Ok(());
        }
        let channel = Channel::tcp(address)?.with_token(self.token.clone());
        let peer = Peer { address: address.to_string(), channel };
        self.channels.write().insert(kind.to_string(), peer);
        Ok(())
    }

    /// Forgets all peers.
    pub fn clear(&self) {
        self.channels.write().clear();
    }

    /// The channel to `kind`.
    pub fn get(&self, kind: &str) -> Option<Channel> {
        self.channels.read().get(kind).map(|peer| peer.channel.clone())
    }
}

/// Calls a unary method by its path.
///
/// # Errors
/// The status that the callee or the transport gave.
pub async fn unary<Q, A>(
    channel: Channel,
    path: PathAndQuery,
    request: Request<Q>,
) -> Result<Response<A>, Status>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    let mut grpc = Grpc::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    grpc.ready().await.map_err(Status::from_error)?;
    grpc.unary(request, path, ProstCodec::default()).await
}

/// The path of an operation: `/mayday.<kind>.v1.<Kind>/<Operation>`.
pub fn method(kind: &str, operation: &str) -> Result<PathAndQuery, MeshError> {
    let mut letters = kind.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    let service: String = first.into_iter().chain(letters).collect();
    PathAndQuery::try_from(format!("/mayday.{kind}.v1.{service}/{operation}"))
        .map_err(|error| MeshError::Defect(format!("operation {operation:?} of {kind}: {error}")))
}

/// Sends a hop to the process of `kind` and waits for its reply.
///
/// # Errors
/// Where the process does not answer or does not hold the episode.
pub async fn ask(
    channel: Channel,
    kind: &str,
    episode: EpisodeId,
    hop: &Hop,
) -> Result<HopReply, MeshError> {
    let mut request = Request::new(wire::hop_out(episode, hop));
    let metadata = request.metadata_mut();
    let parent = AsciiMetadataValue::try_from(trace::traceparent(hop));
    metadata.insert(trace::TRACEPARENT, parent.map_err(|e| MeshError::Defect(e.to_string()))?);
    metadata.insert(deadline::METADATA, deadline::micros(hop.deadline_s).into());
    let path = method(kind, &hop.operation)?;
    let reply = unary(channel, path, request).await.map_err(|status| from_status(kind, &status))?;
    wire::reply_in(reply.into_inner())
        .map_err(|error| MeshError::Defect(format!("reply of {kind}: {error}")))
}

/// The arm of a walk inside a component process: plans here, asks the peers.
#[derive(Debug)]
pub struct PeerArm<'a, P> {
    /// The episode.
    pub episode: EpisodeId,
    /// Kinds by instance id.
    pub directory: Arc<[String]>,
    /// The peers.
    pub peers: &'a Peers,
    /// Plans hops of the instances that are here.
    pub plan: P,
}

impl<P> PeerArm<'_, P> {
    fn kind_of(&self, instance: InstanceId) -> Result<&str, MeshError> {
        let kind = self.directory.get(instance.at());
        kind.map(String::as_str)
            .ok_or_else(|| MeshError::Defect(format!("the episode has no instance {}", instance.0)))
    }
}

impl<P> Arm for PeerArm<'_, P>
where
    P: Fn(&Hop, &[HopReply]) -> Result<Next, MeshError> + Send + Sync,
{
    fn plan(&self, hop: &Hop, replies: &[HopReply]) -> Result<Next, MeshError> {
        (self.plan)(hop, replies)
    }

    fn send(&self, hop: Hop) -> Reached<'_> {
        Box::pin(async move {
            let kind = self.kind_of(hop.instance)?;
            let channel = self.peers.get(kind).ok_or_else(|| MeshError::Unreachable {
                kind: kind.to_string(),
                reason: "its address is not known here: send Connect".into(),
            })?;
            ask(channel, kind, self.episode, &hop).await
        })
    }
}
