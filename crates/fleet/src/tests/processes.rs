//! Component processes behind sockets: killed and back empty, silent, full, guarded, draining.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use chassis::{Component, Config, Limits, ServeError, Token};
use futures_util::future::BoxFuture;
use model::Tick;

use super::embedded::played;
use super::loss::{TICKS, heal};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::kinds::Part;
use crate::testkit::process::addresses;
use crate::testkit::{PARTS, Process, Proxy, Script, World, hop, roster};
use crate::{Links, RemoteConfig, RemoteFleet};

/// Kills a process at some ticks and starts another one at its address.
struct Killer {
    processes: Vec<Process>,
    at: Vec<(i64, usize)>,
    healed: usize,
}

impl Script<RemoteFleet> for Killer {
    fn before<'a>(&'a mut self, _: &'a mut RemoteFleet, tick: Tick) -> BoxFuture<'a, ()> {
        for (_, which) in self.at.iter().filter(|(at, _)| *at == tick.0) {
            let process = &mut self.processes[*which];
            process.kill();
            *process = reborn(PARTS[*which], process.address);
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

/// A process at the address of a killed one, as soon as the kernel has let go of it.
fn reborn(part: Part, address: SocketAddr) -> Process {
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while std::net::TcpListener::bind(address).is_err() {
        assert!(std::time::Instant::now() < deadline, "{address} stays taken");
        std::thread::yield_now();
    }
    Process::start_at(part, None, address)
}

#[tokio::test]
async fn killed_processes_are_healed_and_nobody_can_tell() {
    let (embedded, world) = played(TICKS);
    let processes: Vec<_> = PARTS.iter().map(|part| Process::start(*part, None)).collect();
    let links = Links::tcp(&addresses(PARTS, &processes), None).unwrap();
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    let at = vec![(0, 1), (9, 0), (13, 2), (32, 0), (32, 1)];
    let mut script = Killer { processes, at, healed: 0 };
    let remote = World::play(&mut fleet, &roster(1, 1), TICKS, &mut script).await.unwrap();
    assert!(script.healed >= 5, "{} healed", script.healed);
    assert_eq!(remote.digests, world.digests);
    assert_eq!(remote.told, world.told);
    // The reborn processes were introduced to each other.
    for request in 0..50 {
        let hop = hop(request, 30);
        let (ours, theirs) = (embedded.request(&hop), fleet.request(&hop));
        assert_eq!(ours.await.unwrap(), theirs.await.unwrap());
    }
}

/// Loses the answer to the next call of a kind at some ticks.
struct Loser {
    wires: Vec<Proxy>,
    at: Vec<(i64, usize)>,
}

impl Script<RemoteFleet> for Loser {
    fn before<'a>(&'a mut self, _: &'a mut RemoteFleet, tick: Tick) -> BoxFuture<'a, ()> {
        for (_, which) in self.at.iter().filter(|(at, _)| *at == tick.0) {
            self.wires[*which].lose_next();
        }
        Box::pin(async {})
    }
}

#[tokio::test]
async fn an_answer_that_gets_lost_is_repeated_and_the_work_is_not() {
    let (_, world) = played(TICKS);
    let processes: Vec<_> = PARTS.iter().map(|part| Process::start(*part, None)).collect();
    let (mut wires, mut addresses) = (Vec::new(), BTreeMap::new());
    for (part, process) in PARTS.iter().zip(&processes) {
        let wire = Proxy::to(process.address).await;
        addresses.insert(part.kind.name().to_string(), wire.address.to_string());
        wires.push(wire);
    }
    let links = Links::tcp(&addresses, None).unwrap();
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    // Answers to rounds, to orders (5, 9), a pull (8) and letting go (11).
    let at = vec![(-4, 1), (0, 0), (3, 2), (5, 0), (8, 1), (9, 2), (11, 1), (30, 0), (30, 1)];
    let expected = at.len() as u32;
    let mut script = Loser { wires, at };
    // Nothing is mended: all of it is the fleet's own patience.
    let remote = World::play(&mut fleet, &roster(1, 1), TICKS, &mut script).await.unwrap();
    assert_eq!(script.wires.iter().map(Proxy::lost).sum::<u32>(), expected);
    assert_eq!(remote.digests, world.digests);
    assert_eq!(remote.told, world.told);
}

fn impatient() -> RemoteConfig {
    RemoteConfig {
        attempt_timeout: Duration::from_millis(200),
        attempts_max: 3,
        patience: Duration::from_secs(5),
        backoff_first: Duration::from_millis(1),
        backoff_max: Duration::from_millis(2),
        silence: Duration::from_millis(100),
    }
}

#[tokio::test]
async fn a_process_that_never_answers_is_unreachable_after_bounded_attempts() {
    // A socket that accepts nothing and answers nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let named = PARTS.iter().map(|part| (part.kind.name().to_string(), address.clone()));
    let links = Links::tcp(&named.collect(), None).unwrap();
    let mut fleet = RemoteFleet::new(links, impatient());
    let error = fleet.create(&roster(1, 1)).await.unwrap_err();
    let FleetError::Unreachable { kind, address: asked, attempts, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((kind.as_str(), asked, *attempts), ("app", &address, 3));
    assert!(error.is_transient());
}

#[tokio::test]
async fn calls_without_the_token_or_with_another_are_refused_and_peers_show_it() {
    let token = Token::new("s3cret").unwrap();
    let start = |part: &Part| Process::start(*part, Some(token.clone()));
    let processes: Vec<_> = PARTS.iter().map(start).collect();
    let addresses = addresses(PARTS, &processes);
    chassis::probe(&addresses["db"]).await.expect("health needs no token");
    for shown in [None, Some(Token::new("guess").unwrap())] {
        let links = Links::tcp(&addresses, shown.as_ref()).unwrap();
        let mut fleet = RemoteFleet::new(links, impatient());
        let error = fleet.create(&roster(1, 1)).await.unwrap_err();
        let says = |reason: &str| reason.contains("MAYDAY_TOKEN") && !reason.contains("s3cret");
        assert!(matches!(&error, FleetError::Refused { reason, .. } if says(reason)), "{error}");
    }
    let links = Links::tcp(&addresses, Some(&token)).unwrap();
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    World::play(&mut fleet, &roster(1, 1), 5, &mut ()).await.unwrap();
    let (embedded, _) = played(5);
    for request in 0..20 {
        let hop = hop(request, 0);
        let (ours, theirs) = (embedded.request(&hop), fleet.request(&hop));
        assert_eq!(ours.await.unwrap(), theirs.await.unwrap());
    }
}

#[tokio::test]
async fn a_taken_address_says_so() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let config = Config { listen, token: None, limits: Limits::default(), reflection: false };
    let error = Component::bind(PARTS[0].kind, config).await.unwrap_err();
    assert!(matches!(error, ServeError::InUse(address) if address == listen));
    assert!(error.to_string().contains("is in use"), "{error}");
}

#[tokio::test]
async fn a_process_that_is_told_to_stop_drains_and_ends() {
    let processes: Vec<_> = PARTS.iter().map(|part| Process::start(*part, None)).collect();
    let links = Links::tcp(&addresses(PARTS, &processes), None).unwrap();
    let mut fleet = RemoteFleet::new(links, RemoteConfig::default());
    World::play(&mut fleet, &roster(1, 1), 5, &mut ()).await.unwrap();
    for process in processes {
        let address = process.address.to_string();
        chassis::probe(&address).await.unwrap();
        process.drain().await.unwrap();
        let down = chassis::probe(&address).await.unwrap_err();
        assert!(matches!(down, chassis::ProbeError::Silent(_)), "{down}");
    }
}

#[tokio::test]
async fn a_full_process_refuses_newcomers_and_keeps_its_own() {
    let limits = Limits { episodes_max: 1, ..Limits::default() };
    let links = Links::in_memory(PARTS, limits);
    let mut first = RemoteFleet::new(links.clone(), RemoteConfig::default());
    let mut second = RemoteFleet::new(links, RemoteConfig::default());
    let mut world = World::play(&mut first, &roster(1, 1), 2, &mut ()).await.unwrap();
    let refused = second.create(&roster(2, 1)).await.unwrap_err();
    let says = |reason: &str| reason.contains("--max-episodes");
    assert!(matches!(&refused, FleetError::Refused { reason, .. } if says(reason)), "{refused}");
    world.run(&mut first, 2, &mut ()).await.unwrap();
    first.drop_episode().await.unwrap();
    second.create(&roster(2, 1)).await.unwrap();
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_is_sent() {
    for address in ["", "http://", "https://db:7000", "a b"] {
        let addresses = BTreeMap::from([("db".to_string(), address.to_string())]);
        let error = Links::tcp(&addresses, None).unwrap_err().to_string();
        assert!(error.contains("expected http://host:port"), "{error}");
    }
}
