//! What a component process needs at hand to answer requests, and the answer itself. The shells of
//! the kinds call [`answer`] with the name of their operation and do nothing else.

use std::sync::Arc;

use mesh::status::to_status;
use mesh::{PeerArm, Peers, trace, walk, wire};
use proto::request::v1 as pb;
use tonic::{Request, Response, Status};

use crate::household::Household;

/// The episodes of a process and the ways to its peers. Cloning is cheap and shares both.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The episodes.
    pub household: Arc<Household>,
    /// The peers.
    pub peers: Peers,
}

/// Answers a hop of `operation`. A simulated failure is a normal reply.
///
/// # Errors
/// Only for failures of the simulator, here or at a peer.
pub async fn answer(
    desk: &Desk,
    operation: &str,
    request: Request<pb::Hop>,
) -> Result<Response<pb::HopReply>, Status> {
    let parent = request
        .metadata()
        .get(trace::TRACEPARENT)
        .and_then(|text| trace::parse_traceparent(text.to_str().ok()?));
    let (episode, hop) = wire::hop_in(request.into_inner())
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    if hop.operation != operation {
        return Err(Status::invalid_argument(format!(
            "the hop asks for {:?}, the method is {operation}",
            hop.operation
        )));
    }
    if let Some((trace, span, _)) = parent {
        tracing::trace!(%episode, operation, trace = format!("{trace:032x}"), parent = span, "hop");
    }
    let household = &*desk.household;
    let arm = PeerArm {
        episode,
        directory: household.directory(episode).map_err(to_status)?,
        peers: &desk.peers,
        plan: |hop: &_, replies: &_| household.plan(episode, hop, replies),
    };
    let reply = walk(&arm, &hop).await.map_err(to_status)?;
    Ok(Response::new(wire::reply_out(reply)))
}
