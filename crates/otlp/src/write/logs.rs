//! Log records: the lines that components log, and the calls that failed, with their trace.

use crate::attribute::{text, value};
use crate::call::Call;
use crate::names;
use crate::scene::{Scene, scope};
use crate::scribe::Line;
use crate::time::nanos;
use crate::write::{by_instance, spans};
use model::{InstanceId, Severity, SpanKind};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};

/// Lines of one tick are this far from each other: their order is kept.
const LINE_S: f64 = 0.001;
/// Flags of a record whose trace is sampled.
const SAMPLED: u32 = 1;

pub(crate) fn write(
    scene: &Scene,
    records: &[(InstanceId, LogRecord)],
) -> ExportLogsServiceRequest {
    let resource_logs =
        by_instance(records.iter().cloned()).into_iter().map(|(of, log_records)| ResourceLogs {
            resource: scene.resource(of),
            scope_logs: vec![ScopeLogs {
                scope: Some(scope()),
                log_records,
                schema_url: names::SCHEMA.into(),
            }],
            schema_url: names::SCHEMA.into(),
        });
    ExportLogsServiceRequest { resource_logs: resource_logs.collect() }
}

/// The records of lines.
pub(crate) fn of_lines(lines: &[Line]) -> Vec<(InstanceId, LogRecord)> {
    let mut place = 0;
    let mut records = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let together =
            at > 0 && lines[at - 1].instance == line.instance && lines[at - 1].tick == line.tick;
        place = if together { place + 1 } else { 0 };
        let time = nanos(line.tick, f64::from(place) * LINE_S);
        records.push((line.instance, of_line(line, time)));
    }
    records
}

fn of_line(line: &Line, time: u64) -> LogRecord {
    let mut record = record(time, line.severity, line.message.clone());
    record.attributes = vec![text(names::REPLICA, &*line.replica)];
    if line.trace != 0 {
        record.trace_id = line.trace.to_be_bytes().to_vec();
        record.flags = SAMPLED;
    }
    record
}

/// The record of a call that failed. The callee's is an error; its caller may still make up for it.
pub(crate) fn of_call(scene: &Scene, call: &Call) -> (InstanceId, LogRecord) {
    let (severity, event) = match call.kind {
        SpanKind::Server => (Severity::Error, names::SERVER_EXCEPTION),
        SpanKind::Client => (Severity::Warn, names::CLIENT_EXCEPTION),
        SpanKind::Producer => (Severity::Warn, names::SEND_EXCEPTION),
        SpanKind::Consumer => (Severity::Error, names::PROCESS_EXCEPTION),
    };
    let code = call.code.name();
    let mut sentence = format!("{} ended with {code}", call.name(scene));
    if !call.message.is_empty() {
        sentence = format!("{sentence}: {}", call.message);
    }
    let mut record = record(call.end, severity, sentence);
    record.event_name = event.into();
    record.attributes =
        vec![text(names::EXCEPTION_TYPE, code), text(names::EXCEPTION_MESSAGE, &*call.message)];
    record.attributes.extend(spans::operation(scene, call));
    record.trace_id = call.trace.to_be_bytes().to_vec();
    record.span_id = call.id.to_be_bytes().to_vec();
    record.flags = SAMPLED;
    (call.instance, record)
}

fn record(time: u64, severity: Severity, sentence: String) -> LogRecord {
    let (number, word) = match severity {
        Severity::Info => (SeverityNumber::Info, "INFO"),
        Severity::Warn => (SeverityNumber::Warn, "WARN"),
        Severity::Error => (SeverityNumber::Error, "ERROR"),
    };
    LogRecord {
        time_unix_nano: time,
        observed_time_unix_nano: time,
        severity_number: number.into(),
        severity_text: word.into(),
        body: Some(value(sentence)),
        ..LogRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::{posted, reply, request};
    use crate::scene::tests::topology;
    use model::{EpisodeId, Tick};

    #[test]
    fn a_failed_call_is_an_error_with_its_trace_and_span() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let calls = Call::of(&scene, &request(), &reply());
        let (of, root) = of_call(&scene, &calls[0]);
        assert_eq!(of, InstanceId(2));
        assert_eq!(root.event_name, "rpc.server.call.exception");
        assert_eq!(root.severity_number, 17);
        assert_eq!(root.trace_id, 0xabcu128.to_be_bytes());
        assert_eq!(root.span_id, 1u64.to_be_bytes());
        assert_eq!(root.time_unix_nano, calls[0].end);
        let (_, client) = of_call(&scene, &calls[3]);
        assert_eq!(client.event_name, "rpc.client.call.exception");
        assert_eq!(client.severity_number, 13);
        let posted = Call::of(&scene, &request(), &posted());
        let (of, handler) = of_call(&scene, &posted[3]);
        assert_eq!(
            (of, handler.event_name.as_str()),
            (InstanceId(3), "messaging.process.exception")
        );
        assert_eq!(handler.severity_number, 17);
        assert_eq!(handler.body, Some(value("process login ended with INTERNAL")));
    }

    #[test]
    fn lines_of_a_tick_keep_their_order() {
        let line = |instance, tick| Line {
            instance: InstanceId(instance),
            tick: Tick(tick),
            severity: Severity::Info,
            replica: "r".into(),
            message: "m".into(),
            trace: 0,
        };
        let lines = [line(1, 3), line(1, 3), line(1, 4), line(2, 4)];
        let times: Vec<_> = of_lines(&lines).into_iter().map(|(_, r)| r.time_unix_nano).collect();
        let expected =
            [nanos(Tick(3), 0.0), nanos(Tick(3), 0.001), nanos(Tick(4), 0.0), nanos(Tick(4), 0.0)];
        assert_eq!(times, expected);
    }
}
