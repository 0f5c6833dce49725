//! What an evaluation plays, and what has to be the same for it to be gone on with.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A scenario of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Nothing is broken in it.
    pub healthy: bool,
    /// Digest of its canonical form.
    pub hash: String,
    /// Most steps.
    pub steps: u32,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What the agent is called.
    pub agent: String,
    /// Its command; absent where agents come by themselves.
    pub command: Option<String>,
    /// Seconds of the wall clock that an episode may take.
    pub deadline_s: u64,
    /// The scenarios.
    pub scenarios: Vec<Subject>,
    /// The seeds that the evaluation names.
    pub seeds: Vec<u64>,
    /// Plays of each world.
    pub repeats: u32,
    /// Which secret makes the seeds of the worlds.
    pub secret: String,
    /// Version of this program.
    pub version: String,
    /// Revision of the world.
    pub world_revision: u32,
}

/// One episode of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Job {
    /// Name of the scenario.
    pub scenario: String,
    /// The seed that the evaluation names.
    pub seed: u64,
    /// Which of the plays of this world, from 0.
    pub repeat: u32,
}

impl Plan {
    /// Its episodes. Plays of one world are far apart, so that an evaluation that is cut short has
    /// seen every scenario.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for repeat in 0..self.repeats {
            for seed in &self.seeds {
                for subject in &self.scenarios {
                    let scenario = subject.name.clone();
                    jobs.push(Job { scenario, seed: *seed, repeat });
                }
            }
        }
        jobs
    }

    /// The scenario of this name.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        self.scenarios.iter().find(|subject| subject.name == name)
    }

    /// What was begun can be gone on with only if nothing that matters is different.
    ///
    /// # Errors
    /// Names what is.
    pub fn check_same(&self, begun: &Plan) -> Result<(), Failure> {
        let fields = |plan: &Plan| serde_json::to_value(plan).unwrap_or_default();
        let (mine, theirs) = (fields(self), fields(begun));
        let named = mine.as_object().into_iter().flatten();
        let other: Vec<_> = named.filter(|(name, value)| theirs[*name] != **value).collect();
        let Some((name, value)) = other.first() else { return Ok(()) };
        let short = |value: &Value| {
            let text = value.to_string();
            let shown: String = text.chars().take(60).collect();
            if shown == text { text } else { shown + "…" }
        };
        Err(Failure::usage(format!(
            "--out holds an evaluation with another {} ({}, now {}): choose another folder, or \
             remove that one",
            label(name),
            short(&theirs[*name]),
            short(value)
        )))
    }
}

/// A field of a plan, as its option is called.
fn label(field: &str) -> &str {
    match field {
        "agent" => "--name",
        "command" => "--agent-cmd",
        "deadline_s" => "--deadline",
        "scenarios" => "set of scenarios",
        "seeds" => "--seeds",
        "repeats" => "--repeats",
        "secret" => "secret",
        "world_revision" => "revision of the world",
        other => other,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan() -> Plan {
        let subject = |name: &str, healthy| Subject {
            name: name.into(),
            title: format!("Title of {name}"),
            healthy,
            hash: "0".into(),
            steps: 20,
        };
        Plan {
            agent: "me".into(),
            command: Some("./agent".into()),
            deadline_s: 60,
            scenarios: vec![subject("a/x", false), subject("b/y", true)],
            seeds: vec![4, 7],
            repeats: 2,
            secret: "abc".into(),
            version: "0.1.0".into(),
            world_revision: 1,
        }
    }

    #[test]
    fn every_world_is_played_before_any_is_played_again() {
        let jobs = plan().jobs();
        let shown: Vec<_> =
            jobs.iter().map(|j| format!("{}{}{}", &j.scenario[..1], j.seed, j.repeat)).collect();
        assert_eq!(shown, ["a40", "b40", "a70", "b70", "a41", "b41", "a71", "b71"]);
    }

    #[test]
    fn what_is_different_is_named() {
        let begun = plan();
        begun.check_same(&plan()).unwrap();
        let now = Plan { seeds: vec![1], ..plan() };
        let error = now.check_same(&begun).unwrap_err().to_string();
        assert!(error.contains("another --seeds ([4,7], now [1])"), "{error}");
        let now = Plan { command: Some("x".repeat(99)), ..plan() };
        let error = now.check_same(&begun).unwrap_err().to_string();
        assert!(error.contains("--agent-cmd") && error.contains('…'), "{error}");
    }
}
