//! Numbers of the change list's keys for server kinds. A key holds what changes only by an order,
//! lever, grant or breaker; what moves by itself is a column.

/// Keys per edge.
const EDGE_KEYS: u16 = 16;

/// Running replicas that take requests, per group.
pub const RUNNING: u16 = 1;
/// A replica goes out of rotation: its number × [`model::GROUPS_MAX`] + that of its group.
pub const REMOVED: u16 = 5;
/// A replica comes back into rotation, numbered likewise.
pub const RETURNED: u16 = 6;
/// Time-out of a health check, milliseconds; 0: there are none.
pub const PROBE_TIMEOUT: u16 = 7;
/// Factor on own work, per group.
pub const GROUP_SLOW: u16 = 8;
/// Share of the requests that it works on, per group.
pub const GROUP_SHARE: u16 = 12;
/// Own error share, per group.
pub const GROUP_ERROR: u16 = 16;
/// Replicas that fail their health checks, per group.
pub const UNHEALTHY: u16 = 20;
/// Own error share, per class.
pub const CLASS_ERROR: u16 = 24;
/// Factor on own work, per class.
pub const CLASS_SLOW: u16 = 32;
/// Share turned away before it takes a slot, per class.
pub const REFUSE: u16 = 40;
/// Seconds of lock wait, per class.
pub const LOCK: u16 = 48;
/// Slots of one replica.
pub const SLOTS: u16 = 56;
/// Replicas wanted, all groups.
pub const WANTED: u16 = 57;
/// Places of the queue, all replicas.
pub const PLACES: u16 = 58;
/// Notes that carry no level.
pub const NOTE: u16 = 59;
/// First of a kind's own keys, up to 99.
pub const OWN: u16 = 60;

/// Facts of one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKey {
    /// Time-out of an attempt, seconds.
    Timeout,
    /// Attempts after the first.
    Retries,
    /// Mean back-off, seconds.
    Backoff,
    /// Share of calls that the breaker lets through.
    Passed,
    /// Share of wanted retries that the budget grants.
    Granted,
    /// Share of attempts that get no connection.
    NoConnection,
    /// Added round trip, seconds.
    Delay,
    /// Share of requests lost.
    RequestLoss,
    /// Share of replies lost.
    ReplyLoss,
    /// Share aborted by the link.
    Abort,
    /// Share of calls that get no address for the callee's name.
    NameMissing,
    /// Share of calls that get an address where nobody answers.
    NameAstray,
}

/// The key of a fact of outgoing edge number `edge`.
pub fn edge(edge: usize, key: EdgeKey) -> u16 {
    100 + EDGE_KEYS * edge as u16 + key as u16
}
