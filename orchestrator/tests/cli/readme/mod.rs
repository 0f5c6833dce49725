//! What the README tells people to type, run as it stands there: each block is a script of its own
//! in a copy of the checkout. Of the other documents, the commands of `mayday` have to exist.

mod blocks;
mod sandbox;

use crate::kit;
use blocks::{Block, blocks};
use sandbox::{Network, Ran, Sandbox};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a block is run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// By a `cargo` that has built the binary already: the README's first two commands are what
    /// the gate itself does. `MAYDAY_SOAK` takes the real one.
    Cargo,
    /// In a network of its own, where every port is free.
    Alone,
    /// With the registry of Python packages.
    Registry,
    /// With Docker, in a project of its own, at a port that the kernel chooses (`MAYDAY_PORT`);
    /// the image is made of the binary that is shipped.
    Docker,
}

/// The README's blocks of commands in their order: the heading above, how it is run, what it says
/// among other things, and the file that it leaves.
const BLOCKS: [(&str, Way, &[&str], &str); 10] = [
    ("Two commands", Way::Cargo, &["reference", "noop", "restart-all", "all tests ran"], ""),
    ("By curl", Way::Alone, &[r#""healthy""#, r#""firing":true"#, r#""done":true"#], ""),
    ("By the Python client", Way::Registry, &["done: True reward: "], ""),
    ("In containers", Way::Docker, &["agents: http://", r#""done":true"#], ""),
    (
        "Sixty seconds of the command line",
        Way::Alone,
        &["change/bad-deploy", "overload/retry-storm: ok, 2 seeds"],
        "scenario.schema.json",
    ),
    ("A seat of your own", Way::Alone, &["over: resolved", "reference"], ""),
    ("Records", Way::Alone, &["1.000", "fork: "], "mayday.db"),
    ("Processes", Way::Alone, &["reference"], ""),
    ("Training", Way::Alone, &[" episodes, "], "trajectories.jsonl"),
    ("Evaluation", Way::Alone, &["pass@1"], "results/report.html"),
];

/// Documents whose commands are not run, and only have to exist.
const OTHERS: [&str; 3] = ["docs", "clients/python/README.md", "CONTRIBUTING.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

/// The README's blocks of commands, each of which is listed above.
fn listed() -> Vec<Block> {
    let all = blocks(&fs::read_to_string(root().join("README.md")).expect("a README"));
    let known = |block: &&Block| ["sh", "text"].contains(&&*block.language);
    let strange: Vec<_> = all.iter().filter(|block| !known(block)).collect();
    assert!(strange.is_empty(), "neither commands (sh) nor output (text): {strange:?}");
    let commands: Vec<_> = all.into_iter().filter(|block| block.language == "sh").collect();
    let headings: Vec<_> = commands.iter().map(|block| &*block.heading).collect();
    let expected: Vec<_> = BLOCKS.iter().map(|(heading, ..)| *heading).collect();
    assert_eq!(headings, expected, "list new blocks of the README with the way they are run");
    commands
}

/// Runs the blocks of one way; what each came to is judged by `judge`.
fn run(way: Way, sandbox: &Sandbox, network: &Network, judge: impl Fn(&Ran) -> bool) {
    let commands = listed();
    for (block, (heading, of, says, leaves)) in commands.iter().zip(BLOCKS) {
        if of != way {
            continue;
        }
        let ran = sandbox.run(block, network);
        if judge(&ran) {
            assert!(ran.succeeded, "{heading}: {ran:#?}");
            for words in says {
                let said = ran.stdout.contains(words) || ran.stderr.contains(words);
                assert!(said, "{heading} does not say {words:?}: {ran:#?}");
            }
            assert!(sandbox.checkout().join(leaves).exists(), "{heading} leaves no {leaves}");
        }
    }
}

#[test]
fn the_first_two_commands_play_and_test() {
    const TEST: &str = "the_first_two_commands_play_and_test";
    // The gate runs the second one; a test that ran it would run itself.
    let gate = fs::read_to_string(root().join(".ci/run")).expect("the gate");
    assert!(gate.lines().any(|line| line.starts_with("cargo test --workspace 2>&1")));
    if !kit::is_shipped() {
        return kit::skip(TEST, "MAYDAY_BINARY names no optimized binary (`cargo xtask dist`)");
    }
    let sandbox = Sandbox::new(&root());
    let shim = if kit::soak() {
        format!("run) cd '{}' && exec '{}' \"$@\" ;;", root().display(), env!("CARGO"))
    } else {
        "run) shift 3 && exec mayday \"$@\" ;;".to_string()
    };
    sandbox.add_program(
        "cargo",
        &format!(
            "#!/bin/sh\ncase \"$*\" in\n\"run --release -- run\" | \"test --workspace\") ;;\n\
             *) echo \"not the README's: $*\" >&2 && exit 2 ;;\nesac\n\
             case \"$1\" in\n{shim}\ntest) echo 'all tests ran' ;;\nesac\n"
        ),
    );
    run(Way::Cargo, &sandbox, &Network::Shared, |_| true);
}

#[test]
fn commands_that_need_this_machine_only_do_what_they_say() {
    match Network::own() {
        Some(network) => run(Way::Alone, &Sandbox::new(&root()), &network, |_| true),
        None => kit::skip(
            "commands_that_need_this_machine_only_do_what_they_say",
            "there can be no network of its own here, and its ports are taken",
        ),
    }
}

#[test]
fn the_python_client_plays_as_it_is_shown() {
    const TEST: &str = "the_python_client_plays_as_it_is_shown";
    let version = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let python = Command::new("python3").args(["-c", version]).output();
    if !python.is_ok_and(|done| done.status.success()) {
        return kit::skip(TEST, "there is no python3 of version 3.11 or later with venv");
    }
    run(Way::Registry, &Sandbox::new(&root()), &Network::Shared, |ran| {
        // A registry that answers knows some version of everything.
        let signs = ["from versions: none", "ConnectionError", "Connection broken", "ProxyError"];
        let away = !ran.succeeded && signs.iter().any(|sign| ran.stderr.contains(sign));
        if away {
            kit::skip(TEST, "the registry of Python packages cannot be reached");
        }
        !away
    });
}

#[test]
fn containers_play_as_they_are_shown() {
    const TEST: &str = "containers_play_as_they_are_shown";
    let docker = Command::new("docker").arg("info").output();
    if !docker.is_ok_and(|done| done.status.success()) {
        return kit::skip(TEST, "there is no docker that answers `docker info`");
    }
    if !kit::is_shipped() {
        return kit::skip(TEST, "MAYDAY_BINARY names no binary for an image (`cargo xtask dist`)");
    }
    let sandbox = Sandbox::with_image(&root());
    run(Way::Docker, &sandbox, &Network::Shared, |_| true);
}

/// A command whose options are known explains itself when `--help` is added.
#[test]
fn commands_in_all_documents_exist() {
    let sandbox = Sandbox::empty();
    let mut count = 0;
    for document in OTHERS.iter().flat_map(|path| documents(&root().join(path))) {
        let text = fs::read_to_string(&document).expect("a document");
        for block in blocks(&text).iter().filter(|block| block.language == "sh") {
            for command in block.commands("mayday") {
                count += 1;
                let asked = format!("mayday() {{ command mayday \"$@\" --help; }}\n{command}\n");
                let asked = Block { text: asked, ..block.clone() };
                let ran = sandbox.run(&asked, &Network::Shared);
                let known = ran.succeeded && ran.stdout.contains("Usage: mayday");
                assert!(
                    known || is_placeholder(&ran.stderr),
                    "{}: {command}: {ran:#?}",
                    document.display()
                );
            }
        }
    }
    assert!(count >= 20, "{count} commands were found");
}

/// All that is wrong is a word in capitals, which stands for a value: its option exists.
fn is_placeholder(said: &str) -> bool {
    let value = said.strip_prefix("error: invalid value '").and_then(|rest| rest.split_once('\''));
    value.is_some_and(|(value, _)| value.chars().all(|c| c.is_ascii_uppercase()))
}

/// The file, or the Markdown files of the folder.
fn documents(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_path_buf()] };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = paths.filter(|path| path.extension() == Some("md".as_ref())).collect();
    found.sort();
    found
}
