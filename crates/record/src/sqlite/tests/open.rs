//! Tests: what is said of a file that cannot be opened, and that it is left as it was.

use super::*;
use std::fs;
use std::io;

fn refused(path: &Path) -> RecordError {
    SqliteStore::open(path).map(drop).unwrap_err()
}

#[test]
fn a_missing_folder_and_a_folder_are_named() {
    let (folder, path) = temp();
    let deep = folder.path().join("missing/records.db");
    assert_eq!(refused(&deep), RecordError::NoFolder { path: deep.clone() });
    assert!(refused(&deep).to_string().starts_with(&format!("{}: ", deep.display())));
    let here = folder.path().to_path_buf();
    assert_eq!(refused(&here), RecordError::IsFolder { path: here });
    // A file in the place of a folder.
    fs::write(&path, "").unwrap();
    let below = path.join("records.db");
    assert_eq!(refused(&below), RecordError::NoFolder { path: below });
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let (_folder, path) = temp();
    let text = "not a database, ".repeat(100);
    fs::write(&path, &text).unwrap();
    assert_eq!(refused(&path), RecordError::NotRecords { path: path.clone() });
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let (_folder, path) = temp();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE birds (name TEXT)").unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    assert_eq!(refused(&path), RecordError::NotRecords { path: path.clone() });
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_refused_by_both_numbers() {
    let (_folder, path) = temp();
    drop(SqliteStore::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", schema::SCHEMA + 1).unwrap();
    drop(db);
    let (theirs, ours) = (schema::SCHEMA + 1, schema::SCHEMA);
    let error = refused(&path);
    assert_eq!(error, RecordError::Newer { path, theirs, ours });
    assert!(error.to_string().contains("schema 3 and this program knows up to 2"));
}

#[test]
fn tables_of_an_earlier_release_are_brought_up_to_date_once() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.create(&header(1), 1).unwrap();
    drop(store);
    let db = Connection::open(&path).unwrap();
    db.execute_batch("DROP INDEX episodes_by_session; ALTER TABLE episodes DROP COLUMN session")
        .unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);
    std::thread::scope(|scope| {
        for n in 2..=9 {
            let path = &path;
            scope.spawn(move || {
                let session = Some("s".to_string());
                let store = SqliteStore::open(path).unwrap();
                store.write(Write::Create { header: header(n), epoch: 1, session }).unwrap();
            });
        }
    });
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.load(EpisodeId(1)).unwrap().header, header(1));
    assert!(store.of_session("s").unwrap().is_some());
}

#[test]
fn a_record_of_another_format_is_named_when_loaded() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    let mut later = header(1);
    later.format = 2;
    store.create(&later, 1).unwrap();
    let error = RecordError::OtherFormat { theirs: 2, ours: crate::FORMAT };
    assert_eq!(store.load(EpisodeId(1)), Err(error));
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn an_address_is_a_file_name_here() {
    let (folder, _) = temp();
    let path = folder.path().join("file:x?mode=memory");
    SqliteStore::open(&path).unwrap().create(&header(1), 1).unwrap();
    assert!(path.is_file());
    assert!(SqliteStore::open(&path).unwrap().load(EpisodeId(1)).is_ok());
}

#[test]
fn a_file_that_another_process_holds_is_named() {
    let (_folder, path) = temp();
    let tuning = Tuning { busy: Duration::ZERO, ..Tuning::default() };
    let store = SqliteStore::tuned(&path, tuning).unwrap();
    store.create(&header(1), 1).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = RecordError::Locked { path: path.clone() };
    assert_eq!(store.append(EpisodeId(1), 1, &[input(1, 0)]), Err(locked));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [], "readers do not wait");
    other.execute_batch("ROLLBACK").unwrap();
    store.append(EpisodeId(1), 1, &[input(1, 0)]).unwrap();
}

#[test]
fn many_may_open_a_new_file_at_once() {
    let (_folder, path) = temp();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let store = SqliteStore::open(path).unwrap();
                store.create(&header(n), 1).unwrap();
            });
        }
    });
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 8);
}

#[test]
fn what_the_system_does_not_allow_is_named() {
    let path = Path::new("/srv/records.db");
    let denied = RecordError::Denied { path: path.into() };
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
        assert_eq!(trouble::system(path, &io::Error::from(kind)), denied);
    }
    let full = trouble::system(path, &io::Error::from(io::ErrorKind::StorageFull));
    assert_eq!(full, RecordError::Full { path: path.into() });

    // The same from a real file, as far as the user of this test is held by its mode at all.
    let (folder, file) = temp();
    drop(SqliteStore::open(&file).unwrap());
    let read_only = |path: &Path, yes| {
        let mut mode = fs::metadata(path).unwrap().permissions();
        mode.set_readonly(yes);
        fs::set_permissions(path, mode).unwrap();
    };
    read_only(&file, true);
    read_only(folder.path(), true);
    if fs::OpenOptions::new().append(true).open(&file).is_err() {
        assert_eq!(refused(&file), RecordError::Denied { path: file.clone() });
        let new = folder.path().join("new.db");
        assert_eq!(refused(&new), RecordError::Denied { path: new });
    } else {
        assert!(SqliteStore::open(&file).is_ok());
    }
    read_only(folder.path(), false);
}
