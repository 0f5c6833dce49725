//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use proto::auth::v1::auth_server::{Auth, AuthServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(AuthServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl Auth for Shell {
    async fn verify(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Verify", hop).await
    }

    async fn login(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Login", hop).await
    }
}
