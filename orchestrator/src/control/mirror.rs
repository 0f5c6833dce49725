//! The same services as JSON over HTTP, on the same port: `POST /package.Service/Method` with the
//! request as JSON, in the form that the Connect protocol has for calls that carry one message each
//! way. Each is passed on as a gRPC call, so both ways are guarded and counted alike. Answers to
//! other requests that are no gRPC get the status that HTTP has for them.

use super::schema::{self, Schema};
use axum::body::Body as WebBody;
use bytes::{BufMut, Bytes, BytesMut};
use chassis::token;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN, TE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use prost_reflect::MethodDescriptor;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

/// Larger requests are refused.
const REQUEST_MAX: usize = 4 << 20;
/// Flag and length before a message of gRPC.
const PREFIX: usize = 5;
const GRPC: &str = "application/grpc";
const JSON: &str = "application/json";

/// Makes [`Mirror`]s.
#[derive(Clone, Debug)]
pub struct MirrorLayer {
    schema: Arc<Schema>,
    services: &'static [&'static str],
}

impl MirrorLayer {
    /// Mirrors these services.
    pub fn new(schema: Schema, services: &'static [&'static str]) -> MirrorLayer {
        MirrorLayer { schema: Arc::new(schema), services }
    }
}

impl<S> Layer<S> for MirrorLayer {
    type Service = Mirror<S>;

    fn layer(&self, inner: S) -> Mirror<S> {
        Mirror { inner, layer: self.clone() }
    }
}

/// A gRPC server that answers JSON as well.
#[derive(Clone, Debug)]
pub struct Mirror<S> {
    inner: S,
    layer: MirrorLayer,
}

impl<S> Service<Request<Body>> for Mirror<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let kind = media_type(request.headers());
        if kind.starts_with(GRPC) {
            return Box::pin(self.inner.call(request));
        }
        // A page of some other site in the browser of whoever runs this machine.
        if request.headers().contains_key(ORIGIN) {
            let status = Status::permission_denied("browsers are not served here");
            return answer(refusal(&status));
        }
        show_token(request.headers_mut());
        let found = self.layer.schema.method(request.uri().path(), self.layer.services);
        let Some(method) = found else {
            if request.method() == Method::GET && request.uri().path() != "/" {
                let page = self.inner.call(request);
                return Box::pin(async move { page.await.map(of_page) });
            }
            let paths = self.layer.schema.paths(self.layer.services);
            let sentence = format!("no such method; there are GET /metrics, {}", paths.join(", "));
            return answer(refused(StatusCode::NOT_FOUND, &Status::unimplemented(sentence)));
        };
        if request.method() != Method::POST {
            let sentence = format!("{} is called with POST and a JSON body", method.full_name());
            let status = Status::unimplemented(sentence);
            return answer(refused(StatusCode::METHOD_NOT_ALLOWED, &status));
        }
        if kind != JSON {
            let sentence = format!("`content-type` is {kind:?}; expected {JSON}");
            let status = Status::unimplemented(sentence);
            return answer(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, &status));
        }
        // The clone is not known to be ready, this one is.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let answered = passed_on(inner, &method, request).await;
            Ok(answered.unwrap_or_else(|status| refusal(&status)))
        })
    }
}

fn answer(response: Response<Body>) -> BoxFuture<'static, Result<Response<Body>, Infallible>> {
    Box::pin(std::future::ready(Ok(response)))
}

/// Without its parameters.
fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Clients of HTTP have a header of their own for tokens.
fn show_token(headers: &mut HeaderMap) {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
    let Some(Ok(shown)) = bearer.map(HeaderValue::from_str) else { return };
    headers.entry(HeaderName::from_static(token::METADATA)).or_insert(shown);
}

async fn passed_on<S>(
    mut inner: S,
    method: &MethodDescriptor,
    request: Request<Body>,
) -> Result<Response<Body>, Status>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let (mut head, body) = request.into_parts();
    let body = Limited::new(body, REQUEST_MAX).collect().await.map_err(|error| {
        Status::invalid_argument(format!(
            "the body cannot be read (most: {REQUEST_MAX} B): {error}"
        ))
    })?;
    let message = schema::decode(method.input(), &body.to_bytes());
    let message = message.map_err(|error| {
        Status::invalid_argument(format!("the body is no {}: {error}", method.input().name()))
    })?;
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    head.headers.insert(TE, HeaderValue::from_static("trailers"));
    head.headers.remove(http::header::CONTENT_LENGTH);
    let framed = Body::new(WebBody::from(framed(&message)));
    let Ok(response) = inner.call(Request::from_parts(head, framed)).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    for headers in [&head.headers, &trailers] {
        match Status::from_header_map(headers) {
            Some(status) if status.code() != Code::Ok => return Err(status),
            _ => {}
        }
    }
    let bytes = body.to_bytes();
    let text = schema::encode(&method.output(), bytes.get(PREFIX..).unwrap_or_default());
    let text = text.map_err(|_| Status::internal("the answer cannot be written as JSON"))?;
    Ok(page(StatusCode::OK, text))
}

/// A message as it travels in a call of gRPC.
fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PREFIX + message.len());
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    bytes.put_slice(message);
    bytes.freeze()
}

fn page(status: StatusCode, text: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::new(WebBody::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// What was refused in gRPC's words, in those of HTTP.
fn of_page(response: Response<Body>) -> Response<Body> {
    match Status::from_header_map(response.headers()) {
        None if response.status() != StatusCode::NOT_FOUND => response,
        Some(status) if status.code() != Code::Unimplemented => refusal(&status),
        _ => {
            let sentence = "no such page; there is /metrics, and methods are called with POST";
            refused(StatusCode::NOT_FOUND, &Status::unimplemented(sentence))
        }
    }
}

fn refused(http: StatusCode, status: &Status) -> Response<Body> {
    let said = json!({"code": word(status.code()), "message": status.message()});
    page(http, said.to_string().into_bytes())
}

/// As the Connect protocol pairs them.
fn refusal(status: &Status) -> Response<Body> {
    let http = match status.code() {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refused(http, status)
}

fn word(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "canceled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}
