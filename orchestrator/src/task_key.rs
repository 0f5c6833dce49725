//! Opaque names of tasks: keyed hashes of scenario names. With a key of one's own nobody who knows
//! the scenarios can tell which one a task is.

use crate::failure::Failure;
use crate::keyed::{Keyed, head};

/// Variable that holds the key.
pub const VARIABLE: &str = "MAYDAY_TASK_KEY";
/// The key where none is given: names stay the same from one server to the next, and whoever has
/// this program can make them.
const PUBLIC: &str = "mayday tasks, public key";

/// Makes names of tasks; prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskKey(Keyed);

impl std::fmt::Debug for TaskKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TaskKey")
    }
}

impl Default for TaskKey {
    fn default() -> TaskKey {
        TaskKey(Keyed::known(PUBLIC.into()))
    }
}

impl TaskKey {
    /// This text as a key.
    ///
    /// # Errors
    /// Where it is too short.
    pub fn new(text: &str) -> Result<TaskKey, Failure> {
        Keyed::new(VARIABLE, text).map(TaskKey)
    }

    /// The key of the environment, or the public one.
    ///
    /// # Errors
    /// Where the variable is set but is no key.
    pub fn of_environment() -> Result<TaskKey, Failure> {
        Ok(Keyed::of_environment(VARIABLE)?.map(TaskKey).unwrap_or_default())
    }

    /// The name of the task of a scenario.
    pub fn task(&self, scenario: &str) -> String {
        format!("task-{:016x}", head(self.0.hash(&[b"task", scenario.as_bytes()])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_key_and_scenario() {
        let (public, mine) = (TaskKey::default(), TaskKey::new("0123456789abcdef").unwrap());
        let name = public.task("overload/retry-storm");
        assert_eq!(name, TaskKey::default().task("overload/retry-storm"));
        assert_eq!((name.len(), &name[..5]), (21, "task-"));
        assert_ne!(name, public.task("overload/retry-stor"));
        assert_ne!(name, mine.task("overload/retry-storm"));
        assert_eq!(format!("{mine:?}"), "TaskKey");
        let error = TaskKey::new("short").unwrap_err().to_string();
        assert!(error.contains("MAYDAY_TASK_KEY has to have 16"), "{error}");
    }

    #[test]
    fn the_public_names_are_those_that_are_known() {
        // Kept in data sets of trainers: they change with no release.
        assert_eq!(TaskKey::default().task("overload/retry-storm"), "task-0d3802fef359043b");
    }
}
