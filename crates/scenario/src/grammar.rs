//! The shape of files, as data: what may stand where. One walk checks a tree against it and
//! converts units; another renders it as a JSON Schema ([`crate::schema`]).

use crate::raw::{At, Flaw, Key, Node, Value};
use action::near::suggestion;
use model::{ParamKind, ParamSpec, ParamValue};

/// What may stand at one place.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A scalar of a parameter's kind; converted into its unit.
    Scalar(ParamKind),
    /// A text of any length that is not empty.
    Prose,
    /// A rate per second: `300/s`, `18000/m`, or a number.
    Rate,
    /// A duration, or two joined by `..`.
    Span,
    /// A number with or without a unit; the signal that it is compared with decides.
    Level,
    /// This word, or something else.
    Or(&'static str, &'static Shape),
    /// Any word, or something else.
    NameOr(&'static Shape),
    /// A list.
    List(&'static Shape),
    /// Names of the author's choice, each with a value.
    Map(&'static Shape),
    /// These fields.
    Record(&'static [Field]),
    /// These fields and others, which what they describe decides about.
    Open(&'static [Field]),
    /// Parameters, all of them optional here.
    Params(&'static [ParamSpec]),
    /// A map that is checked where it is known what it is for.
    Free(Free),
}

/// What a map holds whose fields another list declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// Parameters of the kind of hosts.
    Host,
    /// Parameters of a fault or arguments of an operation.
    With,
    /// An action of the catalogue.
    Action,
    /// Fields of a part of a topology.
    Override,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// It must be there.
    pub required: bool,
    /// One sentence.
    pub doc: &'static str,
}

impl Field {
    /// A field that must be there.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Field {
        Field { name, shape, required: true, doc }
    }

    /// A field that may be left out.
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Field {
        Field { name, shape, required: false, doc }
    }
}

/// Checks a tree and converts its scalars.
///
/// # Errors
/// The first place that does not fit, and what is allowed there.
pub fn check(node: &mut Node, shape: &Shape) -> Result<(), Flaw> {
    match shape {
        Shape::Scalar(kind) => convert(node, kind),
        Shape::Prose if !node.word().trim().is_empty() => Ok(()),
        Shape::Prose => Err(unexpected(node, "a text")),
        Shape::Rate => {
            convert_with(node, "a rate up to 1e7/s, such as 300/s, 18000/m or 300", rate)
        }
        Shape::Span => check_span(node),
        Shape::Level => match node.scalar() {
            Some(ParamValue::Number(_) | ParamValue::Text(_)) => Ok(()),
            _ => Err(unexpected(node, "a number with or without a unit")),
        },
        Shape::Or(word, _) if node.word() == *word => Ok(()),
        Shape::Or(word, other) => match node.scalar() {
            Some(_) if !matches!(other, Shape::Scalar(_)) => {
                Err(unexpected(node, &format!("`{word}` or {}", other.describe())))
            }
            _ => check(node, other),
        },
        Shape::NameOr(_) if !node.word().is_empty() => Ok(()),
        Shape::NameOr(other) => check(node, other),
        Shape::List(item) => match &mut node.value {
            Value::List(items) => items.iter_mut().try_for_each(|node| check(node, item)),
            _ => Err(unexpected(node, "a list")),
        },
        Shape::Map(each) => match &mut node.value {
            Value::Map(fields) => fields.iter_mut().try_for_each(|(key, node)| {
                let at = node.at;
                check(node, each).map_err(|flaw| prefix(flaw, at, &key.name))
            }),
            _ => Err(unexpected(node, "a map")),
        },
        Shape::Record(fields) => check_record(node, fields, false),
        Shape::Open(fields) => check_record(node, fields, true),
        Shape::Params(specs) => check_params(node, specs),
        Shape::Free(_) => match node.value {
            Value::Map(_) => Ok(()),
            _ => Err(unexpected(node, "a map")),
        },
    }
}

impl Shape {
    /// What may stand there, for errors.
    pub fn describe(&self) -> String {
        match self {
            Shape::Scalar(kind) => kind.describe(),
            Shape::Prose => "a text".into(),
            Shape::Rate => "a rate such as 300/s".into(),
            Shape::Span => "a duration such as 30s, or two such as 30s..60s".into(),
            Shape::Level => "a number with or without a unit".into(),
            Shape::Or(word, other) => format!("`{word}` or {}", other.describe()),
            Shape::NameOr(other) => format!("a name or {}", other.describe()),
            Shape::List(_) => "a list".into(),
            Shape::Map(_)
            | Shape::Record(_)
            | Shape::Open(_)
            | Shape::Params(_)
            | Shape::Free(_) => "a map".into(),
        }
    }
}

fn check_record(node: &mut Node, fields: &[Field], open: bool) -> Result<(), Flaw> {
    let at = node.at;
    let Value::Map(entries) = &mut node.value else {
        return Err(unexpected(node, "a map"));
    };
    for (key, value) in entries.iter_mut() {
        match fields.iter().find(|field| field.name == key.name) {
            Some(field) => {
                check(value, &field.shape).map_err(|flaw| prefix(flaw, value.at, &key.name))?;
            }
            None if open => {}
            None => return Err(unknown_key(key, fields.iter().map(|field| field.name))),
        }
    }
    let missing =
        fields.iter().find(|f| f.required && entries.iter().all(|(key, _)| key.name != f.name));
    match missing {
        Some(field) => Err(missing_field(at, field.name, &field.shape.describe())),
        None => Ok(()),
    }
}

fn check_params(node: &mut Node, specs: &[ParamSpec]) -> Result<(), Flaw> {
    let Value::Map(entries) = &mut node.value else {
        return Err(unexpected(node, "a map"));
    };
    for (key, value) in entries.iter_mut() {
        let Some(spec) = specs.iter().find(|spec| spec.name == key.name) else {
            return Err(unknown_key(key, specs.iter().map(|spec| spec.name)));
        };
        convert(value, &spec.kind).map_err(|flaw| prefix(flaw, value.at, &key.name))?;
    }
    Ok(())
}

/// An unknown key, with what is allowed.
pub fn unknown_key<'a>(key: &Key, known: impl Iterator<Item = &'a str>) -> Flaw {
    let known: Vec<_> = known.collect();
    if known.is_empty() {
        return Flaw::new(key.at, format!("unknown key `{}`; none is accepted here", key.name));
    }
    Flaw::new(key.at, suggestion("key", &key.name, &known))
}

/// A field that is not there.
pub fn missing_field(at: At, name: &str, expected: &str) -> Flaw {
    Flaw::new(at, format!("`{name}` is missing; expected {expected}"))
}

/// Converts a scalar into the unit of `kind`.
///
/// # Errors
/// A sentence with what is accepted.
pub fn convert(node: &mut Node, kind: &ParamKind) -> Result<(), Flaw> {
    let Some(scalar) = node.scalar() else {
        return Err(unexpected(node, &kind.describe()));
    };
    // Read as 99.9e-2, since neither 99.9 / 100 nor 99.9 * 0.01 is the number 0.999.
    let percent = match (kind, scalar) {
        (ParamKind::Ratio, ParamValue::Text(text)) => {
            text.strip_suffix('%').and_then(|n| format!("{}e-2", n.trim()).parse::<f64>().ok())
        }
        _ => None,
    };
    let scalar = percent.map_or_else(|| scalar.clone(), ParamValue::Number);
    match kind.convert(&scalar) {
        Ok(value) => {
            node.value = Value::Scalar(value);
            Ok(())
        }
        Err(_) => Err(unexpected(node, &kind.describe())),
    }
}

fn convert_with(
    node: &mut Node,
    expected: &str,
    read: fn(&ParamValue) -> Option<f64>,
) -> Result<(), Flaw> {
    match node.scalar().and_then(read).filter(|n| n.is_finite() && *n >= 0.0) {
        Some(number) => {
            node.value = Value::Scalar(ParamValue::Number(number));
            Ok(())
        }
        None => Err(unexpected(node, expected)),
    }
}

fn rate(scalar: &ParamValue) -> Option<f64> {
    // Beyond this a figure is a slip of the finger, and sums lose their digits.
    let sane = |rate: f64| (rate.abs() <= 1e7).then_some(rate);
    match scalar {
        ParamValue::Number(number) => sane(*number),
        ParamValue::Text(text) => {
            let (number, unit) = text.split_once('/')?;
            let seconds = match unit.trim() {
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
            sane(number.trim().parse::<f64>().ok()? / seconds)
        }
        ParamValue::Flag(_) => None,
    }
}

fn check_span(node: &mut Node) -> Result<(), Flaw> {
    let expected = Shape::Span.describe();
    span(node).map(|_| ()).ok_or_else(|| unexpected(node, &expected))
}

/// The two ends of a span, seconds.
pub fn span(node: &Node) -> Option<(f64, f64)> {
    let kind = ParamKind::Duration { min: 1.0, max: 86_400.0 };
    let seconds = |value: &ParamValue| match kind.convert(value) {
        Ok(ParamValue::Number(seconds)) => Some(seconds),
        _ => None,
    };
    let scalar = node.scalar()?;
    let (low, high) = match scalar {
        ParamValue::Text(text) => text.split_once("..").unwrap_or((text, text)),
        _ => return seconds(scalar).map(|s| (s, s)),
    };
    let (low, high) = (seconds(&low.trim().into())?, seconds(&high.trim().into())?);
    (low <= high).then_some((low, high))
}

fn unexpected(node: &Node, expected: &str) -> Flaw {
    Flaw::new(node.at, format!("is {}; expected {expected}", node.describe()))
}

/// Names the field in a flaw of the value itself.
fn prefix(flaw: Flaw, at: At, name: &str) -> Flaw {
    if flaw.at == at && flaw.message.starts_with("is ") {
        return Flaw::new(flaw.at, format!("`{name}` {}", flaw.message));
    }
    flaw
}
