//! The three tasks, and which situation a seed chooses.

use super::incidents::{
    CERTIFICATE, CONNECTION_POOL, DISK_SPACE, DNS_DEPLOY, FULL_STACK, MEMORY_LEAK, Situation,
};
use super::twister;
use serde_json::{Value, json};

/// How a task is graded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grading {
    /// One incident.
    Single,
    /// Several that belong together.
    Multi,
    /// A cascade.
    Cascade,
}

/// One task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Its name.
    pub(super) name: &'static str,
    /// For people.
    pub(super) display_name: &'static str,
    /// easy, medium or hard.
    pub(super) difficulty: &'static str,
    /// What is to be done.
    pub(super) description: &'static str,
    /// Most steps.
    pub(super) max_steps: u32,
    /// How it is graded.
    pub(super) grading: Grading,
    /// Its situations; without a seed, the first one.
    pub(super) situations: &'static [Situation],
}

pub(super) const TASKS: &[Task] = &[
    Task {
        name: "single_incident",
        display_name: "One incident",
        difficulty: "easy",
        description: "One alert with one cause: look, say what it is, rank it, repair it, verify.",
        max_steps: 10,
        grading: Grading::Single,
        situations: &[CONNECTION_POOL, DISK_SPACE, CERTIFICATE],
    },
    Task {
        name: "multi_incident",
        display_name: "Several alerts at once",
        difficulty: "medium",
        description: "Several alerts, one of which is the origin of the others: tell them apart, \
                      rank them, repair the origin.",
        max_steps: 20,
        grading: Grading::Multi,
        situations: &[MEMORY_LEAK, DNS_DEPLOY],
    },
    Task {
        name: "cascading_failure",
        display_name: "A cascade through the whole stack",
        difficulty: "hard",
        description: "Alerts from top to bottom, one of them about nothing: find the origin and \
                      repair it.",
        max_steps: 30,
        grading: Grading::Cascade,
        situations: &[FULL_STACK],
    },
];

/// The task called `name`.
pub(super) fn find(name: &str) -> Option<&'static Task> {
    TASKS.iter().find(|task| task.name == name)
}

impl Task {
    /// The situation that a seed means.
    pub(super) fn situation(&'static self, seed: Option<u64>) -> &'static Situation {
        let at = seed.map_or(0, |seed| twister::choice(seed, self.situations.len()));
        &self.situations[at]
    }

    /// As the list of tasks has it.
    pub(super) fn listed(&self) -> Value {
        json!({
            "name": self.name,
            "display_name": self.display_name,
            "difficulty": self.difficulty,
            "description": self.description,
            "max_steps": self.max_steps,
        })
    }
}
