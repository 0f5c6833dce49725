//! Channels, and the arm that asks peers, over a generated server in memory.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use http::HeaderValue;
use model::{ClassId, Code, EdgeId, EpisodeId, Hop, HopReply, InstanceId, Tick};
use proto::db::v1::db_server::{Db, DbServer};
use proto::request::v1 as pb;
use tonic::{Request, Response, Status};

use crate::channel::TOKEN;
use crate::{Channel, MeshError, ask, deadline, local_service, method, trace, wire};

/// Something that must not cross a channel.
#[derive(Clone)]
struct Smuggled;

type Seen = Arc<Mutex<Vec<(String, String, String)>>>;

/// Echoes; notes what came as metadata.
struct Echo(Seen);

#[tonic::async_trait]
impl Db for Echo {
    async fn query(&self, request: Request<pb::Hop>) -> Result<Response<pb::HopReply>, Status> {
        let text = |key| match request.metadata().get(key) {
            Some(value) => value.to_str().unwrap().to_string(),
            None => "-".to_string(),
        };
        assert!(request.extensions().get::<Smuggled>().is_none());
        let seen = (text(trace::TRACEPARENT), text(deadline::METADATA), text(TOKEN));
        self.0.lock().unwrap().push(seen);
        let hop = request.into_inner();
        let message = format!("episode {} asked {}", hop.episode, hop.operation);
        let reply = HopReply { code: Code::Ok, latency_s: 0.5, message, spans: vec![] };
        Ok(Response::new(wire::reply_out(reply)))
    }

    async fn write(&self, _: Request<pb::Hop>) -> Result<Response<pb::HopReply>, Status> {
        Err(Status::not_found("not here"))
    }
}

fn hop(operation: &str) -> Hop {
    Hop {
        request: 5,
        class: ClassId(0),
        instance: InstanceId(0),
        edge: EdgeId(0),
        operation: operation.into(),
        path: 6,
        tick: Tick(0),
        deadline_s: 0.25,
        sampled: true,
    }
}

#[test]
fn a_peer_is_addressed_by_kind_and_operation_and_sees_trace_deadline_and_token() {
    let seen = Seen::default();
    let token = HeaderValue::from_static("s3cret");
    let service = local_service(DbServer::new(Echo(seen.clone())));
    let channel = Channel::local(service).with_token(Some(token));
    let query = hop("Query");
    let reply = ask(channel.clone(), "db", EpisodeId(3), &query).now_or_never();
    let reply = reply.expect("in memory").unwrap();
    assert_eq!((reply.message.as_str(), reply.latency_s), ("episode 3 asked Query", 0.5));
    let seen = seen.lock().unwrap().clone();
    let expected = (trace::traceparent(&hop("Query")), "250000".into(), "s3cret".into());
    assert_eq!(seen, [expected]);
    let lost = ask(channel.clone(), "db", EpisodeId(3), &hop("Write")).now_or_never().unwrap();
    assert_eq!(lost, Err(MeshError::Lost { kind: "db".into() }));
    let unknown = ask(channel, "db", EpisodeId(3), &hop("Vacuum")).now_or_never().unwrap();
    assert!(matches!(unknown, Err(MeshError::Defect(_))), "{unknown:?}");
}

#[test]
fn extensions_do_not_cross_a_local_channel() {
    let service = local_service(DbServer::new(Echo(Seen::default())));
    let mut request = Request::new(wire::hop_out(EpisodeId(1), &hop("Query")));
    request.extensions_mut().insert(Smuggled);
    let path = method("db", "Query").unwrap();
    let called = crate::unary::<_, pb::HopReply>(Channel::local(service), path, request);
    called.now_or_never().expect("in memory").unwrap();
}

#[test]
fn a_late_channel_works_once_it_is_bound() {
    let (channel, binding) = Channel::late();
    let early = ask(channel.clone(), "db", EpisodeId(1), &hop("Query")).now_or_never().unwrap();
    assert!(matches!(&early, Err(MeshError::Unreachable { .. })), "{early:?}");
    binding.bind(local_service(DbServer::new(Echo(Seen::default()))));
    let late = ask(channel, "db", EpisodeId(1), &hop("Query")).now_or_never().unwrap();
    assert_eq!(late.unwrap().code, Code::Ok);
}

#[test]
fn paths_come_from_the_kind_and_the_operation() {
    assert_eq!(method("db", "Query").unwrap().as_str(), "/mayday.db.v1.Db/Query");
    assert_eq!(method("gateway", "Route").unwrap().as_str(), "/mayday.gateway.v1.Gateway/Route");
    assert!(method("d b", "Query").is_err());
}
