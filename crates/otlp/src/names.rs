//! Every name that leaves this program in simulated telemetry: OpenTelemetry's semantic conventions
//! in the version of [`SCHEMA`], and a few of our own under `mayday.`. The only file to change when
//! the conventions move.

/// Schema of the names.
pub const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";
/// Name of the instrumentation scope.
pub const SCOPE: &str = "mayday.simulation";

// Resource.

/// Name of the component.
pub const SERVICE_NAME: &str = "service.name";
/// Name of the system that the component belongs to.
pub const SERVICE_NAMESPACE: &str = "service.namespace";
/// Id of the component in this episode.
pub const SERVICE_INSTANCE_ID: &str = "service.instance.id";
/// The host, where there is exactly one.
pub const HOST_NAME: &str = "host.name";
/// Environment: tells simulated telemetry from that of processes.
pub const ENVIRONMENT: &str = "deployment.environment.name";
/// Its value.
pub const SIMULATION: &str = "simulation";

// RPC.

/// The system of a call.
pub const RPC_SYSTEM: &str = "rpc.system.name";
/// Its value.
pub const GRPC: &str = "grpc";
/// `package.Service/Method`.
pub const RPC_METHOD: &str = "rpc.method";
/// Name of the status that a call ended with.
pub const RPC_STATUS: &str = "rpc.response.status_code";
/// Status of a call that failed.
pub const ERROR_TYPE: &str = "error.type";
/// Who is called.
pub const SERVER_ADDRESS: &str = "server.address";
/// Durations on the callee's side.
pub const SERVER_DURATION: &str = "rpc.server.call.duration";
/// Durations on the caller's side.
pub const CLIENT_DURATION: &str = "rpc.client.call.duration";
/// Bounds of all durations, seconds.
pub const DURATION_BOUNDS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

// Messaging.

/// The system that keeps messages.
pub const MESSAGING_SYSTEM: &str = "messaging.system";
/// Its value: none of those that the conventions know.
pub const MAYDAY: &str = "mayday";
/// What is done with a message, in the system's words.
pub const MESSAGING_OPERATION: &str = "messaging.operation.name";
/// What is done with it, in the conventions' words.
pub const MESSAGING_OPERATION_TYPE: &str = "messaging.operation.type";
/// Both, of who hands a message over.
pub const SEND: &str = "send";
/// Both, of who handles it.
pub const PROCESS: &str = "process";
/// Who keeps it.
pub const MESSAGING_DESTINATION: &str = "messaging.destination.name";
/// Which message.
pub const MESSAGING_MESSAGE_ID: &str = "messaging.message.id";
/// Durations of handing over.
pub const SEND_DURATION: &str = "messaging.client.operation.duration";
/// Durations of handling.
pub const PROCESS_DURATION: &str = "messaging.process.duration";

// Exceptions, as log records.

/// A call failed at its callee.
pub const SERVER_EXCEPTION: &str = "rpc.server.call.exception";
/// A call failed as its caller sees it.
pub const CLIENT_EXCEPTION: &str = "rpc.client.call.exception";
/// A message could not be handed over.
pub const SEND_EXCEPTION: &str = "messaging.send.exception";
/// A message could not be handled.
pub const PROCESS_EXCEPTION: &str = "messaging.process.exception";
/// The same as an event of a span: older, and deprecated.
pub const SPAN_EXCEPTION: &str = "exception";
/// Its type: the name of the status.
pub const EXCEPTION_TYPE: &str = "exception.type";
/// What it says.
pub const EXCEPTION_MESSAGE: &str = "exception.message";

// Ours.

/// The episode, on every resource.
pub const EPISODE: &str = "mayday.episode.id";
/// All hosts, where there are several.
pub const HOSTS: &str = "mayday.host.names";
/// What the user asked for, on the first span of a request.
pub const CLASS: &str = "mayday.request.class";
/// The replica that wrote a log line.
pub const REPLICA: &str = "mayday.replica.name";

/// Signals that the conventions have a name for; all others keep the name that agents know.
const SIGNALS: &[(&str, &str)] = &[
    ("cpu.utilization", "system.cpu.utilization"),
    ("disk.utilization", "system.filesystem.utilization"),
    ("memory.utilization", "system.memory.utilization"),
];

/// The name of a signal as a metric.
pub fn metric(signal: &str) -> &str {
    SIGNALS.iter().find(|(ours, _)| *ours == signal).map_or(signal, |(_, theirs)| theirs)
}

/// The full name of an operation of a kind: that of its service's protocol.
pub fn method(kind: &str, operation: &str) -> String {
    let mut service = kind.to_string();
    if let Some(first) = service.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("mayday.{kind}.v1.{service}/{operation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_table_and_the_protocols() {
        assert_eq!(metric("cpu.utilization"), "system.cpu.utilization");
        assert_eq!(metric("requests.rate"), "requests.rate");
        assert_eq!(method("payment", "Charge"), "mayday.payment.v1.Payment/Charge");
    }
}
