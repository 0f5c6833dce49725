//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use proto::frontend::v1::frontend_server::{Frontend, FrontendServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(FrontendServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl Frontend for Shell {
    async fn page(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Page", hop).await
    }
}
