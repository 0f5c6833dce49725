//! The paths of OTLP over HTTP/1.1: as much of it as a well-behaved client needs.

use crate::captured::{Captured, Fate, Shelf};
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

pub(crate) fn serve(listener: TcpListener, shelf: Arc<Shelf>) {
    for stream in listener.incoming().flatten() {
        let shelf = shelf.clone();
        // A connection that breaks is its client's affair.
        std::thread::spawn(move || converse(stream, &shelf));
    }
}

/// One request after another, until the client has enough.
fn converse(mut stream: TcpStream, shelf: &Shelf) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((path, headers, body)) = request(&mut reader)? {
        let signal = match path.as_str() {
            "/v1/traces" => "traces",
            "/v1/logs" => "logs",
            "/v1/metrics" => "metrics",
            _ => {
                answer(&mut stream, "404 Not Found", &[])?;
                continue;
            }
        };
        let bytes = match headers.get("content-encoding").map(String::as_str) {
            Some("gzip") => {
                let mut plain = Vec::new();
                GzDecoder::new(&*body).read_to_end(&mut plain)?;
                plain
            }
            _ => body,
        };
        match shelf.receive(Captured { signal, bytes, headers }) {
            Fate::Refuse => answer(&mut stream, "503 Service Unavailable", &[])?,
            Fate::Ignore => {}
            Fate::Take => {
                // The answers of all signals have the same fields.
                let rejected_spans = shelf.manners.rejects;
                let part = ExportTracePartialSuccess { rejected_spans, ..Default::default() };
                let body = ExportTraceServiceResponse { partial_success: Some(part) };
                answer(&mut stream, "200 OK", &body.encode_to_vec())?;
            }
        }
    }
    Ok(())
}

type Asked = (String, BTreeMap<String, String>, Vec<u8>);

fn request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_string();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(Some((path, headers, body)))
}

fn answer(stream: &mut TcpStream, status: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/x-protobuf\r\ncontent-length: \
         {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}
