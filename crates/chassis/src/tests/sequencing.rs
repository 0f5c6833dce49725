//! The rules of sequenced calls: repeats, gaps, epochs, unknown episodes, messages that do not fit.

use std::time::Duration;

use model::EpisodeId;
use proto::control::v1 as pb;
use tonic::{Code, Status};

use super::counter::{Counter, setup_json};
use crate::household::{Household, Limits};
use crate::sequence::{Answer, Call};

fn create(episode: u64, epoch: u64) -> pb::CreateRequest {
    pb::CreateRequest {
        sequence: Some(pb::Sequence { episode, epoch, seq: 1 }),
        start: 0,
        setups_json: vec![setup_json(0), setup_json(3)],
        directory: vec!["counter".into(); 4],
    }
}

fn house() -> Household {
    let house = Household::new(&Counter, Limits::default());
    house.create(create(1, 5)).unwrap();
    house
}

fn advance(tick: i64, inboxes: usize) -> Call {
    let inboxes = vec![pb::Inbox::default(); inboxes];
    Call::Advance(pb::AdvanceRequest { tick, rounds: 1, inboxes, ..Default::default() })
}

fn call(house: &Household, epoch: u64, seq: u64, call: Call) -> Result<Answer, Status> {
    house.call(Some(pb::Sequence { episode: 1, epoch, seq }), call)
}

/// What both instances have counted.
fn counts(house: &Household) -> Vec<f64> {
    let counts = house.look(EpisodeId(1), |resident| {
        Ok(resident.instances().iter().map(|held| held.inspect().fact("count")).collect())
    });
    counts.unwrap()
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Status>) -> (Code, String) {
    let status = outcome.unwrap_err();
    (status.code(), status.message().to_string())
}

#[test]
fn a_repeat_gets_the_same_answer_and_does_not_move_the_world() {
    let house = house();
    let first = call(&house, 5, 2, advance(0, 2)).unwrap();
    for _ in 0..3 {
        assert_eq!(call(&house, 5, 2, advance(0, 2)).unwrap(), first);
    }
    assert_eq!(counts(&house), [1.0, 1.0]);
    assert_ne!(call(&house, 5, 3, advance(1, 2)).unwrap(), first);
    assert_eq!(counts(&house), [2.0, 2.0]);
}

#[test]
fn a_number_used_for_another_call_is_refused() {
    let house = house();
    call(&house, 5, 2, advance(0, 2)).unwrap();
    let (code, message) = code(call(&house, 5, 2, advance(1, 2)));
    assert_eq!(code, Code::FailedPrecondition);
    assert!(message.contains("call 2 was another one"), "{message}");
    assert_eq!(counts(&house), [1.0, 1.0]);
}

#[test]
fn gaps_old_epochs_and_unknown_episodes_have_codes_of_their_own() {
    let house = house();
    call(&house, 5, 2, advance(0, 2)).unwrap();
    call(&house, 5, 3, advance(1, 2)).unwrap();
    for (epoch, seq, expected) in [
        (5, 5, Code::OutOfRange),
        (5, 2, Code::OutOfRange),
        (4, 4, Code::FailedPrecondition),
        (4, 3, Code::FailedPrecondition),
        (6, 4, Code::NotFound),
    ] {
        let got = code(call(&house, epoch, seq, advance(2, 2)));
        assert_eq!(got.0, expected, "epoch {epoch} seq {seq}: {}", got.1);
    }
    let elsewhere = Some(pb::Sequence { episode: 2, epoch: 5, seq: 4 });
    assert_eq!(code(house.call(elsewhere, advance(2, 2))).0, Code::NotFound);
    assert_eq!(code(house.call(None, advance(2, 2))).0, Code::InvalidArgument);
    assert_eq!(counts(&house), [2.0, 2.0]);
    call(&house, 5, 4, advance(2, 2)).unwrap();
}

#[test]
fn a_message_that_does_not_fit_changes_nothing_and_uses_no_number() {
    let house = house();
    assert_eq!(code(call(&house, 5, 2, advance(0, 1))).0, Code::InvalidArgument);
    let wide = pb::Calls { edge: 1 << 20, ..Default::default() };
    let broken = pb::Inbox { calls: vec![wide], ..Default::default() };
    let inboxes = vec![pb::Inbox::default(), broken];
    let request = pb::AdvanceRequest { inboxes, rounds: 1, ..Default::default() };
    let (refused, message) = code(call(&house, 5, 2, Call::Advance(request)));
    assert_eq!(refused, Code::InvalidArgument);
    assert!(message.contains("calls.edge"), "{message}");
    let order = pb::Order { target: 1, verb: "reset".into(), ..Default::default() };
    let request = pb::OperateRequest { order: Some(order), ..Default::default() };
    assert_eq!(code(call(&house, 5, 2, Call::Operate(request))).0, Code::InvalidArgument);
    assert_eq!(counts(&house), [0.0, 0.0], "nobody moved, not even the first one");
    call(&house, 5, 2, advance(0, 2)).unwrap();
}

#[test]
fn what_the_component_refuses_is_an_answer_and_uses_a_number() {
    let house = house();
    for seq in 2..5 {
        call(&house, 5, seq, advance(seq as i64, 2)).unwrap();
    }
    let order = pb::Order { target: 3, verb: "reset".into(), ..Default::default() };
    let request = pb::OperateRequest { order: Some(order), tick: 3, ..Default::default() };
    let answer = call(&house, 5, 5, Call::Operate(request)).unwrap();
    let Answer::Operate(answer) = answer else { panic!("{answer:?}") };
    let refusal = pb::Refusal { reason: "too late".into() };
    assert_eq!(answer.outcome, Some(pb::operate_response::Outcome::Refusal(refusal)));
    call(&house, 5, 6, advance(9, 2)).unwrap();
}

#[test]
fn a_second_create_is_a_repeat_a_mistake_or_a_new_owner() {
    let house = house();
    house.create(create(1, 5)).unwrap();
    assert_eq!(code(house.create(create(1, 4))).0, Code::FailedPrecondition);
    let mut other = create(1, 5);
    other.start = 9;
    assert_eq!(code(house.create(other)).0, Code::FailedPrecondition);
    call(&house, 5, 2, advance(0, 2)).unwrap();
    assert_eq!(code(house.create(create(1, 5))).0, Code::FailedPrecondition);
    assert_eq!(counts(&house), [1.0, 1.0]);
    house.create(create(1, 6)).unwrap();
    assert_eq!(counts(&house), [0.0, 0.0]);
    assert_eq!(code(call(&house, 5, 3, advance(1, 2))).0, Code::FailedPrecondition);
}

#[test]
fn a_restored_episode_goes_on_after_the_number_it_was_given() {
    let house = house();
    for seq in 2..5 {
        call(&house, 5, seq, advance(seq as i64, 2)).unwrap();
    }
    let snapshots = house.look(EpisodeId(1), |resident| {
        Ok(resident.instances().iter().map(|held| held.snapshot().unwrap()).collect::<Vec<_>>())
    });
    let pb::CreateRequest { start, setups_json, directory, .. } = create(1, 5);
    let sequence = Some(pb::Sequence { episode: 1, epoch: 5, seq: 4 });
    let mut request = pb::RestoreRequest {
        sequence,
        start,
        setups_json,
        directory,
        snapshots: snapshots.unwrap(),
    };
    let fresh = Household::new(&Counter, Limits::default());
    fresh.restore(&request).unwrap();
    assert_eq!(counts(&fresh), [3.0, 3.0]);
    // The answer of call 4 is not in a snapshot; its owner has it, or restores the state before.
    assert_eq!(code(call(&fresh, 5, 4, advance(4, 2))).0, Code::OutOfRange);
    let next = call(&fresh, 5, 5, advance(5, 2)).unwrap();
    assert_eq!(next, call(&house, 5, 5, advance(5, 2)).unwrap());
    request.snapshots.pop();
    assert_eq!(code(fresh.restore(&request)).0, Code::InvalidArgument);
    request.snapshots.push(vec![1, 2, 3]);
    assert_eq!(code(fresh.restore(&request)).0, Code::InvalidArgument);
    assert_eq!(counts(&fresh), [4.0, 4.0], "a restore that fails changes nothing");
}

#[test]
fn only_the_owner_or_a_newer_one_makes_it_forget() {
    let house = house();
    assert_eq!(code(house.forget(EpisodeId(1), 4)).0, Code::FailedPrecondition);
    assert!(house.forget(EpisodeId(1), 5).unwrap());
    assert!(!house.forget(EpisodeId(1), 5).unwrap(), "forgetting twice succeeds");
    assert_eq!(house.episodes(), 0);
}

#[test]
fn a_full_house_makes_room_by_forgetting_the_idle_only() {
    let patient = Limits { episodes_max: 2, idle_ttl: Duration::from_secs(3600) };
    let house = Household::new(&Counter, patient);
    house.create(create(1, 1)).unwrap();
    house.create(create(2, 1)).unwrap();
    assert_eq!(code(house.create(create(3, 1))).0, Code::ResourceExhausted);
    house.create(create(2, 2)).unwrap();
    let hasty = Limits { episodes_max: 2, idle_ttl: Duration::ZERO };
    let house = Household::new(&Counter, hasty);
    (1..9).for_each(|episode| house.create(create(episode, 1)).unwrap());
    assert!(house.episodes() <= 2);
    assert!(house.sweep() >= 1);
    assert_eq!(house.episodes(), 0);
}

#[test]
fn incarnations_differ() {
    let drawn: std::collections::BTreeSet<_> =
        (0..100).map(|_| Household::new(&Counter, Limits::default()).incarnation()).collect();
    assert_eq!(drawn.len(), 100);
}
