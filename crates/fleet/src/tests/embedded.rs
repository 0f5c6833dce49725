//! The embedded body alone: ready futures, halts, forks, savepoints.

use futures_util::FutureExt;
use model::{InstanceId, Query};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::testkit::{KINDS, World, hop, roster};
use crate::{EmbeddedFleet, Savepoint};

/// Runs a future of an embedded fleet: it has to be ready at once.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("an embedded fleet is ready at its first poll")
}

pub(crate) fn played(ticks: i64) -> (EmbeddedFleet, World) {
    let mut fleet = EmbeddedFleet::new(KINDS);
    let world = now(World::play(&mut fleet, &roster(1, 1), ticks, &mut ())).expect("it plays");
    (fleet, world)
}

#[test]
fn a_fork_and_a_savepoint_go_on_as_the_original() {
    let (mut original, mut world) = played(20);
    let mut fork = original.fork();
    let saved = now(original.save()).unwrap();
    let mut restored = EmbeddedFleet::new(KINDS);
    now(restored.restore(&roster(1, 1), &saved)).unwrap();
    let (_, mut forked) = played(20);
    let (_, mut revived) = played(20);
    now(world.run(&mut original, 30, &mut ())).unwrap();
    now(forked.run(&mut fork, 30, &mut ())).unwrap();
    now(revived.run(&mut restored, 30, &mut ())).unwrap();
    assert_eq!(world.digests, forked.digests);
    assert_eq!(world.digests, revived.digests);
    assert_eq!(world.told, revived.told);
    assert_eq!(now(original.save()), now(restored.save()), "the numbers go on as well");
    assert_ne!(world.digests[20], world.digests[49], "the world moves");
}

#[test]
fn a_replay_halts_before_exactly_the_call_it_is_told() {
    let (original, world) = played(40);
    let last = original.seq("db");
    assert!(last > 60, "{last} calls: rounds, orders and levers are all counted");
    assert_ne!(last, original.seq("gateway"), "kinds are counted for themselves");
    for halt in [1, 2, 17, 33, last] {
        let mut replay = EmbeddedFleet::new(KINDS);
        replay.halt_before("db", halt);
        let stopped = now(World::play(&mut replay, &roster(1, 1), 40, &mut ()));
        let kind = "db".to_string();
        assert_eq!(stopped.unwrap_err(), FleetError::Halted { kind, seq: halt });
        assert_eq!(replay.seq("db"), halt - 1);
    }
    let mut replay = EmbeddedFleet::new(KINDS);
    replay.halt_before("db", last + 1);
    let whole = now(World::play(&mut replay, &roster(1, 1), 40, &mut ())).unwrap();
    assert_eq!(whole.digests, world.digests, "a halt that is not reached changes nothing");
}

#[test]
fn a_halted_replay_can_go_on_at_the_same_call() {
    struct GoOn(u32);
    impl crate::testkit::Script<EmbeddedFleet> for GoOn {
        fn mend<'a>(
            &'a mut self,
            fleet: &'a mut EmbeddedFleet,
            error: FleetError,
        ) -> futures_util::future::BoxFuture<'a, Result<(), FleetError>> {
            assert!(matches!(error, FleetError::Halted { .. }), "{error}");
            self.0 += 1;
            fleet.go_on();
            Box::pin(async { Ok(()) })
        }
    }
    let (_, world) = played(40);
    let mut replay = EmbeddedFleet::new(KINDS);
    replay.halt_before("app", 30);
    let mut script = GoOn(0);
    let resumed = now(World::play(&mut replay, &roster(1, 1), 40, &mut script)).unwrap();
    assert_eq!((resumed.digests, script.0), (world.digests, 1));
}

#[test]
fn requests_change_nothing_and_can_be_asked_later() {
    let (mut fleet, mut world) = played(30);
    let before = now(fleet.save()).unwrap();
    let early: Vec<_> = (0..50).map(|r| now(fleet.request(&hop(r, 10))).unwrap()).collect();
    assert_eq!(now(fleet.save()).unwrap(), before);
    now(world.run(&mut fleet, 20, &mut ())).unwrap();
    let late: Vec<_> = (0..50).map(|r| now(fleet.request(&hop(r, 10))).unwrap()).collect();
    assert_eq!(early, late);
}

#[test]
fn wrong_calls_are_defects_with_a_way_out() {
    let mut fleet = EmbeddedFleet::new(KINDS);
    let read = now(fleet.read(InstanceId(0), &Query::Status)).unwrap_err();
    assert_eq!(read.to_string(), "defect: the episode has no instance 0");
    let mut wrong = roster(1, 1);
    wrong.setups[1].spec.kind = "cache".into();
    let create = now(fleet.create(&wrong)).unwrap_err().to_string();
    assert!(create.contains("shop is of kind \"cache\"; this fleet knows app, db, gateway"));
    wrong = roster(1, 1);
    wrong.setups.swap(0, 1);
    let create = now(fleet.create(&wrong)).unwrap_err().to_string();
    assert!(create.contains("list the setups by instance id"), "{create}");
    let restore = now(fleet.restore(&roster(1, 1), &Savepoint::default())).unwrap_err();
    assert!(restore.to_string().contains("0 instances for a roster of 6"), "{restore}");
    let (fleet, _) = played(1);
    let mut strange = hop(1, 0);
    strange.operation = "Frobnicate".into();
    let request = now(fleet.request(&strange)).unwrap_err().to_string();
    assert!(request.contains("gateway serves no request \"Frobnicate\"; it serves Route"));
}
