//! The Python client, its examples and the environment folder, as `clients/python/check` tests
//! them: with tools and packages of their own, against this binary.

use crate::kit;
use std::process::{Command, Stdio};

/// How the script says that this machine cannot run it.
const UNAVAILABLE: i32 = 77;

#[test]
fn the_client_is_sound_and_plays() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../clients/python/check");
    let venv = concat!(env!("CARGO_TARGET_TMPDIR"), "/clients-venv");
    let binary = kit::command(&[]).get_program().to_owned();
    let mut command = Command::new("bash");
    command.arg(script).env("MAYDAY_BINARY", binary).env("MAYDAY_CLIENT_VENV", venv);
    let Ok(done) = command.stdin(Stdio::null()).output() else {
        return kit::skip("the_client_is_sound_and_plays", "there is no bash");
    };
    let said = String::from_utf8_lossy(&done.stdout);
    if done.status.code() == Some(UNAVAILABLE) {
        let why = said.lines().last().unwrap_or("unavailable");
        return kit::skip("the_client_is_sound_and_plays", why);
    }
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{stderr}");
    // As many tests as nothing would be no success.
    let ran = stderr.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next());
    let ran: u32 = ran.and_then(|count| count.parse().ok()).expect("the tests are counted");
    assert!(ran >= 28, "{ran} tests ran\n{stderr}");
}
