//! The services of OTLP over gRPC.

use crate::captured::{Captured, Fate, Shelf};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use std::net::TcpListener;
use std::sync::Arc;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

pub(crate) fn serve(listener: TcpListener, shelf: Arc<Shelf>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        listener.set_nonblocking(true).expect("a socket");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        let service = Service { shelf };
        let traces = TraceServiceServer::new(service.clone()).accept_compressed(Gzip);
        let logs = LogsServiceServer::new(service.clone()).accept_compressed(Gzip);
        let metrics = MetricsServiceServer::new(service).accept_compressed(Gzip);
        let server = Server::builder().add_service(traces).add_service(logs).add_service(metrics);
        server.serve_with_incoming(TcpIncoming::from(listener)).await.expect("it serves");
    });
}

#[derive(Clone, Debug)]
struct Service {
    shelf: Arc<Shelf>,
}

impl Service {
    async fn receive<T: Message>(
        &self,
        signal: &'static str,
        request: Request<T>,
    ) -> Result<i64, Status> {
        let metadata = request.metadata().clone().into_headers();
        let headers = metadata.iter().map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let (headers, bytes) = (headers.collect(), request.into_inner().encode_to_vec());
        match self.shelf.receive(Captured { signal, bytes, headers }) {
            Fate::Refuse => Err(Status::unavailable("busy")),
            Fate::Ignore => std::future::pending().await,
            Fate::Take => Ok(self.shelf.manners.rejects),
        }
    }
}

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let rejected_spans = self.receive("traces", request).await?;
        let part = ExportTracePartialSuccess { rejected_spans, ..Default::default() };
        Ok(Response::new(ExportTraceServiceResponse { partial_success: Some(part) }))
    }
}

#[tonic::async_trait]
impl LogsService for Service {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let rejected_log_records = self.receive("logs", request).await?;
        let part = ExportLogsPartialSuccess { rejected_log_records, ..Default::default() };
        Ok(Response::new(ExportLogsServiceResponse { partial_success: Some(part) }))
    }
}

#[tonic::async_trait]
impl MetricsService for Service {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let rejected_data_points = self.receive("metrics", request).await?;
        let part = ExportMetricsPartialSuccess { rejected_data_points, ..Default::default() };
        Ok(Response::new(ExportMetricsServiceResponse { partial_success: Some(part) }))
    }
}
