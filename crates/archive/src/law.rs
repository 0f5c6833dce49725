//! Tests: the rules that every store keeps, run on each of them.

use crate::postgres::tests::database;
use crate::{Address, PostgresStore};
use model::{Digest, Digester, EpisodeId, Tick};
use record::{
    Actor, EndReason, Entry, Filter, Header, Input, MemoryStore, OffStore, Prune, Record,
    RecordError, SqliteStore, Step, Store, Summary, Write,
};
use std::sync::Arc;

/// Runs a test on an empty store of each kind that keeps records.
fn each(mut test: impl FnMut(Arc<dyn Store>)) {
    test(Arc::new(MemoryStore::new()));
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(SqliteStore::open(&folder.path().join("records.db")).unwrap()));
    if let Some(address) = database("the law of stores, on PostgreSQL") {
        test(Arc::new(PostgresStore::open(&Address::new(&address).unwrap()).unwrap()));
    }
}

pub(crate) fn input(seq: u64, tick: i64) -> Entry {
    let body = format!(r#"{{"verb":"scale_component","value":{seq}}}"#);
    Entry::Input(Input { seq, tick: Tick(tick), actor: Actor::Agent, body })
}

pub(crate) fn step(number: u32, from: i64, to: i64) -> Entry {
    Entry::Step(Step {
        number,
        from: Tick(from),
        to: Tick(to),
        reply: Digester::of(&number.to_le_bytes()),
        world: Digest(u64::MAX, u64::from(number)),
        impact_micro: i64::from(number) - 2,
    })
}

pub(crate) fn end(tick: i64) -> Entry {
    Entry::End { tick: Tick(tick), reason: EndReason::StepLimit }
}

pub(crate) fn header(episode: u64) -> Header {
    let scenario = r#"{"name":"lock \"storm\"","share":0.25}"#.to_string();
    Header::new(EpisodeId(episode), u64::MAX - 1, "db/lock-storm", scenario)
}

const ONE: EpisodeId = EpisodeId(1);

#[test]
fn what_was_appended_is_loaded_in_order() {
    each(|store| {
        let header = Header::new(EpisodeId(u64::MAX), u64::MAX, "a/b", r#"{"é":1}"#.into());
        store.create(&header, 1).unwrap();
        assert_eq!(store.load(header.episode).unwrap().entries, []);
        store.append(header.episode, 1, &[input(1, 0), step(1, 0, 30)]).unwrap();
        store.append(header.episode, 1, &[]).unwrap();
        store.append(header.episode, 1, &[input(2, 30), step(2, 30, 60), end(60)]).unwrap();
        let record = store.load(header.episode).unwrap();
        assert_eq!(record.header, header);
        let entries = [input(1, 0), step(1, 0, 30), input(2, 30), step(2, 30, 60), end(60)];
        assert_eq!(record.entries, entries);
        assert_eq!(record.check(), Ok(()));
    });
}

#[test]
fn only_the_owner_writes() {
    each(|store| {
        store.create(&header(1), 5).unwrap();
        store.append(ONE, 5, &[input(1, 0)]).unwrap();
        assert_eq!(store.claim(ONE), Ok(6));
        assert_eq!(store.owner(ONE), Ok(6));
        let stale = |yours| Err(RecordError::NotOwner { episode: ONE, yours, owner: 6 });
        assert_eq!(store.append(ONE, 5, &[input(2, 0)]), stale(5));
        assert_eq!(store.append(ONE, 7, &[input(2, 0)]), stale(7));
        assert_eq!(store.set_score(ONE, 5, 0.5, "{}"), stale(5));
        assert_eq!(store.load(ONE).unwrap().entries, [input(1, 0)]);
        assert_eq!(store.list(&Filter::default()).unwrap()[0].score, None);
        store.append(ONE, 6, &[step(1, 0, 9)]).unwrap();
        assert_eq!(store.claim(ONE), Ok(7));
        assert_eq!(store.load(ONE).unwrap().entries, [input(1, 0), step(1, 0, 9)]);
    });
}

#[test]
fn unknown_and_known_episodes_are_told() {
    each(|store| {
        let unknown = RecordError::Unknown { episode: ONE };
        assert_eq!(store.load(ONE), Err(unknown.clone()));
        assert_eq!(store.owner(ONE), Err(unknown.clone()));
        assert_eq!(store.append(ONE, 1, &[]), Err(unknown.clone()));
        assert_eq!(store.claim(ONE), Err(unknown.clone()));
        assert_eq!(store.set_score(ONE, 1, 0.0, "{}"), Err(unknown));
        store.create(&header(1), 1).unwrap();
        let mut other = header(1);
        other.seed = 3;
        assert_eq!(store.create(&other, 9), Err(RecordError::Exists { episode: ONE }));
        assert_eq!(store.load(ONE).unwrap().header, header(1));
        store.append(ONE, 1, &[]).unwrap();
    });
}

#[test]
fn nothing_follows_the_end() {
    each(|store| {
        store.create(&header(1), 1).unwrap();
        let ended = Err(RecordError::Ended { episode: ONE });
        assert_eq!(store.append(ONE, 1, &[input(1, 0), end(0), input(2, 0)]), ended);
        assert_eq!(store.load(ONE).unwrap().entries, []);
        store.append(ONE, 1, &[end(0)]).unwrap();
        assert_eq!(store.append(ONE, 1, &[input(1, 0)]), ended);
        assert_eq!(store.load(ONE).unwrap().entries, [end(0)]);
        store.set_score(ONE, 1, 1.0, "{}").unwrap();
    });
}

#[test]
fn lists_are_filtered_and_newest_first() {
    each(|store| {
        for n in [3, 1, 2] {
            let name = if n == 1 { "b/y" } else { "a/x" };
            store.create(&Header::new(EpisodeId(n), n, name, "{}".into()), 1).unwrap();
        }
        store.append(EpisodeId(3), 1, &[step(1, -60, 30), step(2, 30, 40), end(40)]).unwrap();
        store.append(ONE, 1, &[input(1, -9)]).unwrap();
        store.append(ONE, 1, &[]).unwrap();
        let ids = |filter: Filter| -> Vec<u64> {
            store.list(&filter).unwrap().iter().map(|s| s.episode.0).collect()
        };
        assert_eq!(ids(Filter::default()), [2, 1, 3]);
        assert_eq!(ids(Filter { newest: Some(2), ..Filter::default() }), [2, 1]);
        assert_eq!(ids(Filter { ended: Some(true), ..Filter::default() }), [3]);
        assert_eq!(ids(Filter { ended: Some(false), ..Filter::default() }), [2, 1]);
        assert_eq!(ids(Filter { scenario_name: Some("a/x".into()), ..Filter::default() }), [2, 3]);
        let episodes = vec![EpisodeId(3), EpisodeId(1), EpisodeId(8)];
        assert_eq!(ids(Filter { episodes, ..Filter::default() }), [1, 3]);

        store.set_score(EpisodeId(3), 1, 0.5, r#"{"impact":0.5}"#).unwrap();
        store.set_score(EpisodeId(3), 1, 0.75, r#"{"impact":0.75}"#).unwrap();
        let bad = store.set_score(EpisodeId(3), 1, f64::NAN, "{}");
        assert_eq!(bad, Err(RecordError::Score { episode: EpisodeId(3) }));
        let all = store.list(&Filter::default()).unwrap();
        assert_eq!((all[0].steps, all[0].last_tick, all[0].ended), (0, None, None));
        assert_eq!((all[1].steps, all[1].last_tick), (0, Some(Tick(-9))));
        let third = Summary {
            episode: EpisodeId(3),
            scenario_name: "a/x".into(),
            seed: 3,
            steps: 2,
            last_tick: Some(Tick(40)),
            ended: Some(EndReason::StepLimit),
            score: Some(0.75),
            terms: Some(r#"{"impact":0.75}"#.into()),
            created_s: all[2].created_s,
        };
        assert_eq!(all[2], third);
    });
}

#[test]
fn a_session_has_its_newest_episode() {
    each(|store| {
        let create = |n, session: Option<&str>| {
            let session = session.map(str::to_string);
            store.write(Write::Create { header: header(n), epoch: 1, session }).unwrap();
        };
        create(3, Some("s"));
        create(1, Some("s"));
        create(2, Some("t"));
        create(4, None);
        assert_eq!(store.of_session("s"), Ok(Some(ONE)));
        assert_eq!(store.of_session("t"), Ok(Some(EpisodeId(2))));
        assert_eq!(store.of_session("u"), Ok(None));
        store.prune(&Prune { episodes: Some(vec![ONE]), ..Prune::default() }).unwrap();
        assert_eq!(store.of_session("s"), Ok(Some(EpisodeId(3))));
    });
    assert_eq!(OffStore.of_session("s"), Ok(None));
}

#[test]
fn every_end_is_listed() {
    each(|store| {
        for (n, reason) in EndReason::ALL.into_iter().enumerate() {
            let episode = EpisodeId(n as u64);
            store.create(&header(episode.0), 1).unwrap();
            store.append(episode, 1, &[Entry::End { tick: Tick(0), reason }]).unwrap();
        }
        let ends = store.list(&Filter::default()).unwrap();
        let ends: Vec<_> = ends.iter().rev().filter_map(|summary| summary.ended).collect();
        assert_eq!(ends, EndReason::ALL);
    });
}

#[test]
fn pruning_removes_what_meets_all_that_is_set() {
    // Episodes 1 to 6, created in this order; the odd ones are over.
    let left = |prune: Prune| {
        let mut all = Vec::new();
        each(|store| {
            for n in 1..=6 {
                store.create(&header(n), 1).unwrap();
                store.append(EpisodeId(n), 1, &[step(1, 0, 9)]).unwrap();
                if n % 2 == 1 {
                    store.append(EpisodeId(n), 1, &[end(9)]).unwrap();
                }
            }
            let count = store.prune(&prune).unwrap();
            let rest = store.list(&Filter::default()).unwrap();
            let rest: Vec<_> = rest.iter().rev().map(|s| s.episode.0).collect();
            assert_eq!(count as usize + rest.len(), 6);
            for n in 1..=6 {
                assert_eq!(store.load(EpisodeId(n)).is_ok(), rest.contains(&n));
            }
            all.push(rest);
        });
        assert!(all.len() >= 2 && all.iter().all(|one| *one == all[0]), "{all:?}");
        all.remove(0)
    };
    let none = Prune::default();
    assert_eq!(left(none.clone()), [1, 2, 3, 4, 5, 6]);
    assert_eq!(left(Prune { ended_only: true, ..none.clone() }), [1, 2, 3, 4, 5, 6]);
    assert_eq!(left(Prune { keep_newest: Some(2), ..none.clone() }), [5, 6]);
    assert_eq!(left(Prune { keep_newest: Some(0), ..none.clone() }), [] as [u64; 0]);
    assert_eq!(left(Prune { keep_newest: Some(6), ..none.clone() }), [1, 2, 3, 4, 5, 6]);
    let ended = Prune { keep_newest: Some(3), ended_only: true, ..none.clone() };
    assert_eq!(left(ended), [2, 4, 5, 6]);
    let some = Some(vec![EpisodeId(2), EpisodeId(3), EpisodeId(99)]);
    assert_eq!(left(Prune { episodes: some.clone(), ..none.clone() }), [1, 4, 5, 6]);
    assert_eq!(left(Prune { episodes: some, ended_only: true, ..none.clone() }), [1, 2, 4, 5, 6]);
    assert_eq!(left(Prune { episodes: Some(vec![]), ..none.clone() }), [1, 2, 3, 4, 5, 6]);
    let old = Prune { older_than_s: Some(1_000_000), ..none };
    assert_eq!(left(old), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_pruned_episode_may_be_created_again_and_is_the_newest() {
    each(|store| {
        store.create(&header(1), 1).unwrap();
        store.create(&header(2), 1).unwrap();
        store.append(ONE, 1, &[input(1, 0)]).unwrap();
        store.prune(&Prune { episodes: Some(vec![ONE]), ..Prune::default() }).unwrap();
        store.create(&header(1), 1).unwrap();
        assert_eq!(store.load(ONE).unwrap().entries, []);
        assert_eq!(store.list(&Filter::default()).unwrap()[0].episode, ONE);
    });
}

#[test]
fn exported_files_hold_the_canonical_bytes() {
    each(|store| {
        for n in 1..=3 {
            store.create(&header(n), 1).unwrap();
            store.append(EpisodeId(n), 1, &[input(1, 0), step(1, 0, 9)]).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("deep/er");
        let filter = Filter { newest: Some(2), ..Filter::default() };
        let files = record::export(&*store, &filter, &out).unwrap();
        let names = ["0000000000000003.jsonl", "0000000000000002.jsonl"];
        assert_eq!(files, names.map(|name| out.join(name)));
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
        let bytes = std::fs::read(&files[0]).unwrap();
        assert_eq!(Record::from_jsonl(&bytes), store.load(EpisodeId(3)));
        assert_eq!(bytes, store.load(EpisodeId(3)).unwrap().to_jsonl().into_bytes());
        let error = record::export(&*store, &filter, &files[0]).unwrap_err();
        assert!(matches!(error, RecordError::Export { path, .. } if path == files[0]));
    });
}

#[test]
fn a_store_that_is_off_says_so() {
    let store = OffStore;
    store.create(&header(1), 1).unwrap();
    store.append(ONE, 1, &[input(1, 0)]).unwrap();
    store.set_score(ONE, 1, 0.5, "{}").unwrap();
    assert_eq!(store.load(ONE), Err(RecordError::Off));
    assert_eq!(store.owner(ONE), Err(RecordError::Off));
    assert_eq!(store.claim(ONE), Err(RecordError::Off));
    assert_eq!(store.list(&Filter::default()), Ok(vec![]));
    assert_eq!(store.prune(&Prune { keep_newest: Some(0), ..Prune::default() }), Ok(0));
    assert!(RecordError::Off.to_string().contains("--records PATH"));
}
