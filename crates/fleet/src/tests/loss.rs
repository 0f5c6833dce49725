//! Processes that lose their state, answers that get lost, owners that lose the episode.

use chassis::Limits;
use futures_util::future::BoxFuture;
use model::{EpisodeId, InstanceId, Query, Tick};

use super::embedded::{now, played};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::links::Links;
use crate::testkit::{KINDS, PARTS, Script, World, hop, roster};
use crate::{EmbeddedFleet, RemoteConfig, RemoteFleet};
use std::sync::Arc;

pub(crate) const TICKS: i64 = 60;

/// An embedded replay that stands before call `seq` of `kind`.
pub(crate) async fn replay(kind: &str, seq: u64) -> EmbeddedFleet {
    let mut replay = EmbeddedFleet::new(KINDS);
    replay.halt_before(kind, seq);
    match World::play(&mut replay, &roster(1, 1), TICKS, &mut ()).await {
        Err(FleetError::Halted { .. }) => replay,
        other => panic!("the replay has to halt: {other:?}"),
    }
}

/// Heals what is lost.
pub(crate) async fn heal(fleet: &mut RemoteFleet, error: FleetError) -> Result<(), FleetError> {
    match error {
        FleetError::Lost { kind, seq } => fleet.heal(&kind, &replay(&kind, seq).await).await,
        other => Err(other),
    }
}

/// Empties the household of a kind at some ticks.
struct Amnesia {
    links: Arc<Links>,
    at: Vec<(i64, usize)>,
    healed: usize,
}

impl Script<RemoteFleet> for Amnesia {
    fn before<'a>(&'a mut self, _: &'a mut RemoteFleet, tick: Tick) -> BoxFuture<'a, ()> {
        for (at, desk) in &self.at {
            if *at == tick.0 {
                let household = &self.links.desks()[*desk].household;
                assert!(household.forget(EpisodeId(1), 1).unwrap(), "it was there");
            }
        }
        Box::pin(async {})
    }

    fn mend<'a>(
        &'a mut self,
        fleet: &'a mut RemoteFleet,
        error: FleetError,
    ) -> BoxFuture<'a, Result<(), FleetError>> {
        self.healed += 1;
        Box::pin(heal(fleet, error))
    }
}

#[test]
fn a_process_that_comes_back_empty_is_healed_and_nobody_can_tell() {
    let (_, world) = played(TICKS);
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links.clone(), RemoteConfig::default());
    // Before a plain round, before an order (5, 9), a pull (8, 20) and letting go (11); two kinds
    // at once at 30.
    let at = vec![(-4, 0), (3, 2), (5, 0), (9, 1), (8, 1), (11, 1), (20, 1), (30, 0), (30, 1)];
    let expected = at.len();
    let mut script = Amnesia { links, at, healed: 0 };
    let remote = now(World::play(&mut fleet, &roster(1, 1), TICKS, &mut script)).unwrap();
    assert_eq!(script.healed, expected);
    assert_eq!(remote.digests, world.digests);
    assert_eq!(remote.told, world.told);
}

#[test]
fn a_loss_is_seen_by_reads_and_requests_and_names_the_kind() {
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links.clone(), RemoteConfig::default());
    now(World::play(&mut fleet, &roster(1, 1), 20, &mut ())).unwrap();
    let (embedded, _) = played(20);
    links.desks()[1].household.forget(EpisodeId(1), 1).unwrap();
    let lost = FleetError::Lost { kind: "db".into(), seq: embedded.seq("db") + 1 };
    let read = now(fleet.read(InstanceId(2), &Query::Status)).unwrap_err();
    assert_eq!(read, lost);
    // The gateway is asked, an app answers it, and it is the database below that is lost.
    let failed = (0..50).find_map(|request| now(fleet.request(&hop(request, 10))).err());
    assert_eq!(failed, Some(lost));
    let FleetError::Lost { kind, seq } = read else { unreachable!() };
    now(async { fleet.heal(&kind, &replay(&kind, seq).await).await }).unwrap();
    for request in 0..50 {
        let hop = hop(request, 10);
        let (ours, theirs) = (embedded.request(&hop), fleet.request(&hop));
        assert_eq!(now(ours).unwrap(), now(theirs).unwrap());
    }
}

#[test]
fn a_replay_that_stands_elsewhere_is_refused() {
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    now(World::play(&mut fleet, &roster(1, 1), 20, &mut ())).unwrap();
    let (elsewhere, _) = played(21);
    let error = now(fleet.heal("db", &elsewhere)).unwrap_err().to_string();
    assert!(error.contains("it has to stand after call"), "{error}");
}

#[test]
fn a_newer_owner_locks_the_older_one_out() {
    let links = Links::in_memory(PARTS, Limits::default());
    let mut old = RemoteFleet::new(links.clone(), RemoteConfig::default());
    let mut new = RemoteFleet::new(links, RemoteConfig::default());
    let mut world = now(World::play(&mut old, &roster(1, 1), 5, &mut ())).unwrap();
    let again = now(World::play(&mut new, &roster(1, 1), 1, &mut ())).unwrap_err();
    assert!(matches!(&again, FleetError::Refused { reason, .. } if reason.contains("raise")));
    now(World::play(&mut new, &roster(1, 2), 5, &mut ())).unwrap();
    for _ in 0..2 {
        let refused = now(world.run(&mut old, 1, &mut ())).unwrap_err();
        assert!(
            matches!(&refused, FleetError::Refused { reason, .. } if reason.contains("epoch 1")),
            "{refused}"
        );
    }
    assert!(matches!(now(old.drop_episode()), Err(FleetError::Refused { .. })));
    let mut third = now(World::play(&mut new, &roster(1, 3), 5, &mut ())).unwrap();
    now(third.run(&mut new, 5, &mut ())).unwrap();
}

#[test]
fn a_machine_that_panics_is_a_defect_of_its_episode_only() {
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links.clone(), RemoteConfig::default());
    let mut other = RemoteFleet::new(links.clone(), RemoteConfig::default());
    now(fleet.create(&roster(1, 1))).unwrap();
    let mut world = now(World::play(&mut other, &roster(2, 1), 5, &mut ())).unwrap();
    let mut flood = model::Calls::none(model::EdgeId(0));
    flood.rate[0] = 1e9;
    let mut inboxes = vec![model::Inbox::default(); 6];
    inboxes[0].calls.push(flood);
    let at = machine::Moving { tick: Tick(-5), round: 0, rounds: 1 };
    let round = crate::Round { at, inboxes: &inboxes, want_digest: false };
    let failed = now(fleet.advance(&round, &mut Vec::new())).unwrap_err();
    assert!(failed.to_string().contains("a machine of gateway panicked in call 2"), "{failed}");
    let lost = now(fleet.advance(&round, &mut Vec::new())).unwrap_err();
    assert_eq!(lost, FleetError::Lost { kind: "gateway".into(), seq: 2 });
    now(world.run(&mut other, 5, &mut ())).unwrap();
}
