//! What was written: a tree of values, each with its place. Read from YAML within a budget;
//! nothing is known here about scenarios.

use crate::error::ScenarioError;
use model::ParamValue;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, Options, Spanned};

/// Largest file, bytes.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// A place in one of the files that were read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Position in the list of files.
    pub file: u16,
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub column: u32,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub value: Value,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A flag, a number or a word.
    Scalar(ParamValue),
    /// A list.
    List(Vec<Node>),
    /// Names with values, in the order of the file; names are unique.
    Map(Vec<(Key, Node)>),
}

/// A name in a map and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it begins.
    pub at: At,
    /// The name.
    pub name: String,
}

/// Something wrong at a place, before the file's name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub at: At,
    /// One sentence with the allowed values.
    pub message: String,
}

impl Flaw {
    /// A flaw at a place.
    pub fn new(at: At, message: impl Into<String>) -> Flaw {
        Flaw { at, message: message.into() }
    }

    /// With the name of its file.
    pub fn named(self, files: &[String]) -> ScenarioError {
        ScenarioError {
            file: files.get(usize::from(self.at.file)).cloned().unwrap_or_default(),
            line: self.at.line,
            column: self.at.column,
            message: self.message,
        }
    }
}

/// Reads a YAML text whose position in the list of files is `file`.
///
/// # Errors
/// Where it is no YAML, too large, or has a name twice.
pub fn parse(text: &str, file: u16) -> Result<Node, Flaw> {
    if text.len() > FILE_BYTES_MAX {
        let message = format!("is larger than {FILE_BYTES_MAX} bytes");
        return Err(Flaw::new(At { file, line: 0, column: 0 }, message));
    }
    let spanned: Spanned<Written> =
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| flaw(&error, file))?;
    Ok(node(spanned, file))
}

fn options() -> Options {
    let budget = serde_saphyr::budget! {
        max_depth: 32,
        max_nodes: 50_000,
        max_aliases: 0,
        max_anchors: 0,
        max_documents: 1,
    };
    serde_saphyr::options! {
        budget: budget,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    }
}

fn flaw(error: &serde_saphyr::Error, file: u16) -> Flaw {
    let formatter = serde_saphyr::UserMessageFormatter;
    let at = error.location().map_or(At { file, line: 0, column: 0 }, |place| At {
        file,
        line: u32::try_from(place.line()).unwrap_or(u32::MAX),
        column: u32::try_from(place.column()).unwrap_or(u32::MAX),
    });
    let error = error.without_snippet();
    if matches!(error, serde_saphyr::Error::Budget { .. }) {
        let message = "is too large, too deep, or uses anchors or aliases, which are not allowed";
        return Flaw::new(at, message);
    }
    let message = serde_saphyr::MessageFormatter::format_message(&formatter, error);
    Flaw::new(at, message.replace(char::is_control, " "))
}

/// The tree as serde brings it.
enum Written {
    Null,
    Scalar(ParamValue),
    List(Vec<Spanned<Written>>),
    Map(Vec<(Spanned<String>, Spanned<Written>)>),
}

fn node(spanned: Spanned<Written>, file: u16) -> Node {
    let at = place(&spanned, file);
    let value = match spanned.value {
        Written::Null => Value::Null,
        Written::Scalar(scalar) => Value::Scalar(scalar),
        Written::List(items) => {
            Value::List(items.into_iter().map(|item| node(item, file)).collect())
        }
        Written::Map(fields) => {
            let field = |(key, value): (Spanned<String>, Spanned<Written>)| {
                (Key { at: place(&key, file), name: key.value }, node(value, file))
            };
            Value::Map(fields.into_iter().map(field).collect())
        }
    };
    Node { at, value }
}

fn place<T>(spanned: &Spanned<T>, file: u16) -> At {
    At {
        file,
        line: u32::try_from(spanned.referenced.line()).unwrap_or(u32::MAX),
        column: u32::try_from(spanned.referenced.column()).unwrap_or(u32::MAX),
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        Ok(Written::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Written, E> {
        Ok(Written::Scalar(ParamValue::Flag(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Written, E> {
        Ok(Written::Scalar(ParamValue::Number(number as f64)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Written, E> {
        Ok(Written::Scalar(ParamValue::Number(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Written, E> {
        Ok(Written::Scalar(ParamValue::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Scalar(ParamValue::Text(text.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Written::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Written, A::Error> {
        let mut map = Vec::new();
        while let Some(field) = fields.next_entry()? {
            map.push(field);
        }
        Ok(Written::Map(map))
    }
}

impl Node {
    /// What it is, for errors.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Scalar(ParamValue::Flag(flag)) => flag.to_string(),
            Value::Scalar(ParamValue::Number(number)) => number.to_string(),
            Value::Scalar(ParamValue::Text(text)) => format!("{text:?}"),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a map".into(),
        }
    }

    /// The value called `name`; `None` for what is no map.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.fields().iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// The fields of a map; empty for anything else.
    pub fn fields(&self) -> &[(Key, Node)] {
        match &self.value {
            Value::Map(fields) => fields,
            _ => &[],
        }
    }

    /// The items of a list; empty for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The scalar.
    pub fn scalar(&self) -> Option<&ParamValue> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The word; "" for anything else.
    pub fn word(&self) -> &str {
        match &self.value {
            Value::Scalar(ParamValue::Text(text)) => text,
            _ => "",
        }
    }

    /// The word called `name`, or "".
    pub fn text(&self, name: &str) -> &str {
        self.get(name).map_or("", Node::word)
    }

    /// The number called `name`, or `default`.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        match self.get(name).map(|node| &node.value) {
            Some(Value::Scalar(ParamValue::Number(number))) => *number,
            _ => default,
        }
    }

    /// The flag called `name`, or `default`.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        match self.get(name).map(|node| &node.value) {
            Some(Value::Scalar(ParamValue::Flag(flag))) => *flag,
            _ => default,
        }
    }

    /// The place of the value called `name`, or of the whole.
    pub fn at(&self, name: &str) -> At {
        self.get(name).map_or(self.at, |node| node.at)
    }

    /// The items of the list called `name`.
    pub fn list(&self, name: &str) -> &[Node] {
        self.get(name).map_or(&[], Node::items)
    }

    /// The fields of the map called `name`.
    pub fn map(&self, name: &str) -> &[(Key, Node)] {
        self.get(name).map_or(&[], Node::fields)
    }
}
