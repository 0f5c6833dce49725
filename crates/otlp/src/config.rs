//! Where telemetry goes: the standard variables `OTEL_…`, as far as an exporter of OTLP has them,
//! and an endpoint from the command line, which wins. A value that does not fit is an error that
//! names the variable and what it may be; nothing is guessed.

use crate::payload::Signal;
use crate::scribe::{Style, Temporality};
use http::{HeaderName, HeaderValue, Uri};
use std::collections::BTreeMap;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Requests that may wait per signal.
const QUEUE: usize = 1024;
/// Simulated seconds between points.
const EVERY_S: u32 = 10;
/// The port that collectors keep for gRPC.
const GRPC_PORT: u16 = 4317;

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value:?}: expected {expected}")]
pub struct ConfigError {
    /// The variable or option.
    pub name: String,
    /// What it was.
    pub value: String,
    /// What it may be.
    pub expected: String,
}

/// Variables by name: of the process, or of a test.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Of these variables; empty ones count as unset, as the specification has it.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Environment {
        let set = variables.into_iter().filter(|(_, value)| !value.trim().is_empty());
        Environment(set.collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim())
    }

    /// `OTEL_EXPORTER_OTLP_{SIGNAL}_{what}`, else `OTEL_EXPORTER_OTLP_{what}`: name and value.
    fn of(&self, signal: Signal, what: &str) -> Option<(String, &str)> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_{what}", signal.name().to_uppercase());
        let common = format!("OTEL_EXPORTER_OTLP_{what}");
        let named = |name: String| self.get(&name).map(|value| (name, value));
        named(own).or_else(|| named(common))
    }

    /// Whether the process's environment asks for nothing at all.
    ///
    /// # Errors
    /// Where `OTEL_SDK_DISABLED` is no boolean.
    pub fn disabled(&self) -> Result<bool, ConfigError> {
        let name = "OTEL_SDK_DISABLED";
        match self.get(name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(value) => Err(wrong(name, value, "true or false")),
        }
    }

    /// Whether a signal is exported by OTLP, as far as `OTEL_{SIGNAL}_EXPORTER` says.
    ///
    /// # Errors
    /// Where it names an exporter that this program does not have.
    pub fn exports(&self, signal: Signal) -> Result<bool, ConfigError> {
        let name = format!("OTEL_{}_EXPORTER", signal.name().to_uppercase());
        match self.get(&name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("otlp") => Ok(true),
            Some("none") => Ok(false),
            Some(value) => Err(wrong(&name, value, "otlp or none")),
        }
    }

    /// Whether an endpoint is set, for all signals or for one.
    pub fn endpoint(&self) -> bool {
        Signal::ALL.iter().any(|signal| self.of(*signal, "ENDPOINT").is_some())
    }
}

/// How requests are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP with binary messages.
    HttpProtobuf,
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Protocol::Grpc => "grpc",
            Protocol::HttpProtobuf => "http/protobuf",
        })
    }
}

/// Where one signal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The whole address.
    pub uri: Uri,
    /// How.
    pub protocol: Protocol,
    /// Headers, or metadata, of every request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// A request that takes longer has failed.
    pub timeout: Duration,
    /// Requests are compressed by gzip.
    pub gzip: bool,
}

/// Where everything goes, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Targets of the signals that are exported.
    pub targets: BTreeMap<Signal, Target>,
    /// Requests that may wait per signal.
    pub queue: usize,
    /// Simulated seconds between points of metrics; spans and records go with them.
    pub every_s: u32,
    /// How it is written.
    pub style: Style,
}

impl Config {
    /// What `endpoint` and the environment ask for; `None`: nothing.
    ///
    /// # Errors
    /// Names the variable that does not fit.
    pub fn new(
        endpoint: Option<&str>,
        environment: &Environment,
    ) -> Result<Option<Config>, ConfigError> {
        // Who names an endpoint on the command line means it.
        if endpoint.is_none() && (environment.disabled()? || !environment.endpoint()) {
            return Ok(None);
        }
        let mut targets = BTreeMap::new();
        for signal in Signal::ALL {
            if environment.exports(signal)? {
                targets.extend(target(signal, endpoint, environment)?.map(|to| (signal, to)));
            }
        }
        let config = Config {
            targets,
            queue: QUEUE,
            every_s: every(environment)?,
            style: Style {
                temporality: temporality(environment)?,
                span_events: span_events(environment)?,
            },
        };
        Ok((!config.targets.is_empty()).then_some(config))
    }
}

fn wrong(name: &str, value: &str, expected: &str) -> ConfigError {
    ConfigError { name: name.into(), value: value.into(), expected: expected.into() }
}

fn target(
    signal: Signal,
    endpoint: Option<&str>,
    environment: &Environment,
) -> Result<Option<Target>, ConfigError> {
    let (name, address, own) = match (endpoint, environment.of(signal, "ENDPOINT")) {
        (Some(address), _) => ("--otlp".to_string(), address, false),
        (None, Some((name, address))) => {
            let own = name != "OTEL_EXPORTER_OTLP_ENDPOINT";
            (name, address, own)
        }
        (None, None) => return Ok(None),
    };
    let base = base(&name, address)?;
    let protocol = protocol(signal, &base, environment)?;
    let uri = match protocol {
        Protocol::Grpc => base,
        // A variable of one signal is the whole address.
        Protocol::HttpProtobuf if own => base,
        Protocol::HttpProtobuf => {
            let whole = format!("{}/v1/{}", base.to_string().trim_end_matches('/'), signal.name());
            whole.parse().map_err(|_| wrong(&name, address, ADDRESS))?
        }
    };
    Ok(Some(Target {
        uri,
        protocol,
        headers: headers(signal, environment)?,
        timeout: timeout(signal, environment)?,
        gzip: gzip(signal, environment)?,
    }))
}

const ADDRESS: &str = "http://HOST:PORT; this program has no TLS: for https let a collector near \
                       it pass telemetry on";

fn base(name: &str, address: &str) -> Result<Uri, ConfigError> {
    let whole = if address.contains("://") { address.into() } else { format!("http://{address}") };
    let uri: Uri = whole.parse().map_err(|_| wrong(name, address, ADDRESS))?;
    match (uri.scheme_str(), uri.host(), uri.query()) {
        (Some("http"), Some(host), None) if !host.is_empty() => Ok(uri),
        _ => Err(wrong(name, address, ADDRESS)),
    }
}

fn protocol(
    signal: Signal,
    base: &Uri,
    environment: &Environment,
) -> Result<Protocol, ConfigError> {
    let Some((name, value)) = environment.of(signal, "PROTOCOL") else {
        let grpc = base.port_u16() == Some(GRPC_PORT);
        return Ok(if grpc { Protocol::Grpc } else { Protocol::HttpProtobuf });
    };
    match value.to_ascii_lowercase().as_str() {
        "grpc" => Ok(Protocol::Grpc),
        "http/protobuf" => Ok(Protocol::HttpProtobuf),
        _ => Err(wrong(&name, value, "grpc or http/protobuf")),
    }
}

/// `key=value,key=value`, values in percent encoding, as in W3C baggage.
fn headers(
    signal: Signal,
    environment: &Environment,
) -> Result<Vec<(HeaderName, HeaderValue)>, ConfigError> {
    let Some((name, list)) = environment.of(signal, "HEADERS") else { return Ok(Vec::new()) };
    let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let header = |pair: &str| {
        let (key, value) = pair.split_once('=')?;
        let key = HeaderName::from_bytes(key.trim().as_bytes()).ok()?;
        // A binary header of gRPC is of another type.
        let text = !key.as_str().ends_with("-bin");
        let value = HeaderValue::from_bytes(&decoded(value.trim())?).ok()?;
        text.then_some((key, value))
    };
    // The value may be a secret: it is not repeated.
    let unfit = || wrong(&name, "…", "key=value pairs separated by commas, values URL-encoded");
    pairs.map(|pair| header(pair).ok_or_else(unfit)).collect()
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Some(out)
}

fn timeout(signal: Signal, environment: &Environment) -> Result<Duration, ConfigError> {
    let Some((name, value)) = environment.of(signal, "TIMEOUT") else { return Ok(TIMEOUT) };
    match value.parse() {
        Ok(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => Err(wrong(&name, value, "milliseconds, 1 or more")),
    }
}

fn gzip(signal: Signal, environment: &Environment) -> Result<bool, ConfigError> {
    let Some((name, value)) = environment.of(signal, "COMPRESSION") else { return Ok(false) };
    match value.to_ascii_lowercase().as_str() {
        "gzip" => Ok(true),
        "none" => Ok(false),
        _ => Err(wrong(&name, value, "gzip or none")),
    }
}

fn every(environment: &Environment) -> Result<u32, ConfigError> {
    let name = "OTEL_METRIC_EXPORT_INTERVAL";
    let Some(value) = environment.get(name) else { return Ok(EVERY_S) };
    match value.parse::<u32>() {
        Ok(millis) if millis > 0 => Ok((millis / 1000).max(1)),
        _ => Err(wrong(name, value, "milliseconds of simulated time, 1 or more")),
    }
}

fn temporality(environment: &Environment) -> Result<Temporality, ConfigError> {
    let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    match environment.get(name).map(str::to_ascii_lowercase).as_deref() {
        None | Some("cumulative") => Ok(Temporality::Cumulative),
        // All counts here are histograms, for which both words mean the same.
        Some("delta" | "lowmemory") => Ok(Temporality::Delta),
        Some(value) => Err(wrong(name, value, "cumulative, delta or lowmemory")),
    }
}

fn span_events(environment: &Environment) -> Result<bool, ConfigError> {
    let name = "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN";
    match environment.get(name).map(str::to_ascii_lowercase).as_deref() {
        None | Some("logs") => Ok(false),
        Some("logs/dup") => Ok(true),
        Some(value) => Err(wrong(name, value, "logs or logs/dup")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(text: &str) -> Environment {
        let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
        Environment::new(pairs.map(|(name, value)| (name.to_string(), value.to_string())))
    }

    fn config(endpoint: Option<&str>, text: &str) -> Result<Option<Config>, ConfigError> {
        Config::new(endpoint, &environment(text))
    }

    /// Where traces go, as `protocol uri`.
    fn traces(endpoint: Option<&str>, text: &str) -> String {
        let config = config(endpoint, text).unwrap().unwrap();
        let to = &config.targets[&Signal::Traces];
        format!("{:?} {}", to.protocol, to.uri)
    }

    #[test]
    fn nothing_is_exported_until_an_endpoint_is_known() {
        let host = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318";
        for (text, expected) in [
            ("", false),
            ("OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false),
            ("OTEL_EXPORTER_OTLP_ENDPOINT=", false),
            (host, true),
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=http://h:4318/v1/logs", true),
            (&format!("{host} OTEL_SDK_DISABLED=true"), false),
            (
                &format!(
                    "{host} OTEL_TRACES_EXPORTER=none OTEL_LOGS_EXPORTER=none \
                     OTEL_METRICS_EXPORTER=none"
                ),
                false,
            ),
        ] {
            assert_eq!(config(None, text).unwrap().is_some(), expected, "{text}");
        }
        assert!(config(Some("h:4317"), "OTEL_SDK_DISABLED=true").unwrap().is_some());
    }

    #[test]
    fn the_address_follows_from_endpoint_protocol_and_signal() {
        let http = "HttpProtobuf http://h:4318/v1/traces";
        let env = |url: &str| format!("OTEL_EXPORTER_OTLP_ENDPOINT={url}");
        assert_eq!(traces(None, &env("http://h:4318")), http);
        assert_eq!(traces(None, &env("http://h:4318/")), http);
        assert_eq!(traces(None, &env("http://h/x")), "HttpProtobuf http://h/x/v1/traces");
        assert_eq!(traces(None, &env("http://h:4317")), "Grpc http://h:4317/");
        assert_eq!(traces(Some("h:4317"), &env("http://other:1")), "Grpc http://h:4317/");
        let own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h:9/in";
        assert_eq!(traces(None, own), "HttpProtobuf http://h:9/in");
        let grpc = format!("{own} OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc");
        assert!(traces(None, &grpc).starts_with("Grpc http://h:9"));
    }

    #[test]
    fn headers_are_decoded_and_limits_read() {
        let text = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318 \
                    OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b,x=1 \
                    OTEL_EXPORTER_OTLP_TIMEOUT=250 OTEL_EXPORTER_OTLP_COMPRESSION=gzip \
                    OTEL_METRIC_EXPORT_INTERVAL=30000 \
                    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta \
                    OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN=logs/dup";
        let config = config(None, text).unwrap().unwrap();
        let to = &config.targets[&Signal::Logs];
        assert_eq!(to.headers[0].1, "a b");
        assert_eq!((to.headers.len(), to.timeout, to.gzip), (2, Duration::from_millis(250), true));
        let style = Style { temporality: Temporality::Delta, span_events: true };
        assert_eq!((config.every_s, config.style), (30, style));
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would() {
        let host = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318";
        for (text, says) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT=https://h:4318", "has no TLS"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT=http://", "http://HOST:PORT"),
            (&format!("{host} OTEL_EXPORTER_OTLP_PROTOCOL=http/json"), "grpc or http/protobuf"),
            (&format!("{host} OTEL_EXPORTER_OTLP_COMPRESSION=br"), "gzip or none"),
            (&format!("{host} OTEL_EXPORTER_OTLP_TIMEOUT=0"), "milliseconds"),
            (&format!("{host} OTEL_EXPORTER_OTLP_HEADERS=secret"), "key=value pairs"),
            (&format!("{host} OTEL_TRACES_EXPORTER=zipkin"), "otlp or none"),
            (&format!("{host} OTEL_SDK_DISABLED=yes"), "true or false"),
            (&format!("{host} OTEL_METRIC_EXPORT_INTERVAL=x"), "simulated time"),
        ] {
            let error = config(None, text).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("OTEL_"), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
