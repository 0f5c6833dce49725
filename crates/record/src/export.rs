//! Records out of a store, as files of their canonical bytes.

use crate::error::RecordError;
use crate::store::{Filter, Store};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes each record that meets `filter` to `<episode>.jsonl` in `folder`, which is made if it is
/// missing, and says which files these are, newest record first. A file appears whole or not at
/// all, and takes the place of an older one of its name.
///
/// # Errors
/// What is wrong with the store, or [`RecordError::Export`] with the file.
pub fn export(
    store: &dyn Store,
    filter: &Filter,
    folder: &Path,
) -> Result<Vec<PathBuf>, RecordError> {
    make(folder, || fs::create_dir_all(folder))?;
    let mut files = Vec::new();
    for summary in store.list(filter)? {
        let record = match store.load(summary.episode) {
            // Pruned since it was listed.
            Err(RecordError::Unknown { .. }) => continue,
            other => other?,
        };
        let file = folder.join(format!("{}.jsonl", summary.episode));
        let part = file.with_extension("jsonl.part");
        make(&part, || fs::write(&part, record.to_jsonl()))?;
        make(&file, || fs::rename(&part, &file))?;
        files.push(file);
    }
    Ok(files)
}

fn make(path: &Path, how: impl FnOnce() -> std::io::Result<()>) -> Result<(), RecordError> {
    how().map_err(|error| RecordError::Export {
        path: path.to_path_buf(),
        problem: error.to_string(),
    })
}
