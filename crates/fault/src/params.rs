//! Parameters that several faults share.

use model::{ParamKind, ParamSpec};

/// Only requests of one class.
pub(crate) const CLASS: ParamSpec =
    ParamSpec::text("class", ParamKind::Class, "", "Only this class or route; empty: all.");
/// Only one replica group.
pub(crate) const GROUP: ParamSpec =
    ParamSpec::text("group", ParamKind::Text, "", "Only this replica group; empty: all.");
/// A share of requests that fail.
pub(crate) const RATIO: ParamSpec =
    ParamSpec::required("ratio", ParamKind::Ratio, "The share that is hit.");
/// A name of a zone.
pub(crate) const RECORD: ParamSpec =
    ParamSpec::required("record", ParamKind::Text, "The name that is hit.");
/// How much slower work gets.
pub(crate) const FACTOR: ParamSpec = ParamSpec::required(
    "factor",
    ParamKind::Number { min: 1.0, max: 1000.0 },
    "Work takes this many times as long.",
);
/// A bad version's share of failing requests.
pub(crate) const VERSION_ERRORS: ParamSpec =
    ParamSpec::number("errors", ParamKind::Ratio, 0.0, "Share of its requests that fail.");
/// A bad version's slowness.
pub(crate) const VERSION_SLOW: ParamSpec = ParamSpec::number(
    "slow",
    ParamKind::Number { min: 1.0, max: 1000.0 },
    1.0,
    "Its work takes this many times as long.",
);
/// The label of a bad version.
pub(crate) const VERSION: ParamSpec =
    ParamSpec::required("version", ParamKind::Text, "The label of the new version.");
