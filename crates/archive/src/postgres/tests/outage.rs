//! Tests: a server that goes away while it is written to. What was answered is there, once.

use super::*;
use std::sync::atomic::AtomicBool;

fn impatient(address: &str, patience: Duration) -> PostgresStore {
    let tuning = Tuning { patience, answer: Duration::from_secs(1), ..Tuning::default() };
    PostgresStore::tuned(&Address::new(address).unwrap(), tuning).unwrap()
}

#[test]
fn a_server_that_restarts_loses_no_write_and_does_none_twice() {
    let test = "a server that restarts loses no write";
    let Some(server) = Server::start(test, Listen::Socket) else { return };
    let store = open(&server.address(&server.database()));
    let done = AtomicBool::new(false);
    let counts: Vec<_> = (1..=4).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for (n, count) in (1..).zip(&counts) {
            let (store, done) = (&store, &done);
            store.create(&header(n), 1).unwrap();
            scope.spawn(move || {
                for seq in 1.. {
                    store.append(EpisodeId(n), 1, &[input(seq, 0)]).unwrap();
                    count.store(seq, Ordering::SeqCst);
                    if done.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        for round in 0..3 {
            let before: Vec<_> = counts.iter().map(|count| count.load(Ordering::SeqCst)).collect();
            let moved = |(count, before): (&AtomicU64, &u64)| {
                while count.load(Ordering::SeqCst) <= before + 5 {
                    std::thread::yield_now();
                }
            };
            counts.iter().zip(&before).for_each(moved);
            if round == 1 {
                server.crash()
            } else {
                server.stop()
            }
            server.start_again();
        }
        done.store(true, Ordering::SeqCst);
    });
    for (n, count) in (1..).zip(&counts) {
        let expected: Vec<_> = (1..=count.load(Ordering::SeqCst)).map(|n| input(n, 0)).collect();
        assert_eq!(store.load(EpisodeId(n)).unwrap().entries, expected);
    }
}

#[test]
fn connections_that_are_cut_lose_no_write_and_do_none_twice() {
    let test = "connections that are cut";
    let Some(server) = Server::start(test, Listen::Socket) else { return };
    let name = server.database();
    let store = open(&server.address(&name));
    store.create(&header(1), 1).unwrap();
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE application_name = 'mayday'";
    let done = AtomicBool::new(false);
    let kept = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut kept = 0;
            while !done.load(Ordering::SeqCst) {
                store.append(EpisodeId(1), 1, &[input(kept + 1, 0)]).unwrap();
                kept += 1;
            }
            kept
        });
        let mut cut_by_now = 0;
        while cut_by_now < 20 && !writer.is_finished() {
            cut_by_now += server.sql(&name, cut).parse::<u64>().unwrap();
        }
        done.store(true, Ordering::SeqCst);
        writer.join().unwrap()
    });
    let expected: Vec<_> = (1..=kept).map(|n| input(n, 0)).collect();
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, expected);
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again_and_not_written_twice() {
    let Some(server) = server("an answer that was lost") else { return };
    let name = server.database();
    let store = open(&server.address(&name));
    store.create(&header(1), 1).unwrap();
    // As after a lost answer: the row says that this very write was the last.
    let (writer, written) = {
        let row = server.sql(&name, "SELECT writer, written FROM mayday.episodes");
        let (writer, written) = row.split_once('|').unwrap();
        (writer.to_string(), written.parse::<i64>().unwrap())
    };
    server.sql(&name, &format!("UPDATE mayday.episodes SET written = {}", written + 1));
    assert_eq!(store.append(EpisodeId(1), 1, &[input(1, 0)]), Ok(()));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [], "it stands for one that was done");
    assert_eq!(store.append(EpisodeId(1), 1, &[input(1, 0)]), Ok(()));
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [input(1, 0)]);
    // A claim whose answer was lost says the epoch that it gave.
    server.sql(&name, &format!("UPDATE mayday.episodes SET written = {}, epoch = 2", written + 3));
    assert_eq!(store.claim(EpisodeId(1)), Ok(2));
    assert_eq!(store.claim(EpisodeId(1)), Ok(3));
    assert_eq!(writer, server.sql(&name, "SELECT writer FROM mayday.episodes"));
}

#[test]
fn a_server_that_stays_away_is_given_up_and_used_again_when_it_is_back() {
    let test = "a server that stays away";
    let Some(server) = Server::start(test, Listen::Socket) else { return };
    let store = impatient(&server.address(&server.database()), Duration::from_millis(300));
    store.create(&header(1), 1).unwrap();
    server.stop();
    let error = store.append(EpisodeId(1), 1, &[input(1, 0)]).unwrap_err().to_string();
    let lost = ["broke off during a write", "cannot be reached"];
    assert!(lost.iter().any(|words| error.contains(words)), "{error}");
    let error = store.load(EpisodeId(1)).unwrap_err().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
    server.start_again();
    // Whether the first one was kept is what the record says.
    let kept = store.load(EpisodeId(1)).unwrap().entries.len() as u64;
    store.append(EpisodeId(1), 1, &[input(kept + 1, 0)]).unwrap();
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries.len() as u64, kept + 1);
}

#[test]
fn somebody_who_holds_a_row_is_waited_for_and_not_for_ever() {
    let Some(server) = server("somebody who holds a row") else { return };
    let name = server.database();
    let address = server.address(&name);
    let store = impatient(&address, Duration::from_millis(1500));
    store.create(&header(1), 1).unwrap();
    let (locked, holds) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let address = Address::new(&address).unwrap();
        scope.spawn(move || {
            runtime().unwrap().block_on(async {
                let options = address.options().unwrap();
                let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
                let held = "BEGIN; SELECT 1 FROM mayday.episodes FOR UPDATE";
                sqlx::Executor::execute(&mut db, sqlx::raw_sql(held)).await.unwrap();
                locked.send(()).unwrap();
                assert!(released.recv().is_err());
            });
        });
        holds.recv().unwrap();
        let error = store.append(EpisodeId(1), 1, &[input(1, 0)]).unwrap_err().to_string();
        assert!(error.contains("lock timeout"), "{error}");
        drop(release);
    });
    store.append(EpisodeId(1), 1, &[input(1, 0)]).unwrap();
    assert_eq!(store.load(EpisodeId(1)).unwrap().entries, [input(1, 0)]);
}
