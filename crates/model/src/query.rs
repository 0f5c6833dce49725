//! What monitoring may ask a component, and what it answers. Answers about tick t are the same
//! whenever they are asked, and asking changes nothing.

use crate::host::HostView;
use crate::time::Tick;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A question to one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// Series of signals over [from, to), one point per `every` seconds.
    Metrics {
        /// Names of signals; empty: all of the kind.
        signals: Vec<String>,
        /// First tick.
        from: Tick,
        /// Tick after the last.
        to: Tick,
        /// Seconds between points, ≥ 1.
        every: u32,
    },
    /// Log lines in [from, to), newest last.
    Logs {
        /// First tick.
        from: Tick,
        /// Tick after the last.
        to: Tick,
        /// Only lines at least this severe.
        severity: Severity,
        /// Only lines that contain this text; empty: all.
        contains: String,
        /// Most lines, newest kept.
        limit: u32,
    },
    /// Present status of the component and its replica groups.
    Status,
    /// Changes in [from, to): deploys, configuration, restarts, policies.
    Changes {
        /// First tick.
        from: Tick,
        /// Tick after the last.
        to: Tick,
    },
    /// Present configuration.
    Config,
    /// Hosts only: what somebody sees who is logged in.
    Host,
}

/// Severity of a log line, in OpenTelemetry's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Everything.
    #[default]
    Info,
    /// Something odd.
    Warn,
    /// Something failed.
    Error,
}

/// One log line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// When.
    pub tick: Tick,
    /// How bad.
    pub severity: Severity,
    /// The replica group it came from.
    pub replica: String,
    /// The text.
    pub message: String,
    /// Trace id of the request it belongs to, 0 for none.
    pub trace: u64,
}

/// An answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Points per signal; `None` where the telemetry is missing.
    Metrics {
        /// First tick of the series.
        from: Tick,
        /// Seconds between points.
        every: u32,
        /// Name to points.
        series: BTreeMap<String, Vec<Option<f64>>>,
        /// Name to unit.
        units: BTreeMap<String, String>,
    },
    /// Lines, newest last.
    Logs(Vec<LogLine>),
    /// Name to value: status, changes (key is the tick and name) and configuration.
    Facts(BTreeMap<String, String>),
    /// One entry per change, oldest first.
    Changes(Vec<(Tick, String)>),
    /// A host, as seen from a terminal.
    Host(Box<HostView>),
}
