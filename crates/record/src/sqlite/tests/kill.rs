//! Test: a process is killed in mid-append, and nothing that it was answered is lost.

use super::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::process::Stdio;

/// Set in the child only: the file it writes to.
const PATH: &str = "RECORD_KILL_CHILD";
/// Episodes the child plays at once.
const EPISODES: u64 = 8;
/// Entries of one append, so that half an append could be seen.
const ENTRIES: u64 = 3;

/// Plays until it is killed; does nothing when run as an ordinary test.
#[test]
#[expect(clippy::disallowed_methods, reason = "the parent test names the file to its child")]
fn child() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let store = SqliteStore::open(Path::new(&path)).unwrap();
    std::thread::scope(|scope| {
        for n in 0..EPISODES {
            let store = &store;
            scope.spawn(move || {
                store.create(&header(n), 1).unwrap();
                for first in (1..).step_by(ENTRIES as usize) {
                    let entries: Vec<_> =
                        (first..first + ENTRIES).map(|seq| input(seq, 0)).collect();
                    store.append(EpisodeId(n), 1, &entries).unwrap();
                    let line = format!("kept {n} {}\n", first + ENTRIES - 1);
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
#[expect(clippy::disallowed_types, reason = "only a process of its own can be killed")]
fn a_killed_process_loses_nothing_it_was_answered() {
    for after in [1, 50, 400] {
        let (_folder, path) = temp();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["sqlite::tests::kill::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(PATH, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while said.matches("kept ").count() < after {
            assert_ne!(output.read_line(&mut said).unwrap(), 0, "the child ended early: {said}");
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        output.read_to_string(&mut said).unwrap();

        let mut kept = BTreeMap::new();
        // A last line without its end was cut off; what it says cannot be told.
        for line in said.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            // The harness writes its own words into the same pipe, without a line break.
            let Some((_, numbers)) = line.trim_end().split_once("kept ") else { continue };
            let (episode, seq) = numbers.split_once(' ').unwrap();
            kept.insert(episode.parse().unwrap(), seq.parse().unwrap());
        }
        assert!(kept.values().sum::<u64>() >= ENTRIES);
        let store = SqliteStore::open(&path).unwrap();
        for (episode, seq) in kept {
            let episode = EpisodeId(episode);
            let record = store.load(episode).unwrap();
            let entries = record.entries.len() as u64;
            assert!(entries >= seq, "episode {episode} has {entries} entries of {seq}");
            assert_eq!(entries % ENTRIES, 0, "half an append was kept");
            assert_eq!(record.check(), Ok(()));
            // It goes on where it stands.
            let epoch = store.claim(episode).unwrap();
            store.append(episode, epoch, &[input(entries + 1, 0)]).unwrap();
        }
    }
}
