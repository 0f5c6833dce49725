//! Tests: what `check` refuses.

use super::*;

pub(crate) fn input(seq: u64, tick: i64) -> Entry {
    let body = format!(r#"{{"verb":"scale_component","value":{seq}}}"#);
    Entry::Input(Input { seq, tick: Tick(tick), actor: Actor::Agent, body })
}

fn control(seq: u64, tick: i64) -> Entry {
    let body = r#"{"advance":{"ticks":20}}"#.to_string();
    Entry::Input(Input { seq, tick: Tick(tick), actor: Actor::Control, body })
}

pub(crate) fn step(number: u32, from: i64, to: i64) -> Entry {
    Entry::Step(Step {
        number,
        from: Tick(from),
        to: Tick(to),
        reply: Digester::of(&number.to_le_bytes()),
        world: Digest(u64::MAX, u64::from(number)),
        impact_micro: i64::from(number) - 2,
    })
}

pub(crate) fn end(tick: i64) -> Entry {
    Entry::End { tick: Tick(tick), reason: EndReason::StepLimit }
}

pub(crate) fn header(episode: u64) -> Header {
    let scenario = r#"{"name":"lock \"storm\"","share":0.25}"#.to_string();
    Header::new(EpisodeId(episode), u64::MAX - 1, "db/lock-storm", scenario)
}

pub(crate) fn sample() -> Record {
    let control = Input {
        seq: 2,
        tick: Tick(30),
        actor: Actor::Control,
        body: r#"{"inject":"line\nbreak é"}"#.into(),
    };
    let entries =
        vec![input(1, 0), step(1, 0, 30), Entry::Input(control), step(2, 30, 30), end(30)];
    Record { header: header(0xfeed), entries }
}

#[test]
fn a_whole_record_can_be_played() {
    let record = sample();
    assert_eq!(record.check(), Ok(()));
    assert_eq!(record.inputs().map(|i| i.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(record.steps().map(|s| s.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(record.end(), Some((Tick(30), EndReason::StepLimit)));
    assert_eq!(Record { entries: vec![], ..record }.check(), Ok(()));
}

#[test]
fn what_differs_in_a_step_is_named_with_both_values() {
    let record = sample();
    let recorded = record.steps().next().unwrap().clone();
    assert_eq!(recorded.difference(&recorded), None);
    let reply = Step { reply: Digest(7, 7), ..recorded.clone() };
    let said = recorded.difference(&reply).unwrap();
    assert!(said.starts_with("the record says reply "), "{said}");
    assert!(
        said.contains(&recorded.reply.to_string()) && said.contains(&Digest(7, 7).to_string()),
        "{said}"
    );
    let impact = Step { impact_micro: recorded.impact_micro + 1, ..recorded.clone() };
    assert!(recorded.difference(&impact).unwrap().contains("says impact "));
}

#[test]
fn the_control_port_may_let_time_pass() {
    let entries = vec![input(1, 0), step(1, 0, 30), control(2, 30), input(3, 50), step(2, 50, 80)];
    assert_eq!(Record { header: header(1), entries }.check(), Ok(()));
    let entries = vec![control(1, 0), control(2, 20), end(20)];
    assert_eq!(Record { header: header(1), entries }.check(), Ok(()));
}

#[test]
fn other_versions_are_refused_and_both_are_named() {
    let mut record = sample();
    record.header.world = WORLD_REVISION + 1;
    let error = record.check().unwrap_err();
    let (theirs, ours) = (WORLD_REVISION + 1, WORLD_REVISION);
    assert_eq!(error, RecordError::OtherWorld { theirs, ours });
    let said = error.to_string();
    assert!(said.contains("revision 2") && said.contains("revision 1"), "{said}");
    record.header.format = 7;
    assert_eq!(record.check(), Err(RecordError::OtherFormat { theirs: 7, ours: FORMAT }));
}

#[test]
fn a_gap_is_found_where_it_is() {
    for (entries, at, said) in [
        (vec![input(2, 0)], 1, "input 2 stands where 1 belongs"),
        (vec![input(1, 0), input(3, 0)], 2, "input 3 stands where 2 belongs"),
        (vec![step(2, 0, 30)], 1, "step 2 stands where 1 belongs"),
        (vec![step(1, 0, 30), step(2, 31, 60)], 2, "does not continue t+00:00:30"),
        (vec![step(1, 0, 30), step(2, 29, 60)], 2, "does not continue t+00:00:30"),
        (vec![step(1, 30, 0)], 1, "does not continue"),
        (vec![input(1, 0), step(1, 1, 30)], 2, "does not continue t+00:00:00"),
        (vec![step(1, 0, 30), input(1, 31)], 2, "is at t+00:00:31 while the world is at"),
        (vec![step(1, 0, 30), end(31)], 2, "while the world is at t+00:00:30"),
        (vec![end(0), input(1, 0)], 2, "follows the end"),
        (vec![control(1, 30), input(2, 29)], 2, "while the world is at t+00:00:30"),
        (vec![control(1, 0), step(1, 30, 60), input(2, 90)], 3, "is at t+00:01:30 while"),
    ] {
        let record = Record { header: header(1), entries };
        let Err(RecordError::Broken { entry, problem }) = record.check() else {
            panic!("{:?} should be refused", record.entries);
        };
        assert_eq!(entry, at, "{problem}");
        assert!(problem.contains(said), "{problem} should contain {said}");
    }
}

#[test]
fn what_should_be_json_is_json() {
    let mut record = sample();
    record.header.scenario.push(']');
    assert!(matches!(record.check(), Err(RecordError::Broken { entry: 0, .. })));
    let mut record = sample();
    let Entry::Input(first) = &mut record.entries[0] else { panic!("an input is first") };
    first.body = "scale it".into();
    assert!(matches!(record.check(), Err(RecordError::Broken { entry: 1, .. })));
}

#[test]
fn every_field_is_in_the_digest() {
    let digest = sample().digest();
    let changed = |how: fn(&mut Record)| {
        let mut record = sample();
        how(&mut record);
        record.digest()
    };
    assert_eq!(changed(|_| ()), digest);
    let mut seen = std::collections::BTreeSet::from([digest]);
    for how in [
        |r: &mut Record| r.header.format += 1,
        |r: &mut Record| r.header.world += 1,
        |r: &mut Record| r.header.episode.0 += 1,
        |r: &mut Record| r.header.seed += 1,
        |r: &mut Record| r.header.scenario.push(' '),
        |r: &mut Record| r.header.scenario_name.push(' '),
        |r: &mut Record| drop(r.entries.pop()),
        |r: &mut Record| r.entries[1] = step(1, 0, 31),
        |r: &mut Record| r.entries[4] = Entry::End { tick: Tick(30), reason: EndReason::Horizon },
    ] {
        assert!(seen.insert(changed(how)));
    }
}
