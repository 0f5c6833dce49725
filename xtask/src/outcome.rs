//! What a check reports: findings, each with the way out, and notes that fail nothing.

use std::fmt;

/// One reason for a check to fail.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Finding {
    /// File, crate or item that the finding is about.
    pub place: String,
    /// What is wrong, as a lower-case fragment.
    pub problem: String,
    /// What the reader does about it.
    pub way_out: String,
}

impl Finding {
    /// A finding about `place`.
    pub fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), way_out: way_out.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    -> {}", self.place, self.problem, self.way_out)
    }
}

/// The result of one check.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reasons to fail; an empty list is a pass.
    pub findings: Vec<Finding>,
    /// Remarks, such as "skipped: the folder does not exist yet".
    pub notes: Vec<String>,
}

impl Outcome {
    /// True when nothing was found.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }

    /// Adds one finding.
    pub fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds one note.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl From<Vec<Finding>> for Outcome {
    fn from(findings: Vec<Finding>) -> Self {
        Self { findings, notes: Vec::new() }
    }
}
