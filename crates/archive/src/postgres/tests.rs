//! Tests: owners in two stores, groups, servers that go away and come back, and what is said of
//! servers that cannot be used.

mod open;
mod outage;

use super::*;
use crate::law::{end, header, input, step};
use pgtest::{Listen, Server};
use record::Prune;
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;

type Answered = Receiver<Result<Written, RecordError>>;

/// One server for all tests that do it no harm.
fn server(test: &str) -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let started = SERVER.get_or_init(|| {
        pgtest::found().and_then(|_| Server::start("tests on PostgreSQL", Listen::Socket))
    });
    if started.is_none() {
        pgtest::skip(test, "PostgreSQL's programs are not installed");
    }
    started.as_ref()
}

/// The address of a database of the test's own.
pub(crate) fn database(test: &str) -> Option<String> {
    let server = server(test)?;
    Some(server.address(&server.database()))
}

fn open(address: &str) -> PostgresStore {
    PostgresStore::open(&Address::new(address).unwrap()).unwrap()
}

fn append(episode: u64, epoch: u64, seq: u64) -> Write {
    Write::Append { episode: EpisodeId(episode), epoch, entries: vec![input(seq, 0)] }
}

fn submit(store: &PostgresStore, write: Write) -> Answered {
    let (answer, answered) = channel();
    store.submit(write, answer);
    answered
}

/// Holds the writer between two groups until the sender is dropped.
fn hold(store: &PostgresStore) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (held, holding) = mpsc::channel();
    let claim = Write::Claim { episode: EpisodeId(0) };
    let answer = move |_| {
        held.send(()).unwrap();
        assert!(released.recv().is_err());
    };
    store.submit(claim, Box::new(answer));
    holding.recv().unwrap();
    release
}

#[test]
fn writes_that_wait_share_a_statement_and_only_the_refused_fail() {
    let Some(address) = database("writes that wait share a statement") else { return };
    let store = open(&address);
    for n in 1..=50 {
        store.create(&header(n), 1).unwrap();
    }
    let release = hold(&store);
    let before = store.statements();
    let answers: Vec<_> = (1..=50).map(|n| submit(&store, append(n, 1 + n % 2, 1))).collect();
    let unknown = submit(&store, append(99, 1, 1));
    let again = submit(&store, append(2, 1, 2));
    drop(release);
    for (n, answered) in (1..=50).zip(answers) {
        let episode = EpisodeId(n);
        let refused = Err(RecordError::NotOwner { episode, yours: 2, owner: 1 });
        assert_eq!(answered.recv().unwrap(), if n % 2 == 0 { Ok(Written::Done) } else { refused });
    }
    assert!(matches!(unknown.recv().unwrap(), Err(RecordError::Unknown { .. })));
    assert_eq!(again.recv().unwrap(), Ok(Written::Done));
    assert_eq!(store.statements() - before, 2, "one episode stood twice");
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, []);
    assert_eq!(store.load(EpisodeId(2)).unwrap().entries, [input(1, 0), input(2, 0)]);
    assert_eq!(store.load(EpisodeId(4)).unwrap().entries, [input(1, 0)]);
}

#[test]
fn a_store_may_be_opened_and_closed_within_a_runtime() {
    let Some(address) = database("a store may be opened within a runtime") else { return };
    runtime().unwrap().block_on(async {
        let store = open(&address);
        store.create(&header(1), 1).unwrap();
        drop(store);
        let nowhere = Address::new("postgres://joe@%2Fnowhere/r").unwrap();
        PostgresStore::open(&nowhere).unwrap_err();
    });
}

#[test]
fn what_the_server_cannot_do_fails_alone() {
    let Some(address) = database("what the server cannot do fails alone") else { return };
    let store = open(&address);
    store.create(&header(1), 1).unwrap();
    let release = hold(&store);
    let mut bad = header(2);
    // PostgreSQL keeps no zero bytes.
    bad.scenario_name = "a\0b".into();
    let bad = submit(&store, Write::Create { header: bad, epoch: 1, session: None });
    let good = submit(&store, append(1, 1, 1));
    let other = submit(&store, Write::Create { header: header(3), epoch: 1, session: None });
    drop(release);
    let error = bad.recv().unwrap().unwrap_err().to_string();
    assert!(error.contains("SQLSTATE 22021"), "{error}");
    assert_eq!(good.recv().unwrap(), Ok(Written::Done));
    assert_eq!(other.recv().unwrap(), Ok(Written::Done));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [input(1, 0)]);
    store.load(EpisodeId(3)).unwrap();
}

#[test]
fn a_hundred_threads_append_in_two_stores() {
    let Some(address) = database("a hundred threads append in two stores") else { return };
    let stores = [open(&address), open(&address)];
    std::thread::scope(|scope| {
        for n in 0..100 {
            let store = &stores[n as usize % 2];
            scope.spawn(move || {
                store.create(&header(n), n).unwrap();
                for seq in 1..=10 {
                    store.append(EpisodeId(n), n, &[input(seq, 0)]).unwrap();
                    let kept = store.load(EpisodeId(n)).unwrap().entries.len();
                    assert_eq!(kept as u64, seq, "an answered append can be read");
                }
            });
        }
    });
    let expected: Vec<_> = (1..=10).map(|seq| input(seq, 0)).collect();
    for n in 0..100 {
        assert_eq!(stores[1].load(EpisodeId(n)).unwrap().entries, expected);
    }
    assert!(stores.iter().all(|store| store.statements() <= 50 * 11));
}

#[test]
fn of_two_stores_on_one_server_only_the_owner_writes() {
    let Some(address) = database("of two stores only the owner writes") else { return };
    let (a, b) = (open(&address), open(&address));
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
    let Some(address) = database("two claims at once give two epochs") else { return };
    let (a, b) = (open(&address), open(&address));
    a.create(&header(1), 1).unwrap();
    let mut epochs = std::thread::scope(|scope| {
        let claims = [&a, &b].map(|store| scope.spawn(|| store.claim(EpisodeId(1)).unwrap()));
        claims.map(|claim| claim.join().unwrap())
    });
    epochs.sort();
    assert_eq!(epochs, [2, 3]);
}

#[test]
fn too_many_waiting_writes_are_refused_at_once() {
    let Some(address) = database("too many waiting writes are refused") else { return };
    let tuning = Tuning { waiting_max: 1, ..Tuning::default() };
    let store = PostgresStore::tuned(&Address::new(&address).unwrap(), tuning).unwrap();
    store.create(&header(1), 1).unwrap();
    let release = hold(&store);
    let waits = submit(&store, append(1, 1, 1));
    let refused = submit(&store, append(1, 1, 2));
    assert_eq!(refused.try_recv(), Ok(Err(RecordError::Busy { waiting: 1 })));
    drop(release);
    assert_eq!(waits.recv().unwrap(), Ok(Written::Done));
}

#[test]
fn closing_does_what_was_accepted_and_the_last_owner_may_be_an_answer() {
    let Some(address) = database("closing does what was accepted") else { return };
    let store = Arc::new(open(&address));
    store.create(&header(1), 1).unwrap();
    let release = hold(&store);
    let answers: Vec<_> = (1..=100).map(|seq| submit(&store, append(1, 1, seq))).collect();
    let (done, ended) = mpsc::channel();
    let last = store.clone();
    let answer = move |_| {
        drop(last);
        done.send(()).unwrap();
    };
    store.submit(Write::Create { header: header(2), epoch: 1, session: None }, Box::new(answer));
    drop(store);
    drop(release);
    assert_eq!(ended.recv(), Ok(()));
    assert!(answers.iter().all(|answered| answered.recv() == Ok(Ok(Written::Done))));
    assert_eq!(open(&address).load(EpisodeId(1)).unwrap().entries.len(), 100);
}

#[test]
fn equal_scenarios_are_kept_once_and_go_with_their_last_record() {
    let test = "equal scenarios are kept once";
    let Some(server) = server(test) else { return };
    let name = server.database();
    let store = open(&server.address(&name));
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
        store.append(EpisodeId(n), 1, &[input(1, 0), step(1, 0, 9)]).unwrap();
    }
    let mut other = header(4);
    other.scenario = "{}".into();
    store.create(&other, 1).unwrap();
    let count = || {
        let tables = ["scenarios", "entries"];
        tables.map(|table| server.sql(&name, &format!("SELECT count(*) FROM mayday.{table}")))
    };
    assert_eq!(count(), ["2", "6"]);
    store.prune(&Prune { keep_newest: Some(2), ..Prune::default() }).unwrap();
    assert_eq!(count(), ["2", "2"]);
    store.prune(&Prune { keep_newest: Some(1), ..Prune::default() }).unwrap();
    assert_eq!(count(), ["1", "0"]);
    assert_eq!(store.load(EpisodeId(4)).unwrap().header, other);
}

#[test]
fn age_is_told_by_the_database() {
    let Some(server) = server("age is told by the database") else { return };
    let name = server.database();
    let store = open(&server.address(&name));
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
    }
    server.sql(
        &name,
        "UPDATE mayday.episodes SET created = created - interval '5000 s' WHERE id < 3",
    );
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
    let Some(server) = server("a damaged record is told from its neighbors") else { return };
    let name = server.database();
    let store = open(&server.address(&name));
    for n in 1..=3 {
        store.create(&header(n), 1).unwrap();
        store.append(EpisodeId(n), 1, &[input(1, 0), step(1, 0, 9)]).unwrap();
    }
    server.sql(&name, "DELETE FROM mayday.entries WHERE id = 1 AND position = 0");
    server.sql(&name, "UPDATE mayday.entries SET line = '{' WHERE id = 2 AND position = 1");
    for (n, said) in [(1, "has 1 entries of 2"), (2, "line 3 of the record")] {
        let error = store.load(EpisodeId(n)).unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains(said), "{error}");
    }
    assert_eq!(store.load(EpisodeId(3)).unwrap().check(), Ok(()));
}
