//! What an episode leaves for learning: one line of JSON with what was seen, done and paid. It
//! holds nothing that the player of the episode did not know.

use openenv::{Begun, Seen, Turn};
use serde_json::{Value, json};
use std::fmt::Write;

/// One episode, as far as it was played.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The line up to the last step.
    text: String,
    steps: u64,
    sum: f64,
    /// Why it is over, and whether a limit ended it.
    end: Option<(String, bool)>,
}

impl Trajectory {
    /// One that begins. `player`: the field that says whose it is, and its value; `seed`: where
    /// the player knows it.
    pub fn begin(player: (&str, &str), begun: &Begun, seed: Option<u64>) -> Trajectory {
        let Begun { task, seen, .. } = begun;
        let (field, name) = (Value::from(player.0), Value::from(player.1));
        let (task, seed) = (Value::from(task.as_str()), Value::from(seed));
        let first = seen.as_str();
        let text = format!(
            "{{{field}:{name},\"task\":{task},\"seed\":{seed},\"observation\":{first},\"steps\":["
        );
        Trajectory { text, steps: 0, sum: 0.0, end: None }
    }

    /// One step more.
    pub fn step(&mut self, action: &Value, turn: &Turn) {
        let Turn { seen, reward, end } = turn;
        let comma = if self.steps == 0 { "" } else { "," };
        let (seen, paid, done) = (Seen::as_str(seen), Value::from(*reward), end.is_some());
        // A String takes all that is written into it.
        let _ = write!(
            self.text,
            "{comma}{{\"action\":{action},\"observation\":{seen},\"reward\":{paid},\"done\":{done}}}"
        );
        self.steps += 1;
        self.sum += reward;
        self.end = end.as_ref().map(|end| (end.reason.clone(), end.truncated));
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The line, without its break. Of an episode that was left before it was over the end is null.
    pub fn line(self) -> String {
        let Trajectory { mut text, sum, end, .. } = self;
        let ended = |truncated: bool| end.as_ref().map(|end| end.1 == truncated);
        let rest = [
            ("return", json!(sum)),
            ("done_reason", json!(end.as_ref().map(|end| &end.0))),
            ("terminated", json!(ended(false))),
            ("truncated", json!(ended(true))),
        ];
        text.push(']');
        for (name, value) in rest {
            let _ = write!(text, ",\"{name}\":{value}");
        }
        text.push('}');
        text
    }
}
