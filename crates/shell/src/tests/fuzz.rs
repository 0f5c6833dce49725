//! Lines that nobody planned: no panic, no endless line, and every reply within its bounds.

use super::rig::{World, disk};
use model::Noise;

/// Words that mean something to the shell or to a program.
const WORDS: &[&str] = &[
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "${",
    "$",
    "$((",
    "))",
    ";",
    "&&",
    "||",
    "|",
    "&",
    ">",
    ">>",
    "<",
    "<<",
    "<<<",
    "2>&1",
    "&>",
    "#",
    "!",
    "\\",
    "\n",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    "{1..9}",
    "{a,b}",
    "if",
    "then",
    "else",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "case",
    "esac",
    "[[",
    "]]",
    ";;",
    "X=1",
    "$X",
    "${X:-a}",
    "${#X}",
    "${X%%*}",
    "$?",
    "/var/log",
    "/var/log/app.log",
    "/tmp/a",
    "/dev/null",
    "/",
    "..",
    "-l",
    "-rf",
    "-n",
    "5",
    "-9",
    "4200",
    "8080/tcp",
    "--help",
    "-i:8080",
    "-u",
    "postgresql",
    "nginx",
    "app",
    "-c",
    "-exec",
    "{}",
    "\\;",
    "-delete",
    "-name",
    "'*.log'",
    "s/a/b/g",
    "{print $1}",
    "localhost",
    "root",
    "é",
    "SELECT",
    "pg_stat_activity",
    "pods",
    "get",
    "-o",
    "%",
    "+%F",
    "-s",
    "0",
    "99999999999999999999",
    "-1",
    "",
];

/// A random line: words of the shell, names of programs, now and then any characters.
fn line(dice: Noise) -> String {
    let names: Vec<&str> = crate::commands::all().iter().flat_map(|c| c.names).copied().collect();
    let pick = |list: &[&'static str], n: u64| list[dice.bits(n as i64) as usize % list.len()];
    let count = 1 + dice.bits(-1) % 14;
    let mut line = String::new();
    for n in 0..count {
        let at = 10 * n;
        match dice.bits(at as i64) % 20 {
            0..6 => line += pick(&names, at + 1),
            6..19 => line += pick(WORDS, at + 1),
            _ => line.extend(char::from_u32(dice.bits(at as i64 + 2) as u32 % 0x500)),
        }
        if !dice.bits(at as i64 + 3).is_multiple_of(5) {
            line.push(' ');
        }
    }
    if dice.bits(-2).is_multiple_of(200) {
        line = line.repeat(1 + dice.bits(-3) as usize % 200);
    }
    line
}

#[expect(clippy::disallowed_methods, reason = "how long a soak lasts is no part of the world")]
fn lines() -> u64 {
    let soak = std::env::var("MAYDAY_SOAK").is_ok_and(|v| !v.is_empty() && v != "0");
    if soak { 200_000 } else { 3_000 }
}

fn fresh() -> World {
    let mut world = disk(true);
    // Small limits make the ends of them common.
    world.limits.steps = 512;
    world.limits.output = 1 << 16;
    world.limits.orders = 32;
    world
}

#[test]
fn no_line_breaks_the_terminal() {
    let (mut world, mut spent) = (fresh(), 0);
    let root = Noise::root(7).branch("lines");
    for n in 0..lines() {
        if n % 64 == 0 {
            world = fresh();
        }
        let line = line(root.index(n));
        let reply = world.line(&line);
        spent += u32::from(reply.spent.is_some());
        let shown = world.limits.shown + 64;
        assert!(reply.stdout.len() <= shown && reply.stderr.len() <= shown, "{line:?}");
        assert!((0..=255).contains(&reply.code), "{line:?}: {}", reply.code);
        assert_eq!(reply.spent.is_some(), reply.stderr.contains("bash: out of fuel"), "{line:?}");
        assert_eq!((world.session.host.0, world.session.user.as_str()), (0, "root"), "{line:?}");
        let disk = world.view().disk;
        assert!(disk.used >= 0.0 && disk.used <= disk.capacity, "{line:?}");
    }
    assert!(spent > 0, "some of the lines end for fuel");
}

#[test]
fn the_same_line_gives_the_same_reply() {
    let root = Noise::root(9).branch("twice");
    for n in 0..200 {
        let line = line(root.index(n));
        let (mut a, mut b) = (fresh(), fresh());
        assert_eq!(a.line(&line), b.line(&line), "{line:?}");
        assert_eq!((a.view(), a.session), (b.view(), b.session), "{line:?}");
    }
}

#[test]
fn deep_and_wide_lines_end() {
    let mut world = fresh();
    for opener in [
        "(",
        "$(",
        "`",
        "{ ",
        "${x:-",
        "$((",
        "[",
        "if ",
        "! ",
        "case x in ",
        "for x in ",
        "\"$(",
        "'",
    ] {
        for count in [1, 5, 20, 31, 33, 64, 300, 1000] {
            let reply = world.line(&opener.repeat(count));
            assert!(
                reply.code != 0 || count <= 40 || opener == "[" || opener == "! ",
                "{opener} {count}: {reply:?}"
            );
        }
    }
    for closer in [")", "}", "]", "fi", ";;", "done", "esac", "&&", "|", ">"] {
        world.line(&format!("{closer} ").repeat(100));
    }
    let reply = world.line(&"a|".repeat(2000));
    assert!(reply.code != 0);
}
