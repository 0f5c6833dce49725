//! Records: kept, gone on with, replayed, forked, exported.

use crate::kit::{command, episode, json, mayday, out, run, signal, until, wait};
use record::{Filter, SqliteStore, Store};
use std::path::Path;
use std::process::Stdio;

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn what_was_played_is_kept_and_plays_again_to_the_same_digests() {
    let folder = tempfile::tempdir().unwrap();
    let db = text(&folder.path().join("records.db"));
    let play = |more: &[&str]| {
        let mut args = run(&["--agents", "reference,random", "--seeds", "2", "--json"]);
        args.extend(["--records", &db]);
        args.extend(more);
        mayday(&args)
    };
    let first = play(&[]);
    assert_eq!(first.status.code(), Some(0));
    // The same episodes again: refused, or gone on with; there is nothing left to do then.
    let again = play(&[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--resume"));
    assert_eq!(play(&["--resume"]).stdout, first.stdout);

    let document = serde_json::from_slice(&first.stdout).unwrap();
    let played = episode(&document, "random");
    let id = played["episode"].as_str().unwrap();
    let listed = json(&["records", "list", "--records", &db, "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 4);
    let replayed = json(&["replay", id, "--records", &db, "--json"]);
    assert_eq!(replayed["world"], played["world"]);
    assert_eq!(replayed["grade"]["score"], played["score"]);
    assert_eq!(replayed["verified"], played["steps"]);

    // As a file, anywhere.
    let to = text(&folder.path().join("out"));
    let file = out(&["records", "export", id, "--records", &db, "--to", &to]);
    let told = out(&["replay", file.trim()]);
    assert!(told.contains("all digests as recorded"), "{told}");
    assert!(out(&["replay", file.trim(), "--until", "60"]).len() < told.len());
    assert_eq!(
        out(&["records", "show", &id[..8], "--records", &db]),
        std::fs::read_to_string(file.trim()).unwrap()
    );
    // Another build would give other digests.
    let bytes = std::fs::read_to_string(file.trim()).unwrap();
    let world = played["world"].as_str().unwrap();
    std::fs::write(file.trim(), bytes.replace(world, &"0".repeat(32))).unwrap();
    let other = mayday(&["replay", file.trim()]);
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("simulates otherwise"));

    assert_eq!(out(&["records", "prune", id, "--records", &db]), "1 records removed\n");
    assert_eq!(mayday(&["replay", id, "--records", &db]).status.code(), Some(2));
}

#[test]
fn a_fork_takes_another_way_from_a_step_on() {
    let folder = tempfile::tempdir().unwrap();
    let db = text(&folder.path().join("records.db"));
    let mut args = run(&["--agents", "noop,reference", "--seeds", "1", "--json"]);
    args.extend(["--records", &db]);
    let document = json(&args);
    let fork = |agent: &str, at: &str, actions: &[&str]| {
        let id = episode(&document, agent)["episode"].as_str().unwrap();
        let mut args = vec!["fork", id, "--records", &db, "--at", at, "--json"];
        actions.iter().for_each(|action| args.extend(["--action", *action]));
        json(&args)
    };
    let saved = fork("noop", "0", &[r#"{"action":"rollback","component":"web"}"#]);
    assert_eq!(saved["recorded"]["score"], 0.0);
    assert!(saved["fork"]["score"].as_f64() > Some(0.9), "{saved}");
    let lost = fork("reference", "0", &[]);
    assert!(lost["recorded"]["score"].as_f64() > Some(0.99), "{lost}");
    assert_eq!(lost["fork"]["score"], 0.0);
    let same = fork("reference", "3", &[]);
    assert_eq!(same["fork"], same["recorded"]);
    let id = episode(&document, "noop")["episode"].as_str().unwrap();
    let kept = text(&folder.path().join("fork.jsonl"));
    let mut args = vec!["fork", id, "--records", &db, "--at", "0", "--out", &kept];
    out(&args);
    out(&["replay", &kept]);
    // What cannot be written is known before anything is played.
    for (place, says) in [(&*kept, "is there already"), ("/no/such/folder/f", "does not exist")] {
        args[7] = place;
        let output = mayday(&args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{said}");
        assert!(said.contains("--out") && said.contains(says), "{said}");
    }
}

#[test]
fn ctrl_c_ends_a_batch_in_order_and_it_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db");
    let mut args = run(&["--agents", "random", "--seeds", "5000", "--threads", "1"]);
    let shown = text(&db);
    args.extend(["--records", &shown]);
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("an episode is over", || {
        // A store of its own: WAL lets it look on.
        let store = db.exists().then(|| SqliteStore::open(&db).ok()).flatten()?;
        let over = Filter { ended: Some(true), ..Filter::default() };
        (!store.list(&over).ok()?.is_empty()).then_some(())
    });
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(wait(&mut child), Some(130));
    let output = child.wait_with_output().unwrap();
    let (table, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(table.contains("│ random "), "the partial table: {table}");
    assert!(said.contains("of 5000 episodes are not over") && said.contains("--resume"), "{said}");
    // At most one was in the middle; it is brought to its end.
    let store = SqliteStore::open(&db).unwrap();
    let open = Filter { ended: Some(false), ..Filter::default() };
    assert!(store.list(&open).unwrap().len() <= 1);
    let few = store.list(&Filter::default()).unwrap().len().to_string();
    let mut args = run(&["--agents", "random", "--seeds", &few, "--resume"]);
    args.extend(["--records", &shown]);
    out(&args);
    assert!(store.list(&open).unwrap().is_empty());
}
