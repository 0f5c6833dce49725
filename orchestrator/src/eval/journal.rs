//! The journal of an evaluation: what was played, kept line by line as it is played. After a crash
//! the same command goes on behind the last whole line.

use super::outcome::Assessment;
use super::plan::{Job, Plan};
use super::secret::{Secret, random};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Its file in the folder of an evaluation.
pub const FILE: &str = "journal.jsonl";
/// Version of its bytes.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    journal: u32,
    /// A random name, so that a server tells one evaluation from another.
    evaluation: String,
    /// The secret, where it was drawn.
    secret: Option<String>,
    plan: Plan,
}

/// One episode that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which one.
    #[serde(flatten)]
    pub job: Job,
    /// What it came to.
    pub assessment: Assessment,
    /// Resets after the first one; only the first attempt counts.
    pub later_resets: u32,
    /// Attempts before this one in which the simulator failed; they do not count.
    pub reruns: u32,
    /// How the agent's command ended.
    pub command: Option<String>,
    /// What it said: a file in the folder of logs.
    pub log: Option<String>,
}

/// An open journal; nobody else can open it meanwhile.
#[derive(Debug)]
pub struct Journal {
    file: File,
    head: Head,
    rows: BTreeMap<Job, Row>,
}

/// A journal that was found and is not checked yet.
#[derive(Debug)]
pub struct Found {
    file: File,
    head: Option<Head>,
    rows: BTreeMap<Job, Row>,
}

impl Found {
    /// Opens the journal in `folder`, which is made if need be.
    ///
    /// # Errors
    /// Where it cannot be had, somebody else has it, or it is none.
    pub fn open(folder: &Path) -> Result<Found, Failure> {
        let path = folder.join(FILE);
        let shown = path.display();
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("--out {}: {error}; choose another folder", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(cannot)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        // It may hold the secret.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!(
                    "{shown} is being written by another `mayday eval`: wait, or choose another \
                     --out"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(cannot)?;
        // A line without an end was being written when the process died.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(cannot)?;
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        let text = String::from_utf8_lossy(&text[..whole]).into_owned();
        let (head, rows) = read(&text).map_err(|(line, error)| {
            Failure::usage(format!(
                "{shown}, line {line}: {error}; it is no journal of this release: choose another \
                 --out"
            ))
        })?;
        Ok(Found { file, head, rows })
    }

    /// The secret that was drawn when it was begun.
    ///
    /// # Errors
    /// Where it is none.
    pub fn secret(&self) -> Result<Option<Secret>, Failure> {
        let text = self.head.as_ref().and_then(|head| head.secret.as_deref());
        text.map(Secret::new).transpose()
    }

    /// Goes on with it, or begins it. `secret`: one that was drawn for it.
    ///
    /// # Errors
    /// Where it is of another plan, or cannot be written.
    pub fn take_up(self, plan: &Plan, secret: Option<&Secret>) -> Result<Journal, Failure> {
        let Found { file, head, rows } = self;
        if let Some(head) = head {
            plan.check_same(&head.plan)?;
            return Ok(Journal { file, head, rows });
        }
        let head = Head {
            journal: FORMAT,
            evaluation: random()?,
            secret: secret.map(|secret| secret.text().to_string()),
            plan: plan.clone(),
        };
        let mut journal = Journal { file, head, rows };
        let line = serde_json::to_string(&journal.head).map_err(Failure::failed)?;
        journal.write(&line)?;
        Ok(journal)
    }
}

type Rows = BTreeMap<Job, Row>;

fn read(text: &str) -> Result<(Option<Head>, Rows), (usize, String)> {
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else { return Ok((None, Rows::new())) };
    let at = |line: usize| move |error: serde_json::Error| (line + 1, error.to_string());
    let head: Head = serde_json::from_str(first).map_err(at(0))?;
    if head.journal != FORMAT {
        return Err((1, format!("format {} instead of {FORMAT}", head.journal)));
    }
    let mut rows = Rows::new();
    for (number, line) in lines {
        let row: Row = serde_json::from_str(line).map_err(at(number))?;
        rows.insert(row.job.clone(), row);
    }
    Ok((Some(head), rows))
}

impl Journal {
    /// The name of the evaluation.
    pub fn evaluation(&self) -> &str {
        &self.head.evaluation
    }

    /// What was played.
    pub fn rows(&self) -> &BTreeMap<Job, Row> {
        &self.rows
    }

    /// Keeps an episode: afterwards it outlives this process and this machine.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn keep(&mut self, row: Row) -> Result<(), Failure> {
        let line = serde_json::to_string(&row).map_err(Failure::failed)?;
        self.write(&line)?;
        self.rows.insert(row.job.clone(), row);
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let cannot = |error| Failure::failed(format!("the journal cannot be written: {error}"));
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(cannot)?;
        self.file.sync_data().map_err(cannot)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::outcome::{Curves, Ending};
    use super::super::plan::tests::plan;
    use super::*;

    pub(crate) fn row(seed: u64, score: f64) -> Row {
        Row {
            job: Job { scenario: "a/x".into(), seed, repeat: 0 },
            assessment: Assessment {
                world_seed: 1,
                score,
                terms: Vec::new(),
                impact: 1.0 / 3.0,
                impact_noop: 2.0,
                impact_reference: 0.1,
                stake: 1.9,
                slo_held: true,
                steps: 3,
                seconds: 90,
                end: Ending::Resolved,
                world: "0".into(),
                curves: Curves::default(),
            },
            later_resets: 0,
            reruns: 0,
            command: None,
            log: None,
        }
    }

    #[test]
    fn what_was_kept_is_there_after_a_crash_in_the_middle_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let secret = Secret::draw().unwrap();
        let mut journal =
            Found::open(folder.path()).unwrap().take_up(&plan(), Some(&secret)).unwrap();
        let busy = Found::open(folder.path()).unwrap_err().to_string();
        assert!(busy.contains("another `mayday eval`"), "{busy}");
        journal.keep(row(4, 0.1 + 0.2)).unwrap();
        journal.write(r#"{"scenario":"a/x","seed":7,"#.trim_end()).unwrap();
        let name = journal.evaluation().to_string();
        drop(journal);
        let path = folder.path().join(FILE);
        let text = std::fs::read(&path).unwrap();
        // Whole lines that are none are no accident.
        let error = Found::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        std::fs::write(&path, &text[..text.len() - 1]).unwrap();
        let found = Found::open(folder.path()).unwrap();
        assert_eq!(found.secret().unwrap(), Some(secret));
        let mut journal = found.take_up(&plan(), None).unwrap();
        assert_eq!(journal.evaluation(), name);
        assert_eq!(journal.rows().values().collect::<Vec<_>>(), [&row(4, 0.1 + 0.2)]);
        journal.keep(row(7, 1.0)).unwrap();
        drop(journal);
        let found = Found::open(folder.path()).unwrap();
        assert_eq!(found.rows.len(), 2);
        let other = Plan { repeats: 9, ..plan() };
        assert!(found.take_up(&other, None).unwrap_err().to_string().contains("--repeats"));
    }
}
