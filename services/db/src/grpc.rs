//! The shell of the request plane: each method is a hop that the chassis answers. No logic.

use chassis::{Desk, answer};
use proto::db::v1::db_server::{Db, DbServer};
use proto::request::v1::{Hop, HopReply};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// The request plane of the kind, over the episodes and peers of `desk`.
pub fn routes(desk: Desk) -> Routes {
    Routes::new(DbServer::new(Shell(desk)))
}

#[derive(Debug)]
struct Shell(Desk);

#[tonic::async_trait]
impl Db for Shell {
    async fn query(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Query", hop).await
    }

    async fn write(&self, hop: Request<Hop>) -> Result<Response<HopReply>, Status> {
        answer(&self.0, "Write", hop).await
    }
}
