//! The bodies give the same bits: embedded, generated servers in memory, processes behind sockets.

use chassis::Limits;
use model::{InstanceId, Query, Severity, Tick};

use super::embedded::{now, played};
use crate::fleet::Fleet;
use crate::testkit::process::addresses;
use crate::testkit::toy::metrics;
use crate::testkit::{KINDS, PARTS, Process, World, hop, roster};
use crate::{AnyFleet, EmbeddedFleet, Links, RemoteConfig, RemoteFleet};

const TICKS: i64 = 60;

/// Everything that can be asked of a body in the same state, as text.
async fn everything<F: Fleet>(fleet: &F) -> Vec<String> {
    let mut all = Vec::new();
    for id in (0..6).map(InstanceId) {
        let logs = Query::Logs {
            from: Tick(0),
            to: Tick(9),
            severity: Severity::Info,
            contains: "é".into(),
            limit: 3,
        };
        let changes = Query::Changes { from: Tick(-5), to: Tick(99) };
        for query in [metrics(-5, 40), Query::Status, logs, changes] {
            all.push(format!("{:?}", fleet.read(id, &query).await.unwrap()));
        }
        all.push(format!("{:?}", fleet.inspect(id).await.unwrap()));
        all.push(format!("{:?}", fleet.snapshot(id).await.unwrap()));
    }
    for request in 0..200 {
        all.push(format!("{:?}", fleet.request(&hop(request, 30)).await.unwrap()));
    }
    all.push(format!("{:?}", fleet.save().await.unwrap()));
    all
}

#[test]
fn generated_servers_in_memory_need_no_runtime_and_give_the_same_bits() {
    let (embedded, world) = played(TICKS);
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    let remote = now(World::play(&mut fleet, &roster(1, 1), TICKS, &mut ())).unwrap();
    assert_eq!(remote.digests, world.digests);
    assert_eq!(remote.told, world.told);
    let (ours, theirs) = (now(everything(&embedded)), now(everything(&fleet)));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn the_walks_that_are_compared_meet_every_verdict_and_outcome() {
    let (embedded, _) = played(TICKS);
    let all: Vec<_> =
        (0..200).map(|request| now(embedded.request(&hop(request, 30))).unwrap()).collect();
    let text = format!("{all:?}");
    for sign in ["no response within", "connection reset", "failed twice", "Internal", "Write"] {
        assert!(text.contains(sign), "no walk met {sign:?}");
    }
    assert!(all.iter().any(|reply| reply.code == model::Code::Ok));
    let sampled = all.iter().filter(|reply| !reply.spans.is_empty()).count();
    assert_eq!(sampled, 100, "spans exactly where asked for");
}

#[tokio::test]
async fn processes_behind_sockets_give_the_same_bits() {
    let (embedded, world) = played(TICKS);
    let processes: Vec<_> = PARTS.iter().map(|part| Process::start(*part, None)).collect();
    let links = Links::tcp(&addresses(PARTS, &processes), None).unwrap();
    let fleet = RemoteFleet::new(links, RemoteConfig::default());
    let mut fleet = AnyFleet::Remote(Box::new(fleet));
    let remote = World::play(&mut fleet, &roster(1, 1), TICKS, &mut ()).await.unwrap();
    assert_eq!(remote.digests, world.digests);
    assert_eq!(remote.told, world.told);
    let embedded = AnyFleet::Embedded(embedded);
    assert_eq!(everything(&embedded).await, everything(&fleet).await);
    fleet.drop_episode().await.unwrap();
    assert!(fleet.read(InstanceId(0), &Query::Status).await.is_err());
}

#[test]
fn an_episode_moves_between_bodies() {
    let (mut embedded, mut world) = played(20);
    let links = Links::in_memory(PARTS, Limits::default());
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    now(fleet.restore(&roster(1, 2), &now(embedded.save()).unwrap())).unwrap();
    let (_, mut moved) = played(20);
    now(moved.run(&mut fleet, 20, &mut ())).unwrap();
    let mut back = EmbeddedFleet::new(KINDS);
    now(back.restore(&roster(1, 2), &now(fleet.save()).unwrap())).unwrap();
    now(moved.run(&mut back, 20, &mut ())).unwrap();
    now(world.run(&mut embedded, 40, &mut ())).unwrap();
    assert_eq!(moved.digests, world.digests);
    assert_eq!(back.seq("db"), embedded.seq("db"));
}

#[test]
fn episodes_of_one_process_do_not_meet() {
    let links = Links::in_memory(PARTS, Limits::default());
    let (_, world) = played(20);
    let mut fleets: Vec<_> = (0..5)
        .map(|_| RemoteFleet::new(links.clone(), RemoteConfig::default()))
        .map(|fleet| (fleet, World::new()))
        .collect();
    for (at, (fleet, _)) in fleets.iter_mut().enumerate() {
        now(fleet.create(&roster(100 + at as u64, 1))).unwrap();
    }
    for _ in 0..20 {
        for (fleet, world) in &mut fleets {
            now(world.run(fleet, 1, &mut ())).unwrap();
        }
    }
    assert_eq!(links.desks()[0].household.episodes(), 5);
    for (fleet, played) in &mut fleets {
        assert_eq!(played.digests, world.digests);
        now(fleet.drop_episode()).unwrap();
    }
    assert_eq!(links.desks()[0].household.episodes(), 0);
}
