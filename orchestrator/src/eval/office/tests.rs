//! The rules of attempts, case by case.

use super::super::outcome::Outcome;
use super::*;
use serde_json::json;

fn seen() -> Seen {
    Seen::new(&json!({"step": 0})).unwrap()
}

fn world(seed: u64) -> World {
    World { scenario: "a/b".into(), seed }
}

/// An office with the assignments `t0`, `t1`, `t2`.
fn office() -> Office {
    let mut office = Office::default();
    for (name, seed) in [("t0", 10), ("t1", 11), ("t2", 12)] {
        office.assign(name, world(seed));
    }
    office
}

fn begin(office: &mut Office, task: Option<&str>, session: &str, episode: &str) -> String {
    let Admission::First(task, _) = office.admit(task, session) else { panic!("{task:?}") };
    office.begun(&task, episode, &seen(), true)
}

fn failed(why: &str) -> Outcome {
    Outcome::Failed(why.into())
}

#[test]
fn assignments_are_taken_in_the_order_in_which_they_were_given_out() {
    let mut office = office();
    for (session, seed) in [("x", 10), ("y", 11), ("z", 12)] {
        let Admission::First(_, taken) = office.admit(None, session) else { panic!("{session}") };
        assert_eq!(taken, world(seed));
    }
    assert_eq!(office.admit(None, "w"), Admission::NothingOpen);
    assert_eq!(office.admit(Some("t9"), "w"), Admission::Unknown);
    // Given out again it is the same one.
    office.assign("t0", world(99));
    assert_eq!(office.standing("t0"), Some(Standing::Playing));
}

#[test]
fn before_the_first_step_a_reset_begins_the_same_again() {
    let mut office = office();
    let alias = begin(&mut office, Some("t1"), "x", "e1");
    let Admission::Again { task, alias: next, first } = office.admit(None, "x") else { panic!() };
    assert_eq!((task.as_str(), first), ("t1", seen()));
    // The session forgets what it called the episode before.
    assert_eq!(office.leave(&alias), Left::Nothing);
    assert_eq!(office.stepping(&alias), None);
    let seat = office.stepping(&next).unwrap();
    assert!(seat.counts && seat.episode == "e1");
    // An action that does not fit is no step.
    office.not_stepped(&seat);
    assert!(matches!(office.admit(None, "x"), Admission::Again { .. }));
}

#[test]
fn after_the_first_step_a_reset_hands_off_and_plays_for_nothing() {
    let mut office = office();
    let alias = begin(&mut office, Some("t1"), "x", "e1");
    let seat = office.stepping(&alias).unwrap();
    let admission = office.admit(None, "x");
    assert_eq!(admission, Admission::Later("t1".into(), world(11), Some(seat)));
    let later = office.begun("t1", "e2", &seen(), false);
    assert_eq!(office.stepping(&alias), None, "it was handed off");
    assert!(!office.stepping(&later).unwrap().counts);
    office.over("t1", failed("for the test"));
    assert_eq!(office.admit(Some("t1"), "y"), Admission::Later("t1".into(), world(11), None));
    let ended = Ended { outcome: failed("for the test"), later_resets: 2 };
    assert_eq!(office.close("t1"), Close::Over(ended));
    assert_eq!(office.admit(Some("t1"), "x"), Admission::Closed);
    assert_eq!(office.leave(&later), Left::Forget("e2".into()));
    // Without a task the next one is meant now.
    assert!(matches!(office.admit(None, "x"), Admission::First(task, _) if task == "t0"));
}

#[test]
fn a_session_that_leaves_gives_back_what_it_has_not_touched() {
    let mut office = office();
    let alias = begin(&mut office, Some("t0"), "x", "e1");
    assert_eq!(office.leave(&alias), Left::Forget("e1".into()));
    assert_eq!(office.standing("t0"), Some(Standing::Open));
    let alias = begin(&mut office, None, "y", "e2");
    let seat = office.stepping(&alias).unwrap();
    assert_eq!(office.leave(&alias), Left::HandOff(seat));
    assert_eq!(office.leave(&alias), Left::Nothing, "once");
    assert_eq!(office.close("t0"), Close::Wait);
}

#[test]
fn who_evaluates_ends_what_is_open_begun_or_over() {
    let mut office = office();
    assert_eq!(office.close("t0"), Close::Empty { world: world(10), reached: false });
    let alias = begin(&mut office, Some("t1"), "x", "e1");
    office.leave(&alias);
    assert_eq!(office.close("t1"), Close::Empty { world: world(11), reached: true });
    assert!(matches!(office.admit(Some("t2"), "x"), Admission::First(..)));
    assert_eq!(office.close("t2"), Close::Wait, "it is being begun");
    let alias = office.begun("t2", "e2", &seen(), true);
    let seat = office.seats.get(&alias).cloned().unwrap();
    assert_eq!(office.close("t2"), Close::HandOff(seat));
    assert_eq!(office.close("t9"), Close::Unknown);
    assert!(office.discard("t2").is_empty());
    assert_eq!(office.standing("t2"), None);
}

#[test]
fn an_attempt_in_which_the_simulator_failed_is_not_scored() {
    let mut office = office();
    let alias = begin(&mut office, Some("t0"), "x", "e1");
    let seat = office.stepping(&alias).unwrap();
    office.troubled(&seat.task, "a component is gone");
    office.troubled(&seat.task, "and another one");
    assert_eq!(office.closing("t0"), Some(seat));
    office.over("t0", failed("later"));
    let Close::Over(ended) = office.close("t0") else { panic!() };
    assert_eq!(ended.outcome, failed("a component is gone"));
}
