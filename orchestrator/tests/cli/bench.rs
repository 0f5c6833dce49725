//! Measurements that are broken off leave nothing behind.
#![cfg(target_os = "linux")]

use crate::kit::{command, signal, until, wait};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// Processes whose command line has these words.
fn running(words: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|one| fs::read(one.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(words)).count()
}

fn empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_bench_that_is_broken_off_takes_its_server_and_its_folder_along() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    for (part, begins) in [("agents", "agents: steps"), ("worlds", "memory")] {
        let mut command = command(&["bench", part, "--quick"]);
        command.env("TMPDIR", &place).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let begun = said.find(|line| line.as_ref().is_ok_and(|line| line.contains(begins)));
        assert!(begun.is_some(), "{part} begins with {begins}");
        if part == "agents" {
            until("its server runs", || (running(&place) == 1).then_some(()));
        }
        signal(&child, rustix::process::Signal::INT);
        assert_eq!(wait(&mut child), Some(130), "{part}");
        until("its server is gone", || (running(&place) == 0).then_some(()));
        assert!(empty(folder.path()), "{part} leaves its folder");
    }
}
