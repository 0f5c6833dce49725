//! What is wrong with an input, item by item, in the words that OpenEnv's clients know.

use serde::Serialize;
use serde_json::{Value, json};

/// One step of the way to a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// A field.
    Field(String),
    /// A position.
    At(usize),
}

impl From<&str> for Place {
    fn from(name: &str) -> Place {
        Place::Field(name.into())
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// What sort of thing, e.g. `missing`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Where.
    pub loc: Vec<Place>,
    /// One sentence.
    pub msg: String,
    /// What was sent there.
    pub input: Value,
    /// Numbers of the sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ctx: Option<Value>,
}

impl Item {
    /// At `loc` something is wrong with `input`.
    pub fn new(kind: &'static str, loc: &[&str], msg: impl Into<String>, input: Value) -> Item {
        let loc = loc.iter().copied().map(Place::from).collect();
        Item { kind, loc, msg: msg.into(), input, ctx: None }
    }

    /// With the numbers of the sentence.
    #[must_use]
    pub fn with(mut self, ctx: Value) -> Item {
        self.ctx = Some(ctx);
        self
    }

    /// A field that has to be there; `input` is what it is missing in.
    pub fn missing(loc: &[&str], input: &Value) -> Item {
        Item::new("missing", loc, "Field required", input.clone())
    }

    /// A field that nobody knows.
    pub fn extra(loc: &[&str], input: &Value) -> Item {
        Item::new("extra_forbidden", loc, "Extra inputs are not permitted", input.clone())
    }

    /// No object where one has to be.
    pub fn no_object(loc: &[&str], input: &Value) -> Item {
        Item::new("dict_type", loc, "Input should be a valid dictionary", input.clone())
    }

    /// A text that is no JSON.
    pub fn no_json(text: &str, error: &serde_json::Error) -> Item {
        let mut item = Item::new("json_invalid", &["body"], "JSON decode error", json!({}));
        item.loc.push(Place::At(offset(text, error)));
        item.with(json!({"error": error.to_string()}))
    }

    /// The same below `above`.
    #[must_use]
    pub fn below(mut self, above: &[&str]) -> Item {
        let above = above.iter().copied().map(Place::from);
        self.loc = above.chain(self.loc).collect();
        self
    }
}

/// Characters before the place of an error.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    before.map(|line| line.chars().count()).sum::<usize>() + error.column().saturating_sub(1)
}

/// All of it in one sentence, for clients that show only a sentence.
pub fn sentence(items: &[Item]) -> String {
    let each = items.iter().map(|item| {
        let way = item.loc.iter().map(|place| match place {
            Place::Field(name) => name.clone(),
            Place::At(at) => at.to_string(),
        });
        let way: Vec<_> = way.collect();
        match way.is_empty() {
            true => item.msg.clone(),
            false => format!("{}: {}", way.join("."), item.msg),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}
