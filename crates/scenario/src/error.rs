//! What is wrong with a file, and where.

/// Something wrong with a scenario or topology file; prints `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ScenarioError {
    /// The file, relative to the root of the library.
    pub file: String,
    /// Line from 1; 0 where the whole file is meant.
    pub line: u32,
    /// Column from 1, in characters; 0 where the whole file is meant.
    pub column: u32,
    /// One sentence with the allowed values.
    pub message: String,
}

impl ScenarioError {
    /// The line of the file that is meant, and a mark under the column; empty where there is none.
    pub fn snippet(&self, text: &str) -> String {
        let at = (self.line as usize).checked_sub(1);
        let Some(line) = at.and_then(|at| text.lines().nth(at)) else {
            return String::new();
        };
        let indent = " ".repeat((self.column as usize).saturating_sub(1));
        format!("{line}\n{indent}^")
    }
}
