//! What a line costs: the time of what its commands are, and nothing it earns by looking.

use super::seat::{Seat, scenario};
use action::Action;
use episode::Purse;
use grader::LocalJudge;
use model::Params;

use crate::common::run;

#[test]
fn a_line_takes_as_long_as_the_actions_that_its_commands_stand_for() {
    let seat = Seat::new(&scenario("process/dead-unit"), "hall-2");
    for (line, seconds) in [
        ("", 5),
        ("echo nothing", 5),
        ("df -h", 5),
        ("ps aux | grep till | wc -l", 5),
        ("df -h; free -m", 10),
        ("for n in 1 2 3; do df; done", 15),
        ("systemctl start till", 30),
        ("sudo systemctl start till", 30),
        ("systemctl start till; systemctl is-active till", 35),
        ("touch /tmp/a /tmp/b", 30),
        ("echo x > /tmp/a", 30),
        ("touch /tmp/a; rm /tmp/a", 60),
        ("bash -c 'touch /tmp/a; rm /tmp/a'", 60),
        ("kill $(pgrep cron)", 35),
        ("sleep 90", 90),
        ("sleep 1m 30s; df", 95),
        ("timeout 20 sleep 60", 20),
        ("timeout 60 sleep 20", 20),
        ("timeout 20 bash -c 'sleep 60; sleep 60'; sleep 10", 30),
        ("timeout 40 timeout 20 sleep 60; timeout 20 timeout 40 sleep 60", 40),
        ("timeout 1 systemctl start till", 30),
        ("systemctl start no-such-unit", 5),
    ] {
        let mut seat = seat.fork();
        let from = seat.episode.tick();
        seat.line(line);
        assert_eq!(seat.episode.tick().since(from), seconds, "{line}");
    }
}

#[test]
fn a_line_that_changes_nothing_earns_nothing() {
    let judge = LocalJudge::new(fleet::kinds());
    for (name, host) in [("process/dead-unit", "hall-2"), ("netarena/service-down", "prod-web-01")]
    {
        let seat = Seat::new(&scenario(name), host);
        for line in [
            "ps aux; ss -ltnp; df -h; journalctl -n 50; ls -R /",
            "echo systemctl start till nginx",
            "kill -0 1; true; test -f /etc/hostname",
            "sleep 120",
            "no-such-program; cat /no/such/file",
        ] {
            let (mut seat, mut purse) = (seat.fork(), Purse::default());
            let from = seat.episode.tick().0;
            seat.line(line);
            let mut idle = Seat::new(&scenario(name), host);
            idle.wait((seat.episode.tick().0 - from) as u32);
            assert_eq!(seat.episode.impact(), idle.episode.impact(), "{line}");
            let (reward, _) = run(seat.episode.reward(&judge, &mut purse)).unwrap();
            assert!(reward.abs() < 1e-9, "{name}: {line}: {reward}");
        }
    }
}

#[test]
fn nothing_is_changed_once_the_time_is_over() {
    let mut seat = Seat::new(&scenario("process/dead-unit"), "hall-2");
    let said = seat.line("sleep 2h; touch /tmp/late; systemctl start till");
    assert!(said.err.contains("the time of this terminal is over"), "{said:?}");
    assert!(seat.episode.ended().is_some());
    assert!(!seat.runs("till") && seat.view().files.iter().all(|f| f.path != "/tmp/late"));
    let judge = LocalJudge::new(fleet::kinds());
    let (reward, grade) = run(seat.episode.reward(&judge, &mut Purse::default())).unwrap();
    assert_eq!((reward, grade.expect("over").score), (0.0, 0.0));
    let params = Params::default().with("host", "hall-2").with("command", "true");
    assert!(run(seat.episode.step(&Action::new("shell", &params).unwrap())).is_err());
}
