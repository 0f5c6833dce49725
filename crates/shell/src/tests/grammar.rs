//! The grammar: what a line means, as rows.

use super::rig::{World, web};

fn check(rows: &[(&str, &str, i32)]) {
    let mut world = web();
    for (line, stdout, code) in rows {
        let reply = world.line(line);
        assert_eq!(
            (reply.stdout.as_str(), reply.code),
            (*stdout, *code),
            "{line}: {}",
            reply.stderr
        );
    }
}

#[test]
fn words_quotes_and_escapes() {
    check(&[
        ("echo a   b", "a b\n", 0),
        ("echo 'a   b' \"c  d\"", "a   b c  d\n", 0),
        ("echo a\\ b \\# c", "a b # c\n", 0),
        ("echo a # b", "a\n", 0),
        ("# systemctl start nginx", "", 0),
        ("echo $'a\\tb'", "a\tb\n", 0),
        ("echo \"it's $HOME\" '$HOME'", "it's /root $HOME\n", 0),
        ("X='1  2'; echo $X \"$X\"", "1 2 1  2\n", 0),
        ("echo ${NOPE:-default} ${#HOME} ${HOME:+set}", "default 5 set\n", 0),
        ("F=/var/log/a.log; echo ${F##*/} ${F%.log}", "a.log /var/log/a\n", 0),
        ("echo {a,b}{1..3}", "a1 a2 a3 b1 b2 b3\n", 0),
        ("echo $((2 + 3 * 4)) $((7 / 2))", "14 3\n", 0),
        ("echo ~ ~root", "/root /root\n", 0),
        ("echo \"\" | wc -c", "1\n", 0),
        ("printf '%s-%03d\\n' a 7 b 8", "a-007\nb-008\n", 0),
    ]);
}

#[test]
fn lists_pipes_and_exit_codes() {
    check(&[
        ("true && echo yes || echo no", "yes\n", 0),
        ("false && echo yes || echo no", "no\n", 0),
        ("false; echo $?", "1\n", 0),
        ("! false", "", 0),
        ("echo b; echo a", "b\na\n", 0),
        ("printf 'b\\na\\n' | sort | head -n 1", "a\n", 0),
        ("nope", "", 127),
        ("/usr/bin/nope", "", 127),
        ("./nope", "", 127),
        ("/etc/hostname", "", 126),
        ("false | true", "", 0),
        ("echo $(echo a; echo b)", "a b\n", 0),
        ("echo `echo x`", "x\n", 0),
        ("echo \"$(printf 'a\\nb')\"", "a\nb\n", 0),
        ("if true; then echo t; else echo f; fi", "t\n", 0),
        ("for x in 1 2 3; do echo $x; done | tail -1", "3\n", 0),
        ("printf 'a\\nb\\n' | while read l; do echo =$l; done", "=a\n=b\n", 0),
        ("case abc in a*) echo A;; *) echo other;; esac", "A\n", 0),
        ("(cd /tmp; pwd); pwd", "/tmp\n/root\n", 0),
        ("{ echo a; echo b; } | wc -l", "2\n", 0),
        ("for i in 1 2 3; do if [ $i -eq 2 ]; then break; fi; echo $i; done", "1\n", 0),
        ("exit 3; echo no", "", 3),
        ("bash -c 'echo inner; exit 4'", "inner\n", 4),
        ("X=1 env | grep ^X=", "X=1\n", 0),
        ("echo ${X:-gone}", "gone\n", 0),
    ]);
}

#[test]
fn redirections() {
    check(&[
        ("echo one > /tmp/a; echo two >> /tmp/a; cat /tmp/a", "one\ntwo\n", 0),
        ("cat < /tmp/a | wc -l", "2\n", 0),
        ("ls /nope 2> /dev/null", "", 2),
        ("ls /nope 2>&1 | cat", "ls: cannot access '/nope': No such file or directory\n", 0),
        ("ls /nope &> /tmp/e; wc -l < /tmp/e", "1\n", 0),
        ("cat <<< hello", "hello\n", 0),
        ("cat <<END\nhome is $HOME\nEND\n", "home is /root\n", 0),
        ("cat <<'END'\nhome (is) $HOME\nEND\n", "home (is) $HOME\n", 0),
        ("> /tmp/a; wc -c /tmp/a", "0 /tmp/a\n", 0),
        ("echo x > /nope/a", "", 1),
        ("echo x > /etc", "", 1),
        ("echo x > /dev/full", "", 1),
        ("echo hi | tee /tmp/t | cat; cat /tmp/t", "hi\nhi\n", 0),
        ("cat /tmp/a > /tmp/a; wc -c < /tmp/a", "0\n", 0),
    ]);
}

#[test]
fn globs() {
    check(&[
        ("touch /tmp/x1 /tmp/x2 /tmp/y; echo /tmp/x*", "/tmp/x1 /tmp/x2\n", 0),
        ("cd /tmp && echo x? [y]", "x1 x2 y\n", 0),
        ("echo /nope/*", "/nope/*\n", 0),
        ("echo '/tmp/x*'", "/tmp/x*\n", 0),
        ("rm /tmp/x* && ls /tmp", "y\n", 0),
        ("echo /v*/l?g", "/var/log\n", 0),
    ]);
}

#[test]
fn what_is_not_supported_says_its_name() {
    let mut world = web();
    for (line, name) in [
        ("echo a &", "background jobs"),
        ("f() { echo a; }", "function definitions"),
        ("[[ -f /etc/hostname ]]", "[[ ... ]]"),
        ("cat <(echo a)", "process substitution"),
        ("((1 + 1))", "arithmetic commands"),
        ("echo ${HOME/r/x}", "${...}"),
        ("A=(1 2)", "arrays"),
        ("vi /etc/hostname", "needs a keyboard"),
        ("echo 'open", "syntax error"),
        ("echo a |", "syntax error"),
        ("if true", "syntax error"),
        ("echo $(cat << x)", "here-documents inside"),
        ("echo a 99999999999999999999> /tmp/a", "file descriptor out of range"),
    ] {
        let reply = world.line(line);
        assert!(reply.code != 0 && reply.stderr.contains(name), "{line}: {reply:?}");
    }
}

#[test]
fn fuel_ends_what_is_too_long_or_too_deep() {
    let mut world = web();
    for (line, spent) in [
        (format!("echo {}", "a".repeat(5000)), crate::Spent::Input),
        (format!("echo {}x{}", "$(echo ".repeat(40), ")".repeat(40)), crate::Spent::Nesting),
        ("(".repeat(30), crate::Spent::Nesting),
        ("while true; do :; done".into(), crate::Spent::Steps),
        ("echo {1..100000}".into(), crate::Spent::Steps),
        ("seq 1000000000".into(), crate::Spent::Output),
        ("X=aaaaaaaaaaaaaaaa; while true; do X=$X$X; echo $X; done".into(), crate::Spent::Output),
        ("X=aaaaaaaa; while true; do X=$X$X; done".into(), crate::Spent::Output),
        ("X=$(seq 9000); X=$X$X$X; Y=$X; Z=$X".into(), crate::Spent::Output),
        (
            "seq 9000 | tr '\\n1' ' ' | sed 's/./&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&/g'".into(),
            crate::Spent::Output,
        ),
        ("for i in {1..1000}; do touch /tmp/f$i; done".into(), crate::Spent::Orders),
        ("echo 'bash /tmp/s' > /tmp/s; bash /tmp/s".into(), crate::Spent::Nesting),
    ] {
        let reply = world.line(&line);
        assert_eq!(reply.spent, Some(spent), "{}: {reply:?}", &line[..line.len().min(60)]);
        assert!(reply.stderr.contains("out of fuel"), "{reply:?}");
    }
}

#[test]
fn a_session_remembers_where_it_is_and_what_was_typed() {
    let mut world = World::new(&[("h", &[])]);
    world.ok("cd /var/log");
    world.ok("X=5");
    assert_eq!(world.ok("echo $X $(pwd) $OLDPWD"), "5 /var/log /root\n");
    assert_eq!(world.ok("history 2 | cut -c8-"), "X=5\necho $X $(pwd) $OLDPWD\n");
    assert_eq!(world.line("sudo -u nobody whoami; whoami").stdout, "nobody\nroot\n");
}
