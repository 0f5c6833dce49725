//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use model::{PROCESS, PUBLISH};
use proto::queue::v1::queue_server::{Queue, QueueServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(QueueServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl Queue for Shell {
    async fn publish(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, PUBLISH, hop).await
    }

    async fn process(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, PROCESS, hop).await
    }
}
