//! Tests: group commit, owners in two stores, a full disk, and files that are none of ours.

mod kill;
mod open;

use super::*;
use crate::record::tests::{end, header, input, step};
use crate::store::{Prune, channel};
use std::sync::mpsc::Receiver;

type Answered = Receiver<Result<Written, RecordError>>;

fn temp() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    (folder, path)
}

fn append(episode: u64, epoch: u64, seq: u64) -> Write {
    Write::Append { episode: EpisodeId(episode), epoch, entries: vec![input(seq, 0)] }
}

fn submit(store: &SqliteStore, write: Write) -> Answered {
    let (answer, answered) = channel();
    store.submit(write, answer);
    answered
}

/// Holds the writer between two transactions until the sender is dropped.
fn hold(store: &SqliteStore) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (held, holding) = mpsc::channel();
    let claim = Write::Claim { episode: EpisodeId(0) };
    store.submit(
        claim,
        Box::new(move |_| {
            held.send(()).unwrap();
            assert!(released.recv().is_err());
        }),
    );
    holding.recv().unwrap();
    release
}

#[test]
fn writes_that_wait_share_a_commit_and_only_the_refused_fail() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..=50 {
        store.create(&header(n), 1).unwrap();
    }
    let release = hold(&store);
    let before = store.commits();
    let answers: Vec<_> = (1..=50).map(|n| submit(&store, append(n, 1 + n % 2, 1))).collect();
    let unknown = submit(&store, append(99, 1, 1));
    drop(release);
    for (n, answered) in (1..=50).zip(answers) {
        let episode = EpisodeId(n);
        let owned = n % 2 == 0;
        let refused = Err(RecordError::NotOwner { episode, yours: 2, owner: 1 });
        assert_eq!(answered.recv().unwrap(), if owned { Ok(Written::Done) } else { refused });
        let kept = if owned { vec![input(1, 0)] } else { vec![] };
        assert_eq!(store.load(episode).unwrap().entries, kept);
    }
    assert!(matches!(unknown.recv().unwrap(), Err(RecordError::Unknown { .. })));
    assert_eq!(store.commits() - before, 1);
}

#[test]
fn two_hundred_threads_append_twenty_times() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    std::thread::scope(|scope| {
        for n in 0..200 {
            let store = &store;
            scope.spawn(move || {
                store.create(&header(n), n).unwrap();
                for seq in 1..=20 {
                    store.append(EpisodeId(n), n, &[input(seq, 0)]).unwrap();
                    let kept = store.load(EpisodeId(n)).unwrap().entries.len();
                    assert_eq!(kept as u64, seq, "an answered append can be read");
                }
            });
        }
    });
    let expected: Vec<_> = (1..=20).map(|seq| input(seq, 0)).collect();
    for n in 0..200 {
        assert_eq!(store.load(EpisodeId(n)).unwrap().entries, expected);
    }
    assert!(store.commits() <= 200 * 21);
}

#[test]
fn of_two_stores_on_one_file_only_the_owner_writes() {
    let (_folder, path) = temp();
    let (a, b) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    a.create(&header(1), 1).unwrap();
    let episode = EpisodeId(1);
    let claimed = AtomicU64::new(0);
    let kept = std::thread::scope(|scope| {
        // The first goes on until it is told that it was taken over.
        let first = scope.spawn(|| {
            let mut kept = 0;
            loop {
                let late = claimed.load(Ordering::SeqCst) != 0;
                match a.append(episode, 1, &[input(kept + 1, 0)]) {
                    Ok(()) if late => panic!("kept for a former owner"),
                    Ok(()) => kept += 1,
                    Err(RecordError::NotOwner { owner: 2, .. }) => return kept,
                    Err(other) => panic!("{other}"),
                }
            }
        });
        let epoch = b.claim(episode);
        claimed.store(1, Ordering::SeqCst);
        assert_eq!(epoch, Ok(2));
        let seen = b.load(episode).unwrap().entries.len() as u64;
        let kept = first.join().unwrap();
        assert_eq!(kept, seen, "nothing came in after the claim");
        kept
    });
    b.append(episode, 2, &[input(kept + 1, 0)]).unwrap();
    let record = a.load(episode).unwrap();
    assert_eq!(record.entries.len() as u64, kept + 1);
    assert_eq!(record.check(), Ok(()));
}

#[test]
fn two_claims_at_once_give_two_epochs() {
    let (_folder, path) = temp();
    let (a, b) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    a.create(&header(1), 1).unwrap();
    let mut epochs = std::thread::scope(|scope| {
        let claims = [&a, &b].map(|store| scope.spawn(|| store.claim(EpisodeId(1)).unwrap()));
        claims.map(|claim| claim.join().unwrap())
    });
    epochs.sort();
    assert_eq!(epochs, [2, 3]);
}

#[test]
fn a_full_disk_refuses_the_large_write_only_and_heals() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.create(&header(1), 1).unwrap();
    store.create(&header(2), 1).unwrap();
    let large = |n: u64| {
        let entries = (1..=2000).map(|seq| input(seq, 0)).collect();
        Write::Append { episode: EpisodeId(n), epoch: 1, entries }
    };
    store.bound(0).unwrap();
    let release = hold(&store);
    let [first, too_large, last] =
        [append(1, 1, 1), large(2), append(1, 1, 2)].map(|write| submit(&store, write));
    drop(release);
    assert_eq!(first.recv().unwrap(), Ok(Written::Done));
    assert_eq!(too_large.recv().unwrap(), Err(RecordError::Full { path: path.clone() }));
    assert_eq!(last.recv().unwrap(), Ok(Written::Done));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [input(1, 0), input(2, 0)]);
    assert_eq!(store.load(EpisodeId(2)).unwrap().entries, [], "nothing is half applied");
    assert!(RecordError::Full { path }.to_string().contains("free space"));

    store.bound(1 << 30).unwrap();
    store.write(large(2)).unwrap();
    assert_eq!(store.load(EpisodeId(2)).unwrap().entries.len(), 2000);
}

#[test]
fn too_many_waiting_writes_are_refused_at_once() {
    let (_folder, path) = temp();
    let tuning = Tuning { waiting_max: 1, ..Tuning::default() };
    let store = SqliteStore::tuned(&path, tuning).unwrap();
    store.create(&header(1), 1).unwrap();
    let release = hold(&store);
    let waits = submit(&store, append(1, 1, 1));
    let refused = submit(&store, append(1, 1, 2));
    assert_eq!(refused.try_recv(), Ok(Err(RecordError::Busy { waiting: 1 })));
    drop(release);
    assert_eq!(waits.recv().unwrap(), Ok(Written::Done));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [input(1, 0)]);
}

#[test]
fn closing_does_what_was_accepted() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    store.create(&header(1), 1).unwrap();
    let release = hold(&store);
    let answers: Vec<_> = (1..=100).map(|seq| submit(&store, append(1, 1, seq))).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(store));
        drop(release);
    });
    assert!(answers.iter().all(|answered| answered.try_recv() == Ok(Ok(Written::Done))));
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries.len(), 100);
}

#[test]
fn the_last_owner_may_be_an_answer() {
    let (_folder, path) = temp();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let release = hold(&store);
    let (done, ended) = mpsc::channel();
    let last = store.clone();
    let answer = move |_| {
        drop(last);
        done.send(()).unwrap();
    };
    store.submit(Write::Create { header: header(1), epoch: 1, session: None }, Box::new(answer));
    drop(store);
    drop(release);
    assert_eq!(ended.recv(), Ok(()));
}

#[test]
fn equal_scenarios_are_kept_once_and_go_with_their_last_record() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
    }
    let mut other = header(4);
    other.scenario = "{}".into();
    store.create(&other, 1).unwrap();
    let count = || -> i64 {
        let db = Connection::open(&path).unwrap();
        db.query_row("SELECT count(*) FROM scenarios", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 2);
    store.prune(&Prune { keep_newest: Some(2), ..Prune::default() }).unwrap();
    assert_eq!(count(), 2);
    store.prune(&Prune { keep_newest: Some(1), ..Prune::default() }).unwrap();
    assert_eq!(count(), 1);
    assert_eq!(store.load(EpisodeId(4)).unwrap().header, other);
}

#[test]
fn age_is_told_by_the_database() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
    }
    let db = Connection::open(&path).unwrap();
    db.execute("UPDATE episodes SET created_s = created_s - 5000 WHERE id <= 2", []).unwrap();
    store.append(EpisodeId(2), 1, &[end(0)]).unwrap();
    let old = Prune { older_than_s: Some(3600), ended_only: true, ..Prune::default() };
    assert_eq!(store.prune(&old), Ok(1));
    assert_eq!(store.prune(&Prune { ended_only: false, ..old }), Ok(1));
    let left = store.list(&Filter::default()).unwrap();
    assert_eq!(left.iter().map(|s| s.episode.0).collect::<Vec<_>>(), [3]);
    assert!(left[0].created_s.unwrap() > 1_700_000_000);
}

#[test]
fn a_damaged_record_is_told_from_its_neighbors() {
    let (_folder, path) = temp();
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
        store.append(EpisodeId(n), 1, &[input(1, 0), step(1, 0, 9)]).unwrap();
    }
    let db = Connection::open(&path).unwrap();
    db.execute("DELETE FROM entries WHERE id = 1 AND position = 0", []).unwrap();
    db.execute("UPDATE entries SET line = '{' WHERE id = 2 AND position = 1", []).unwrap();
    for (n, said) in [(1, "entry 1 of episode 0000000000000001"), (2, "line 3 of the record")] {
        let error = store.load(EpisodeId(n)).unwrap_err();
        assert!(matches!(error, RecordError::Damaged { .. }));
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(store.load(EpisodeId(3)).unwrap().check(), Ok(()));
}
