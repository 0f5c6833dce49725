//! A system in memory for tests: hosts of the real host kind, and components that answer plainly.

use crate::{Limits, Pending, Reply, Rig, Session, Spell, run};
use machine::{Instance, Moving};
use model::{
    Answer, GroupSpec, HostView, Inbox, InstanceId, InstanceSpec, LeverPull, Located, LogLine,
    Look, Member, MemberGroup, Need, Noise, Order, Params, Query, Refusal, Severity, Sight, Site,
    Tick, Topology, WebReply,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A system of one or more hosts with what runs on them.
#[derive(Debug)]
pub(super) struct World {
    pub(super) topology: Topology,
    hosts: BTreeMap<InstanceId, Instance>,
    tick: i64,
    /// Orders that went to components.
    pub(super) orders: Vec<Order>,
    /// Orders that went to hosts.
    pub(super) deeds: Vec<Order>,
    pulls: u64,
    pub(super) session: Session,
    pub(super) limits: Limits,
}

impl World {
    /// Hosts by name, each with the names and kinds of what runs there; logged in to the first.
    pub(super) fn new(hosts: &[(&str, &[(&str, &str)])]) -> World {
        let mut topology = Topology::default();
        let add = |topology: &mut Topology, name: &str, kind: &str, params, groups| {
            let spec = InstanceSpec { name: name.into(), kind: kind.into(), params, groups };
            topology.instances.push(spec);
        };
        for (name, _) in hosts {
            let params = Params::default().with("disk", 5e10).with("disk_used", 2e10);
            let params = params.check(host::KIND.params()).unwrap();
            add(&mut topology, name, "host", params, Vec::new());
        }
        for (at, (_, tenants)) in hosts.iter().enumerate() {
            for (name, kind) in *tenants {
                let params = Params::default().with("boot", 2.0).with("memory_limit", 1e10);
                let host = InstanceId(at as u16);
                let group =
                    GroupSpec { name: "stable".into(), version: "v1".into(), host, replicas: 1 };
                add(&mut topology, name, kind, params, vec![group]);
            }
        }
        let noise = Noise::root(1);
        let instance = |id: InstanceId| {
            Instance::create(host::KIND, topology.setup(id, noise), Tick(-300)).unwrap()
        };
        let ids = (0..hosts.len()).map(|at| InstanceId(at as u16));
        let hosts = ids.map(|id| (id, instance(id))).collect();
        let session = Session::new(InstanceId(0), "root");
        let mut world = World {
            topology,
            hosts,
            tick: -300,
            orders: Vec::new(),
            deeds: Vec::new(),
            pulls: 0,
            session,
            limits: Limits::default(),
        };
        world.pass(300);
        world
    }

    /// Lets time go by.
    pub(super) fn pass(&mut self, ticks: i64) {
        for _ in 0..ticks {
            for (id, host) in &mut self.hosts {
                let mut inbox = Inbox::default();
                for t in self.topology.tenants(*id) {
                    let need = Need::idle(t.instance, t.group, t.replicas);
                    inbox.needs.push(Need { cpu_cores: 0.2, memory: 2e8, ..need });
                }
                host.advance(Moving { tick: Tick(self.tick), round: 0, rounds: 1 }, &inbox);
            }
            self.tick += 1;
        }
    }

    /// Pulls a lever of a host.
    pub(super) fn pull(&mut self, host: u16, lever: &str, args: Params) {
        self.pulls += 1;
        let target = InstanceId(host);
        let pull = LeverPull { id: self.pulls, target, edge: None, lever: lever.into(), args };
        let tick = Tick(self.tick);
        self.hosts.get_mut(&target).unwrap().inject(tick, &pull).unwrap();
        self.pass(1);
    }

    /// Runs a line.
    pub(super) fn line(&mut self, line: &str) -> Reply {
        let (mut session, limits) = (self.session.clone(), self.limits);
        let reply = block(run(&mut session, self, line, limits)).unwrap();
        self.session = session;
        reply
    }

    /// Standard output of a line that is to succeed.
    pub(super) fn ok(&mut self, line: &str) -> String {
        let reply = self.line(line);
        assert_eq!((reply.code, reply.stderr.as_str()), (0, ""), "{line}: {}", reply.stdout);
        reply.stdout
    }

    pub(super) fn view(&self) -> HostView {
        self.view_of(0)
    }

    pub(super) fn view_of(&self, host: u16) -> HostView {
        match self.hosts[&InstanceId(host)].read(&Query::Host) {
            Answer::Host(view) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn running(&self, unit: &str) -> bool {
        let view = self.view();
        let unit = view.units.iter().find(|u| u.name == unit).expect("a unit");
        unit.running > 0
    }

    /// The process that listens on a port.
    pub(super) fn listener(&self, port: u16) -> Option<u32> {
        self.view().sockets.iter().find(|s| s.port == port).map(|s| s.pid)
    }

    pub(super) fn used(&self) -> f64 {
        let disk = self.view().disk;
        disk.used / disk.capacity
    }

    fn look(&mut self, look: &Look) -> Sight {
        match look {
            Look::Site => {
                let members = self.topology.ids().map(|id| {
                    let spec = &self.topology.instances[id.at()];
                    let group = |g: &GroupSpec| MemberGroup { name: g.name.clone(), host: g.host };
                    Member {
                        id,
                        name: spec.name.clone(),
                        kind: spec.kind.clone(),
                        groups: spec.groups.iter().map(group).collect(),
                    }
                });
                Sight::Site(Site { members: members.collect() })
            }
            Look::Component { of, query } => Sight::Answer(match self.hosts.get(of) {
                Some(host) => host.read(query),
                None => self.component(*of, query),
            }),
            Look::Resolve { name, .. } => {
                let name = name.trim_end_matches(".internal");
                let found = self.topology.instance(name);
                let found = found.map(|owner| Located { owner, ttl_s: 45.0 });
                Sight::Addresses(found.into_iter().collect())
            }
            Look::Request { to, path, .. } => {
                let name = &self.topology.instances[to.at()].name;
                let body = format!("{name} answers {path}\n");
                Sight::Reply(WebReply { status: 200, latency_s: 0.012, body })
            }
        }
    }

    fn component(&self, of: InstanceId, query: &Query) -> Answer {
        let spec = &self.topology.instances[of.at()];
        match query {
            Query::Logs { from, to, contains, limit, .. } => {
                let ticks = (from.0..to.0).filter(|t| t % 10 == 0);
                let line = |t: i64| LogLine {
                    tick: Tick(t),
                    severity: if t % 20 == 0 { Severity::Error } else { Severity::Info },
                    replica: "stable-0".into(),
                    message: format!("request {t} failed: Permission denied"),
                    trace: 0,
                };
                let lines: Vec<_> =
                    ticks.map(line).filter(|l| l.message.contains(contains.as_str())).collect();
                Answer::Logs(lines[lines.len().saturating_sub(*limit as usize)..].to_vec())
            }
            Query::Config => Answer::Facts(BTreeMap::from([
                ("memory limit".into(), "512 MiB per replica".into()),
                ("slots".into(), "16 per replica".into()),
                ("lock timeout".into(), "20 s".into()),
            ])),
            Query::Changes { .. } => Answer::Changes(vec![(Tick(-60), "deployed v2".to_string())]),
            _ => {
                let mut facts = BTreeMap::from([
                    (
                        "group stable".to_string(),
                        "1 of 1 replicas running, v2, 190 MiB each".into(),
                    ),
                    ("queue".into(), "0 requests".into()),
                ]);
                if spec.kind == "cache" {
                    facts.insert("entries".into(), "6731".into());
                }
                if spec.kind == "db" {
                    let text = "active since t-00:04:00: ALTER TABLE users ADD COLUMN x";
                    facts.insert("session 4521".into(), text.into());
                    facts.insert("replica".into(), "0.0 s behind".into());
                }
                if spec.kind == "gateway" {
                    facts.insert("certificate".into(), "expired".into());
                }
                Answer::Facts(facts)
            }
        }
    }

    fn told(&mut self, order: &Order) -> Result<String, Refusal> {
        let tick = Tick(self.tick);
        let Some(host) = self.hosts.get_mut(&order.target) else {
            self.orders.push(order.clone());
            return Ok("accepted".into());
        };
        let told = host.operate(tick, order)?;
        self.deeds.push(order.clone());
        self.pass(1);
        Ok(told)
    }
}

impl Rig for World {
    fn read<'a>(&'a mut self, look: &'a Look) -> Pending<'a, Sight> {
        let sight = self.look(look);
        Box::pin(std::future::ready(Ok(sight)))
    }

    fn order<'a>(&'a mut self, order: &'a Order) -> Pending<'a, Result<String, Refusal>> {
        let told = self.told(order);
        Box::pin(std::future::ready(Ok(told)))
    }

    fn spend(&mut self, spell: Spell) -> Pending<'_, ()> {
        // Looks and changes take no time here, so that tests need not count it.
        if let Spell::Seconds(seconds) = spell {
            self.pass(i64::from(seconds.min(3600)));
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Nothing in these tests ever waits.
fn block<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future of a test waits"),
    }
}

/// A web server that is down.
pub(super) fn web() -> World {
    let mut world = World::new(&[("prod-web-01", &[("nginx", "gateway")])]);
    world.pull(0, "host.process_crash", Params::default().with("instance", "nginx"));
    world
}

/// An application whose port another process holds, which has an ended child.
pub(super) fn port() -> World {
    let mut world = World::new(&[("prod-app-01", &[("app", "app")])]);
    let args = Params::default().with("instance", "app").with("zombie", true);
    world.pull(0, "host.port_squat", args.with("command", "rogue_proc --listen 8080"));
    world.pass(60);
    world
}

/// A database that crashed on a disk that a log filled; the log is held open, or not.
pub(super) fn disk(held: bool) -> World {
    let mut world = World::new(&[("prod-db-01", &[("postgresql", "db"), ("app", "app")])]);
    let args = Params::default().with("path", "/var/log/app.log").with("instance", "app");
    let args = args.with("size", 4e10).with("rate", if held { 1000.0 } else { 0.0 });
    world.pull(0, "host.disk_fill", args);
    world.pull(0, "host.process_crash", Params::default().with("instance", "postgresql"));
    world
}
