//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use proto::cache::v1::cache_server::{Cache, CacheServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(CacheServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl Cache for Shell {
    async fn get(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Get", hop).await
    }

    async fn set(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Set", hop).await
    }
}
