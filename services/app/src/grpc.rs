//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use proto::app::v1::app_server::{App, AppServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(AppServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl App for Shell {
    async fn handle(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Handle", hop).await
    }
}
