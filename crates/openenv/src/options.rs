//! Options of a reset. Trainers forward whole rows of their data, so an unknown option is ignored
//! and named in the answer; one that is nearly a known one is refused.

use crate::environment::Fields;
use crate::item::Item;
use serde_json::{Value, json};

/// The options there are.
pub const KNOWN: [&str; 3] = ["task", "seed", "episode_id"];
/// Largest seed.
pub const SEED_MAX: u64 = i64::MAX as u64;
/// Longest name that a client may give an episode, characters.
pub const NAME_MAX: usize = 255;

/// What a reset asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The task.
    pub task: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// How the client calls the episode.
    pub episode_id: Option<String>,
    /// Options that nobody knows.
    pub ignored: Vec<String>,
}

impl Options {
    /// The options in an object.
    ///
    /// # Errors
    /// All that is wrong with them; places are relative to the object.
    pub fn read(given: &Fields) -> Result<Options, Vec<Item>> {
        let (mut options, mut wrong) = (Options::default(), Vec::new());
        for (name, value) in given {
            let read = match name.as_str() {
                "task" => text(name, value).map(|task| options.task = task),
                "seed" => seed(value).map(|seed| options.seed = seed),
                "episode_id" => text(name, value).map(|id| options.episode_id = id),
                _ => match near(name) {
                    Some(known) => Err(near_miss(name, known, value)),
                    None => {
                        options.ignored.push(name.clone());
                        Ok(())
                    }
                },
            };
            wrong.extend(read.err().map(|item: Box<Item>| *item));
        }
        if wrong.is_empty() { Ok(options) } else { Err(wrong) }
    }
}

/// The option that `name` nearly is: a third of the letters or fewer differ.
fn near(name: &str) -> Option<&'static str> {
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    let best = KNOWN.iter().map(|known| (strsim::osa_distance(&lower, known), *known)).min()?;
    let letters = best.1.chars().count().max(name.chars().count());
    (best.0 * 3 <= letters).then_some(best.1)
}

fn near_miss(name: &str, known: &str, value: &Value) -> Box<Item> {
    let all = KNOWN.join(", ");
    let msg = format!("Unknown option `{name}`; did you mean `{known}`? The options are {all}");
    Box::new(Item::new("extra_forbidden", &[name], msg, value.clone()))
}

fn text(name: &str, value: &Value) -> Result<Option<String>, Box<Item>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.chars().count() <= NAME_MAX => Ok(Some(text.clone())),
        Value::String(_) => {
            let msg = format!("String should have at most {NAME_MAX} characters");
            let item = Item::new("string_too_long", &[name], msg, value.clone());
            Err(item.with(json!({"max_length": NAME_MAX})).into())
        }
        _ => {
            let msg = "Input should be a valid string";
            Err(Item::new("string_type", &[name], msg, value.clone()).into())
        }
    }
}

fn seed(value: &Value) -> Result<Option<u64>, Box<Item>> {
    let loc = &["seed"][..];
    let whole = match value {
        Value::Null => return Ok(None),
        _ => integer(loc, value)?,
    };
    if whole < 0 {
        let msg = "Input should be greater than or equal to 0";
        let item = Item::new("greater_than_equal", loc, msg, value.clone());
        return Err(item.with(json!({"ge": 0})).into());
    }
    match u64::try_from(whole) {
        Ok(seed) if seed <= SEED_MAX => Ok(Some(seed)),
        _ => {
            let msg = format!("Input should be less than or equal to {SEED_MAX}");
            let item = Item::new("less_than_equal", loc, msg, value.clone());
            Err(item.with(json!({"le": SEED_MAX})).into())
        }
    }
}

/// A whole number as lenient clients write it: `7`, `7.0`, `"7"`, `true`.
pub(crate) fn integer(loc: &[&str], value: &Value) -> Result<i128, Box<Item>> {
    let broken = |input: &Value| {
        let msg = "Input should be a valid integer, got a number with a fractional part";
        Item::new("int_from_float", loc, msg, input.clone())
    };
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(number) => {
            let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
            if let Some(whole) = whole {
                return Ok(whole);
            }
            let float = number.as_f64().unwrap_or(f64::NAN);
            match float.fract() == 0.0 {
                // Saturates beyond what an integer holds; no bound is that large.
                true => Ok(float as i128),
                false => Err(broken(value).into()),
            }
        }
        Value::String(text) => text.trim().parse().map_err(|_| {
            let msg = "Input should be a valid integer, unable to parse string as an integer";
            Item::new("int_parsing", loc, msg, value.clone()).into()
        }),
        _ => {
            let msg = "Input should be a valid integer";
            Err(Item::new("int_type", loc, msg, value.clone()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: Value) -> Result<Options, Vec<Item>> {
        Options::read(given.as_object().unwrap())
    }

    #[test]
    fn options_are_read_leniently_and_unknown_ones_are_named() {
        for (seed, expected) in [
            (json!(0), Some(0)),
            (json!("7"), Some(7)),
            (json!(7.0), Some(7)),
            (json!(true), Some(1)),
            (json!(null), None),
            (json!(SEED_MAX), Some(SEED_MAX)),
        ] {
            assert_eq!(read(json!({"seed": seed})).unwrap().seed, expected, "{seed}");
        }
        let row = json!({"task": "t", "prompt": "p", "answer": [1], "episode_id": null});
        let options = read(row).unwrap();
        assert_eq!(options.task.as_deref(), Some("t"));
        assert_eq!(options.ignored, ["answer", "prompt"]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (given, kind, says) in [
            (json!({"seed": -1}), "greater_than_equal", "equal to 0"),
            (json!({"seed": 1.5}), "int_from_float", "fractional"),
            (json!({"seed": 1u64 << 63}), "less_than_equal", "9223372036854775807"),
            (json!({"seed": 1e300}), "less_than_equal", "9223372036854775807"),
            (json!({"seed": "x"}), "int_parsing", "parse"),
            (json!({"seed": []}), "int_type", "integer"),
            (json!({"task": 5}), "string_type", "string"),
            (json!({"episode_id": "x".repeat(256)}), "string_too_long", "255"),
            (json!({"sede": 5}), "extra_forbidden", "did you mean `seed`? The options are task"),
            (json!({"Task": "x"}), "extra_forbidden", "did you mean `task`"),
            (json!({"episodeid": "x"}), "extra_forbidden", "did you mean `episode_id`"),
        ] {
            let wrong = read(given.clone()).unwrap_err();
            assert_eq!((wrong.len(), wrong[0].kind), (1, kind), "{given}");
            assert!(wrong[0].msg.contains(says), "{:?}", wrong[0]);
        }
    }
}
