//! Answers as the original servers give them: `{"detail": …}`, a list of items where a body does
//! not fit, and what is read from a body on the way there.

use super::Trouble;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use openenv::{Fields, Item};
use serde_json::{Value, json};

/// A request that came to nothing, as its client is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Value,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        json(self.status, &self.body)
    }
}

impl From<Trouble> for Refused {
    fn from(trouble: Trouble) -> Refused {
        let status = match trouble {
            Trouble::Full(_) => StatusCode::TOO_MANY_REQUESTS,
            Trouble::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        detail(status, &trouble.to_string())
    }
}

/// This as JSON.
pub fn json(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// This, with success.
pub fn ok(value: &Value) -> Response {
    json(StatusCode::OK, value)
}

/// `{"detail": sentence}`.
pub fn detail(status: StatusCode, sentence: &str) -> Refused {
    Refused { status, body: json!({"detail": sentence}) }
}

/// 400 with a sentence.
pub fn bad(sentence: &str) -> Refused {
    detail(StatusCode::BAD_REQUEST, sentence)
}

/// 422 with what is wrong, item by item.
pub fn invalid(items: &[Item]) -> Refused {
    Refused { status: StatusCode::UNPROCESSABLE_ENTITY, body: json!({"detail": items}) }
}

/// 404 as for any unknown path.
pub async fn not_found() -> Refused {
    detail(StatusCode::NOT_FOUND, "Not Found")
}

/// 405 as for any known path.
pub async fn not_allowed() -> Refused {
    detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
}

/// Any JSON of a body.
///
/// # Errors
/// The answer to a body that is none.
pub fn value(body: &Bytes) -> Result<Value, Refused> {
    if body.is_empty() {
        return Err(invalid(&[Item::missing(&["body"], &Value::Null)]));
    }
    let text = String::from_utf8_lossy(body);
    serde_json::from_str(&text).map_err(|error| invalid(&[Item::no_json(&text, &error)]))
}

/// The fields of an object as a request's model reads them: every fault is noted, and told at the
/// end. Fields that nobody reads are ignored.
#[derive(Debug)]
pub struct Reader {
    fields: Fields,
    wrong: Vec<Item>,
}

impl Reader {
    /// Of the object in a body.
    ///
    /// # Errors
    /// The answer to a body that is no object.
    pub fn body(body: &Bytes) -> Result<Reader, Refused> {
        match value(body)? {
            Value::Object(fields) => Ok(Reader::new(fields)),
            other => Err(invalid(&[no_model(other)])),
        }
    }

    /// Of the object in a body that may be left out: then it has no fields.
    ///
    /// # Errors
    /// As [`Reader::body`].
    pub fn optional_body(body: &Bytes) -> Result<Reader, Refused> {
        if body.is_empty() { Ok(Reader::new(Fields::new())) } else { Reader::body(body) }
    }

    /// Of these fields.
    pub fn new(fields: Fields) -> Reader {
        Reader { fields, wrong: Vec::new() }
    }

    fn note(&mut self, item: Item) {
        self.wrong.push(item);
    }

    /// A field as it was sent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// A text that has to be there.
    pub fn text(&mut self, name: &str) -> String {
        match self.fields.get(name) {
            None => self.note(Item::missing(&[name], &Value::Object(self.fields.clone()))),
            Some(Value::String(text)) => return text.clone(),
            Some(other) => self.note(no_text(name, other.clone())),
        }
        String::new()
    }

    /// A text, or `default` where there is none.
    pub fn text_or(&mut self, name: &str, default: &str) -> String {
        match self.fields.contains_key(name) {
            true => self.text(name),
            false => default.to_string(),
        }
    }

    /// A text of at most `max` characters.
    pub fn text_up_to(&mut self, name: &str, max: usize, default: Option<&str>) -> String {
        let text = match default {
            Some(default) => self.text_or(name, default),
            None => self.text(name),
        };
        if text.chars().count() > max {
            let msg = format!("String should have at most {max} characters");
            let item = Item::new("string_too_long", &[name], msg, text.as_str().into());
            self.note(item.with(json!({"max_length": max})));
        }
        text
    }

    /// An object, or an empty one where there is none.
    pub fn object(&mut self, name: &str) -> Fields {
        match self.fields.get(name) {
            None => Fields::new(),
            Some(Value::Object(fields)) => fields.clone(),
            Some(other) => {
                let item = Item::no_object(&[name], other);
                self.note(item);
                Fields::new()
            }
        }
    }

    /// What is wrong with the fields named so far, and with any that is not among `known`.
    pub fn strict(&mut self, known: &[&str]) {
        let extra = self.fields.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let extra: Vec<_> = extra.map(|(name, value)| Item::extra(&[name], value)).collect();
        self.wrong.extend(extra);
    }

    /// Everything that was wrong, at its place within the object.
    pub fn items(self) -> Vec<Item> {
        self.wrong
    }

    /// Whether everything fitted.
    ///
    /// # Errors
    /// The answer to a body in which something did not.
    pub fn end(self) -> Result<(), Refused> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        let items: Vec<_> = self.wrong.into_iter().map(|item| item.below(&["body"])).collect();
        Err(invalid(&items))
    }
}

fn no_text(name: &str, input: Value) -> Item {
    Item::new("string_type", &[name], "Input should be a valid string", input)
}

fn no_model(input: Value) -> Item {
    let msg = "Input should be a valid dictionary or object to extract fields from";
    Item::new("model_attributes_type", &["body"], msg, input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<(String, String, Fields), Refused> {
        let mut reader = Reader::body(&Bytes::from(body.to_string()))?;
        let read = (reader.text("type"), reader.text_or("target", "all"), reader.object("params"));
        reader.end().map(|()| read)
    }

    #[tokio::test]
    async fn what_does_not_fit_is_said_item_by_item() {
        assert_eq!(read(r#"{"type":"a","more":1}"#).unwrap().1, "all");
        for (body, kinds) in [
            ("", &["missing"][..]),
            ("{", &["json_invalid"]),
            ("[]", &["model_attributes_type"]),
            ("{}", &["missing"]),
            (
                r#"{"type":1,"target":null,"params":null}"#,
                &["string_type", "string_type", "dict_type"],
            ),
        ] {
            let Refused { status, body: told } = read(body).unwrap_err();
            let items = told["detail"].as_array().unwrap();
            let said: Vec<_> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
            assert_eq!((status.as_u16(), &said[..]), (422, kinds), "{body}");
            for item in items {
                assert_eq!(item["loc"][0], "body");
                assert!(item["msg"].is_string() && item.get("input").is_some(), "{item}");
            }
        }
        let missed = not_found().await;
        assert_eq!((missed.status.as_u16(), missed.body), (404, json!({"detail": "Not Found"})));
    }
}
