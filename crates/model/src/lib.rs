//! The vocabulary of the world: ids, virtual time, noise, digests, specifications, and what
//! components exchange. Pure data and functions of their arguments; every other crate builds on it.

pub mod decimals;
pub mod digest;
pub mod edge;
pub mod exchange;
pub mod hop;
pub mod host;
pub mod ids;
pub mod inspection;
pub mod naming;
pub mod noise;
pub mod order;
pub mod params;
pub mod plain;
pub mod query;
pub mod rig;
pub mod spec;
pub mod time;

pub use decimals::{decimals, signed};
pub use digest::{Digest, Digester};
pub use edge::{BreakerPolicy, EdgeFault, EdgePolicy, PoolPolicy, Verdict};
pub use exchange::{
    CLASSES_MAX, COLUMNS_MAX, Calls, GROUPS_MAX, Grant, Inbox, Motion, Need, Outbox, PerClass,
    Report,
};
pub use hop::{Call, Code, Hop, HopReply, Next, PROCESS, PUBLISH, Span, SpanKind};
pub use host::{
    DiskView, Face, FileContent, FileView, HostView, ProcessState, ProcessView, SocketView,
    UnitState, UnitView,
};
pub use ids::{ClassId, EdgeId, EpisodeId, InstanceId};
pub use inspection::Inspection;
pub use naming::{NAMES_MAX, NameSpec, Resolution, address};
pub use noise::Noise;
pub use order::{LeverPull, Order, Refusal};
pub use params::{ParamDefault, ParamError, ParamKind, ParamSpec, ParamValue, Params};
pub use query::{Answer, LogLine, Query, Severity};
pub use rig::{Located, Look, Member, MemberGroup, Sight, Site, WebReply};
pub use spec::{ClassSpec, EdgeSpec, GroupSpec, InstanceSpec, Setup, Tenant, Topology};
pub use time::{MINUTE, Tick};
