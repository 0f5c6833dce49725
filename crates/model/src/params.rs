//! Named, typed parameters. One mechanism for the parameters of kinds, levers and operations:
//! declared once as a list of [`ParamSpec`], checked in one place, rendered into schema and help.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A switch.
    Flag(bool),
    /// A number in the parameter's unit.
    Number(f64),
    /// A word.
    Text(String),
}

/// In text a plain scalar; in binary with its tag, since a binary form cannot be asked what it
/// holds.
#[derive(Serialize, Deserialize)]
enum Tagged {
    Flag(bool),
    Number(f64),
    Text(String),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Plain {
    Flag(bool),
    Number(f64),
    Text(String),
}

impl Serialize for ParamValue {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let plain = to.is_human_readable();
        match self.clone() {
            ParamValue::Flag(b) if plain => Plain::Flag(b).serialize(to),
            ParamValue::Number(n) if plain => Plain::Number(n).serialize(to),
            ParamValue::Text(t) if plain => Plain::Text(t).serialize(to),
            ParamValue::Flag(b) => Tagged::Flag(b).serialize(to),
            ParamValue::Number(n) => Tagged::Number(n).serialize(to),
            ParamValue::Text(t) => Tagged::Text(t).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            return Plain::deserialize(from).map(|plain| match plain {
                Plain::Flag(b) => ParamValue::Flag(b),
                Plain::Number(n) => ParamValue::Number(n),
                Plain::Text(t) => ParamValue::Text(t),
            });
        }
        Tagged::deserialize(from).map(|tagged| match tagged {
            Tagged::Flag(b) => ParamValue::Flag(b),
            Tagged::Number(n) => ParamValue::Number(n),
            Tagged::Text(t) => ParamValue::Text(t),
        })
    }
}

/// Longest value of a [`ParamKind::Content`], bytes.
pub const CONTENT_MAX: usize = 65_536;

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// true or false.
    Flag,
    /// Seconds; files may write `250ms`, `2s`, `5m`.
    Duration {
        /// Smallest, seconds.
        min: f64,
        /// Largest, seconds.
        max: f64,
    },
    /// Bytes; files may write `512MiB`.
    Bytes {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number.
    Count {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A share, 0..=1; files may write `30%`.
    Ratio,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any word up to 200 characters.
    Text,
    /// Any text up to [`CONTENT_MAX`] bytes, also none.
    Content,
    /// The name of a request class or route of the topology.
    Class,
    /// The name of an instance of the topology.
    Component,
}

/// Declares one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamSpec {
    /// Its name, snake case.
    pub name: &'static str,
    /// What it accepts.
    pub kind: ParamKind,
    /// Its value where none is given; `None`: it must be given.
    pub default: Option<ParamDefault>,
    /// One sentence.
    pub doc: &'static str,
}

/// A default that can stand in a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamDefault {
    /// A switch.
    Flag(bool),
    /// A number in the parameter's unit.
    Number(f64),
    /// A word; empty means "not given".
    Text(&'static str),
    /// No value: the parameter may be left out.
    Absent,
}

/// Values by name, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, ParamValue>);

/// What is wrong with a set of parameters; names the parameter and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter.
    pub name: String,
    /// One sentence with the way out.
    pub message: String,
}

impl std::fmt::Display for ParamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.name, self.message)
    }
}

impl std::error::Error for ParamError {}

impl ParamSpec {
    /// A parameter that must be given.
    pub const fn required(name: &'static str, kind: ParamKind, doc: &'static str) -> ParamSpec {
        ParamSpec { name, kind, default: None, doc }
    }

    /// A parameter that may be left out.
    pub const fn optional(name: &'static str, kind: ParamKind, doc: &'static str) -> ParamSpec {
        ParamSpec { name, kind, default: Some(ParamDefault::Absent), doc }
    }

    /// A numeric parameter with a default.
    pub const fn number(
        name: &'static str,
        kind: ParamKind,
        default: f64,
        doc: &'static str,
    ) -> ParamSpec {
        ParamSpec { name, kind, default: Some(ParamDefault::Number(default)), doc }
    }

    /// A switch with a default.
    pub const fn flag(name: &'static str, default: bool, doc: &'static str) -> ParamSpec {
        ParamSpec { name, kind: ParamKind::Flag, default: Some(ParamDefault::Flag(default)), doc }
    }

    /// A word with a default.
    pub const fn text(
        name: &'static str,
        kind: ParamKind,
        default: &'static str,
        doc: &'static str,
    ) -> ParamSpec {
        ParamSpec { name, kind, default: Some(ParamDefault::Text(default)), doc }
    }
}

impl ParamKind {
    /// What it accepts, for errors and help.
    pub fn describe(&self) -> String {
        match self {
            ParamKind::Flag => "true or false".into(),
            ParamKind::Duration { min, max } => {
                format!("a duration from {min}s to {max}s, such as 250ms, 2s or 5m")
            }
            ParamKind::Bytes { min, max } => {
                format!("a size from {min} to {max} bytes, such as 512MiB")
            }
            ParamKind::Number { min, max } => format!("a number from {min} to {max}"),
            ParamKind::Count { min, max } => format!("a whole number from {min} to {max}"),
            ParamKind::Ratio => "a share from 0 to 1, such as 0.3 or 30%".into(),
            ParamKind::Choice(words) => format!("one of {}", words.join(", ")),
            ParamKind::Text => "a text of 1 to 200 characters".into(),
            ParamKind::Content => format!("a text of at most {CONTENT_MAX} bytes"),
            ParamKind::Class => "the name of a request class or route of the topology".into(),
            ParamKind::Component => "the name of a component of the topology".into(),
        }
    }

    /// Brings a value as written into the parameter's unit.
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn convert(&self, value: &ParamValue) -> Result<ParamValue, String> {
        let refuse = || format!("is {}; expected {}", show(value), self.describe());
        let number = match value {
            ParamValue::Number(n) if n.is_finite() => Some(*n),
            ParamValue::Text(text) => self.parse_unit(text),
            _ => None,
        };
        let within = |low: f64, high: f64| match number {
            Some(n) if n >= low && n <= high => Ok(ParamValue::Number(n)),
            _ => Err(refuse()),
        };
        match self {
            ParamKind::Flag => match value {
                ParamValue::Flag(_) => Ok(value.clone()),
                _ => Err(refuse()),
            },
            ParamKind::Duration { min, max }
            | ParamKind::Bytes { min, max }
            | ParamKind::Number { min, max } => within(*min, *max),
            ParamKind::Count { min, max } => match number {
                Some(n) if n.fract() == 0.0 => within(f64::from(*min), f64::from(*max)),
                _ => Err(refuse()),
            },
            ParamKind::Ratio => within(0.0, 1.0),
            ParamKind::Choice(words) => match value {
                ParamValue::Text(text) if words.contains(&text.as_str()) => Ok(value.clone()),
                _ => Err(refuse()),
            },
            ParamKind::Content => match value {
                ParamValue::Text(text) if text.len() <= CONTENT_MAX => Ok(value.clone()),
                _ => Err(format!("expected {}", self.describe())),
            },
            ParamKind::Text | ParamKind::Class | ParamKind::Component => match value {
                ParamValue::Text(text) if !text.is_empty() && text.chars().count() <= 200 => {
                    Ok(value.clone())
                }
                _ => Err(refuse()),
            },
        }
    }

    fn parse_unit(&self, text: &str) -> Option<f64> {
        let units: &[(&str, f64)] = match self {
            ParamKind::Duration { .. } => {
                &[("ms", 0.001), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]
            }
            ParamKind::Bytes { .. } => &[
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("TiB", 1_099_511_627_776.0),
                ("B", 1.0),
            ],
            ParamKind::Ratio => &[("%", 0.01)],
            _ => &[],
        };
        let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
        let number: f64 = text[..text.len() - unit.len()].trim().parse().ok()?;
        number.is_finite().then_some(number * factor)
    }
}

fn show(value: &ParamValue) -> String {
    match value {
        ParamValue::Flag(b) => b.to_string(),
        // Plain digits, unless there were a page of them.
        ParamValue::Number(n) if *n != 0.0 && !(1e-9..1e15).contains(&n.abs()) => {
            format!("{n:e}")
        }
        ParamValue::Number(n) => n.to_string(),
        ParamValue::Text(t) => format!("{t:?}"),
    }
}

impl Params {
    /// Checks the values against `specs`, converts units and fills in defaults. What comes out
    /// passes again as it is.
    ///
    /// # Errors
    /// Names the first unknown, missing or ill-typed parameter and what is allowed.
    pub fn check(&self, specs: &[ParamSpec]) -> Result<Params, ParamError> {
        if let Some(name) = self.0.keys().find(|name| specs.iter().all(|s| s.name != **name)) {
            let known: Vec<_> = specs.iter().map(|s| s.name).collect();
            let message = if known.is_empty() {
                "unknown parameter; none is accepted here".to_string()
            } else {
                format!("unknown parameter; expected {}", known.join(", "))
            };
            return Err(ParamError { name: name.clone(), message });
        }
        let mut checked = BTreeMap::new();
        for spec in specs {
            let value = match (self.0.get(spec.name), spec.default) {
                // A default need not be of the kind: an empty name stands for all. Who writes it
                // out means the same, so what was checked once can be checked again.
                (Some(ParamValue::Text(t)), Some(ParamDefault::Text(d))) if t == d => {
                    ParamValue::Text(t.clone())
                }
                (Some(value), _) => spec
                    .kind
                    .convert(value)
                    .map_err(|message| ParamError { name: spec.name.into(), message })?,
                (None, Some(ParamDefault::Flag(b))) => ParamValue::Flag(b),
                (None, Some(ParamDefault::Number(n))) => ParamValue::Number(n),
                (None, Some(ParamDefault::Text(t))) => ParamValue::Text(t.into()),
                (None, Some(ParamDefault::Absent)) => continue,
                (None, None) => {
                    let message = format!("is missing; expected {}", spec.kind.describe());
                    return Err(ParamError { name: spec.name.into(), message });
                }
            };
            checked.insert(spec.name.to_string(), value);
        }
        Ok(Params(checked))
    }

    /// The number `name`, or 0 where it is absent (checked parameters never are).
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(ParamValue::Number(n)) => *n,
            _ => 0.0,
        }
    }

    /// The switch `name`, or false.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(ParamValue::Flag(true)))
    }

    /// The word `name`, or "".
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(ParamValue::Text(t)) => t,
            _ => "",
        }
    }

    /// Whether `name` is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// These parameters and one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<ParamValue>) -> Params {
        self.0.insert(name.into(), value.into());
        self
    }
}

impl From<f64> for ParamValue {
    fn from(value: f64) -> Self {
        ParamValue::Number(value)
    }
}

impl From<bool> for ParamValue {
    fn from(value: bool) -> Self {
        ParamValue::Flag(value)
    }
}

impl From<&str> for ParamValue {
    fn from(value: &str) -> Self {
        ParamValue::Text(value.into())
    }
}

impl From<String> for ParamValue {
    fn from(value: String) -> Self {
        ParamValue::Text(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[ParamSpec] = &[
        ParamSpec::required("timeout", ParamKind::Duration { min: 0.001, max: 60.0 }, "T."),
        ParamSpec::number("share", ParamKind::Ratio, 0.5, "Share."),
        ParamSpec::number("replicas", ParamKind::Count { min: 1, max: 64 }, 1.0, "Replicas."),
    ];

    fn check(pairs: &[(&str, ParamValue)]) -> Result<Params, String> {
        let params = Params(pairs.iter().map(|(k, v)| (k.to_string(), v.clone())).collect());
        params.check(SPECS).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_are_shown_on_a_line() {
        let shown = [1e308, -1e-300, 0.0, 0.25, 42.0].map(|n| show(&ParamValue::Number(n)));
        assert_eq!(shown, ["1e308", "-1e-300", "0", "0.25", "42"]);
    }

    #[test]
    fn units_are_converted_and_defaults_filled_in() {
        let params = check(&[("timeout", "250ms".into()), ("share", "30%".into())]).unwrap();
        assert!((params.number("timeout") - 0.25).abs() < 1e-12);
        assert!((params.number("share") - 0.3).abs() < 1e-12);
        assert_eq!(params.number("replicas"), 1.0);
    }

    #[test]
    fn what_was_checked_passes_again_defaults_included() {
        const LEVER: &[ParamSpec] = &[
            ParamSpec::required("ratio", ParamKind::Ratio, ""),
            ParamSpec::text("class", ParamKind::Class, "", "Empty: all."),
        ];
        let once = Params::default().with("ratio", "30%").check(LEVER).unwrap();
        assert_eq!(once.check(LEVER), Ok(once.clone()));
        let blank = Params::default().with("ratio", "").check(LEVER).unwrap_err();
        assert!(blank.to_string().contains("`ratio`"), "only a default may be empty: {blank}");
    }

    #[test]
    fn errors_name_the_parameter_and_what_is_allowed() {
        for (pairs, expected) in [
            (vec![("timout", 1.0.into())], "`timout`: unknown parameter; expected timeout"),
            (vec![], "`timeout`: is missing; expected a duration"),
            (vec![("timeout", "5x".into())], "`timeout`: is \"5x\"; expected a duration"),
            (vec![("timeout", 1.0.into()), ("share", 1.5.into())], "`share`: is 1.5"),
            (vec![("timeout", 1.0.into()), ("replicas", 1.5.into())], "whole number from 1 to 64"),
            (vec![("timeout", f64::NAN.into())], "`timeout`: is NaN"),
        ] {
            let error = check(&pairs).unwrap_err();
            assert!(error.contains(expected), "{error} should contain {expected}");
        }
    }
}
