//! Laws that every kind keeps with every lever and every operation it declares: a snapshot restored
//! into a fresh machine at any tick goes on bit for bit, and what comes out is finite and not
//! negative.

use fleet::{EmbeddedFleet, Fleet};
use machine::{Kind, Moving};
use model::{
    EdgeId, EdgeSpec, Inbox, InstanceId, LeverPull, Noise, Order, ParamDefault, ParamKind,
    ParamSpec, ParamValue, Params, Query, Resolution, Severity, Tick, Topology,
};
use scenario::Library;
use std::collections::BTreeSet;

use crate::common::run;

const TICKS_AFTER: i64 = 300;

/// All shipped topologies.
fn topologies() -> Vec<Topology> {
    let library = Library::shipped();
    let load = |name| scenario::topology(&library, name, &fleet::kinds()).expect("a topology");
    library.topologies.keys().map(|name| load(name.as_str())).collect()
}

/// The first of them with an instance of `kind`: the shop, where it has one.
fn home(kind: &dyn Kind) -> Topology {
    let mut all = topologies();
    all.sort_by_key(|topology| topology.name != "shop");
    let has = |topology: &Topology| topology.instances.iter().any(|i| i.kind == kind.name());
    all.into_iter().find(has).unwrap_or_else(|| panic!("no topology has a {}", kind.name()))
}

/// Arguments that fit: required ones from their kind, optional ones sometimes.
fn args(specs: &[ParamSpec], topology: &Topology, of: InstanceId, dice: Noise) -> Params {
    let mut params = Params::default();
    for (n, spec) in specs.iter().enumerate() {
        let dice = dice.index(n as u64);
        let given = spec.default.is_none()
            || (matches!(spec.default, Some(ParamDefault::Absent)) && dice.unit(1) < 0.5);
        if given {
            params = params.with(spec.name, value(spec, topology, of, dice));
        }
    }
    params
}

fn value(spec: &ParamSpec, topology: &Topology, of: InstanceId, dice: Noise) -> ParamValue {
    let between =
        |min: f64, max: f64| dice.between(0, min, max.min(min + 100.0 * (1.0 + min.abs())));
    match spec.kind {
        ParamKind::Flag => (dice.unit(0) < 0.5).into(),
        ParamKind::Ratio => dice.unit(0).into(),
        ParamKind::Number { min, max }
        | ParamKind::Duration { min, max }
        | ParamKind::Bytes { min, max } => between(min, max).into(),
        ParamKind::Count { min, max } => {
            between(f64::from(min), f64::from(max.min(40))).floor().into()
        }
        ParamKind::Choice(words) => words[dice.bits(0) as usize % words.len()].into(),
        ParamKind::Class => topology.classes[0].name.clone().into(),
        ParamKind::Component => {
            let tenants = topology.tenants(of);
            tenants.first().map_or("nobody".to_string(), |t| t.name.clone()).into()
        }
        ParamKind::Content => "one line\n".into(),
        ParamKind::Text => match spec.name {
            "group" => "stable".into(),
            "path" => "/var/log/journal".into(),
            "table" => topology.classes[0].name.clone().into(),
            "unit" => topology.tenants(of)[0].name.clone().into(),
            "record" => topology.names_of(of).next().map_or("x", |n| &n.name).into(),
            _ => "x".into(),
        },
    }
}

/// One thing done to a component.
#[derive(Clone, Debug)]
enum Deed {
    Order(Order),
    Pull(LeverPull),
    Clear(InstanceId, u64),
}

/// Every operation and lever of `kind` at its first instance, spread over ticks.
fn deeds(kind: &dyn Kind, topology: &Topology, seed: u64) -> Vec<(i64, Deed)> {
    let at = topology.instances.iter().position(|i| i.kind == kind.name()).expect("an instance");
    let target = InstanceId(at as u16);
    let dice = Noise::root(seed).branch(kind.name());
    let edges: Vec<EdgeId> =
        topology.edges.iter().filter(|e| e.from == Some(target)).map(|e| e.id).collect();
    let mut deeds = Vec::new();
    for (n, operation) in kind.operations().iter().enumerate() {
        let dice = dice.branch(operation.verb);
        let args = args(operation.args, topology, target, dice);
        let order = Order { target, verb: operation.verb.into(), args };
        deeds.push((20 + 17 * n as i64 + (dice.bits(9) % 9) as i64, Deed::Order(order)));
    }
    for (n, lever) in kind.levers().iter().enumerate() {
        let dice = dice.branch(lever.name);
        let edge = (lever.name.starts_with("edge.") && !edges.is_empty())
            .then(|| edges[dice.bits(7) as usize % edges.len()]);
        let args = args(lever.args, topology, target, dice);
        let id = n as u64 + 1;
        let pull = LeverPull { id, target, edge, lever: lever.name.into(), args };
        let from = 15 + 13 * n as i64 + (dice.bits(9) % 9) as i64;
        deeds.push((from, Deed::Pull(pull)));
        deeds.push((from + 60 + (dice.bits(10) % 60) as i64, Deed::Clear(target, id)));
    }
    deeds
}

/// A bare loop over a fleet: no users, a constant load at the gateway.
struct Loop {
    fleet: EmbeddedFleet,
    topology: Topology,
    replies: Vec<fleet::Reply>,
    inboxes: Vec<Inbox>,
    deeds: Vec<(i64, Deed)>,
}

impl Loop {
    fn new(topology: &Topology, deeds: Vec<(i64, Deed)>) -> Loop {
        let mut fleet = EmbeddedFleet::new(fleet::kinds());
        run(fleet.create(&roster(topology))).expect("created");
        let (replies, inboxes) = (Vec::new(), Vec::new());
        Loop { fleet, topology: topology.clone(), replies, inboxes, deeds }
    }

    fn tick(&mut self, tick: i64) {
        for (at, deed) in self.deeds.clone() {
            if at == tick {
                run(self.obey(Tick(tick), &deed));
            }
        }
        let rounds = if tick % 7 == 3 { 4 } else { 1 };
        for round in 0..rounds {
            self.exchange();
            let at = Moving { tick: Tick(tick), round, rounds };
            let round = fleet::Round { at, inboxes: &self.inboxes, want_digest: at.last() };
            run(self.fleet.advance(&round, &mut self.replies)).expect("advanced");
            self.check(tick);
        }
    }

    async fn obey(&mut self, tick: Tick, deed: &Deed) {
        match deed {
            // A refusal is an answer like another; the deed must be understood, though.
            Deed::Order(order) => drop(self.fleet.operate(tick, order).await.expect("ordered")),
            Deed::Pull(pull) => {
                self.fleet.inject(tick, pull).await.expect("injected").expect("a known lever");
            }
            Deed::Clear(target, id) => {
                self.fleet.clear(tick, *target, *id).await.expect("cleared").expect("in force");
            }
        }
    }

    fn exchange(&mut self) {
        let topology = &self.topology;
        self.inboxes = topology
            .ids()
            .map(|id| {
                let out = |of: InstanceId| self.replies.get(of.at()).map(|r| r.outbox.clone());
                let mut inbox = Inbox::default();
                for edge in &topology.edges {
                    if edge.to == id {
                        let mut calls = model::Calls::none(edge.id);
                        match edge.from {
                            None => {
                                (0..topology.classes.len()).for_each(|c| calls.rate[c] = 80.0);
                                calls.timeout_s = 4.0;
                            }
                            Some(from) => {
                                if let Some(o) = out(from) {
                                    let sent = o.calls.iter().find(|c| c.edge == edge.id);
                                    calls = sent.copied().unwrap_or(calls);
                                }
                            }
                        }
                        inbox.calls.push(calls);
                    }
                    if edge.from == Some(id) {
                        inbox.names.push(resolution(topology, edge, &self.replies));
                        inbox.reports.push(out(edge.to).map_or(model::Report::IDEAL, |o| o.report));
                    }
                }
                for (g, group) in topology.instances[id.at()].groups.iter().enumerate() {
                    let granted = out(group.host).and_then(|o| {
                        o.grants.iter().find(|x| x.instance == id && x.group == g as u8).copied()
                    });
                    let ample = model::Grant::ample(id, g as u8, group.replicas);
                    inbox.grants.push(granted.unwrap_or(ample));
                }
                for tenant in topology.tenants(id) {
                    let need = out(tenant.instance)
                        .and_then(|o| o.needs.get(usize::from(tenant.group)).copied());
                    inbox.needs.extend(need);
                }
                inbox
            })
            .collect();
    }

    /// Finite and not negative.
    fn check(&self, tick: i64) {
        for (at, reply) in self.replies.iter().enumerate() {
            let name = &self.topology.instances[at].name;
            let outbox = &reply.outbox;
            let r = &outbox.report;
            let answers = outbox.answers.iter().flat_map(|a| [&a.missing, &a.astray]);
            let shares = r.failed.iter().chain(&r.turned_away).chain(&r.overdue);
            let shares = shares.chain([&r.refused]).chain(answers);
            for share in shares {
                assert!((0.0..=1.0).contains(share), "{name} at {tick}: share {share}");
            }
            let times = [r.ok_mean_s, r.ok_var_s2, r.fail_mean_s, r.fail_var_s2, r.capacity];
            let rates = outbox.calls.iter().flat_map(|c| c.rate);
            for value in outbox.row.into_iter().chain(times).chain(rates) {
                assert!(value.is_finite() && value >= 0.0, "{name} at {tick}: {value}");
            }
        }
    }
}

/// What the caller of an edge gets for its callee's name.
fn resolution(topology: &Topology, edge: &EdgeSpec, replies: &[fleet::Reply]) -> Resolution {
    let name = topology.name_of_callee(edge);
    let answer = name.and_then(|name| {
        let at = topology.names_of(name.resolver).position(|n| n == name)?;
        replies.get(name.resolver.at())?.outbox.answers.get(at).copied()
    });
    answer.unwrap_or(Resolution::RIGHT)
}

fn roster(topology: &Topology) -> fleet::Roster {
    fleet::Roster {
        episode: model::EpisodeId(1),
        epoch: 1,
        setups: topology.ids().map(|id| topology.setup(id, Noise::root(5))).collect(),
        start: Tick(0),
    }
}

fn answers(fleet: &EmbeddedFleet, id: InstanceId, to: i64) -> String {
    let queries = [
        Query::Status,
        Query::Config,
        Query::Changes { from: Tick(0), to: Tick(to) },
        Query::Metrics { signals: Vec::new(), from: Tick(0), to: Tick(to), every: 1 },
        Query::Logs {
            from: Tick(0),
            to: Tick(to),
            severity: Severity::Info,
            contains: String::new(),
            limit: 500,
        },
    ];
    let mut all = String::new();
    for query in &queries {
        let answer = run(fleet.read(id, query)).expect("read");
        all += &serde_json::to_string(&answer).expect("json");
    }
    all + &serde_json::to_string(&run(fleet.inspect(id)).expect("inspected")).expect("json")
}

/// Plays `kind`'s deeds to a tick, restores into a fresh fleet, and compares the next ticks.
fn restored_equals_uninterrupted(kind: &'static dyn Kind, seed: u64) {
    let topology = home(kind);
    let deeds = deeds(kind, &topology, seed);
    let last = deeds.iter().map(|(at, _)| *at).max().expect("deeds");
    let cut = 10 + (Noise::root(seed).branch("cut").bits(0) % last as u64) as i64;
    let mut whole = Loop::new(&topology, deeds.clone());
    (0..cut).for_each(|t| whole.tick(t));
    let saved = run(whole.fleet.save()).expect("saved");
    let mut fresh = Loop::new(&topology, deeds);
    run(fresh.fleet.restore(&roster(&topology), &saved)).expect("restored");
    fresh.replies.clone_from(&whole.replies);
    for tick in cut..cut + TICKS_AFTER {
        whole.tick(tick);
        fresh.tick(tick);
        for (a, b) in whole.replies.iter().zip(&fresh.replies) {
            assert_eq!(a, b, "{} seed {seed} cut {cut} tick {tick}", kind.name());
        }
    }
    for id in topology.ids() {
        let to = cut + TICKS_AFTER;
        assert_eq!(answers(&whole.fleet, id, to), answers(&fresh.fleet, id, to));
    }
}

#[test]
fn a_restored_snapshot_goes_on_bit_for_bit_for_every_kind_lever_and_operation() {
    for kind in fleet::kinds() {
        for seed in 0..3 {
            restored_equals_uninterrupted(*kind, seed);
        }
    }
}

#[test]
fn a_third_party_has_no_hosts_and_no_replicas_here() {
    for field in ["host: aisle-1", "replicas: 2", "version: v3", "groups: [{name: a}]"] {
        let mut library = Library::shipped();
        let market = library.topologies.get_mut("market").expect("the market");
        let more = format!("{{kind: external, {field},");
        *market = market.replacen("{kind: external,", &more, 1);
        let flaw = scenario::topology(&library, "market", &fleet::kinds()).expect_err(field);
        let (name, _) = field.split_once(':').expect("a field");
        let expected = format!("is run by a third party and takes no `{name}`");
        assert!(flaw.to_string().contains(&expected), "{flaw}");
    }
}

/// Names of the levers of `topology` that the catalogue's faults pull.
fn pulled(topology: &Topology) -> BTreeSet<String> {
    let kinds = fleet::kinds();
    let mut pulled = BTreeSet::new();
    for spec in fault::all() {
        for id in topology.ids() {
            let target = fault::Target::Component(id);
            let args = args(spec.params, topology, id, Noise::root(1));
            let pulls = spec.pulls(target, &args, topology, 1).unwrap_or_default();
            for pull in pulls {
                let kind = &topology.instances[pull.target.at()].kind;
                let kind = kinds.iter().find(|k| k.name() == kind).expect("a kind");
                let lever = kind.levers().iter().find(|l| l.name == pull.lever);
                let known = lever.map(|lever| pull.args.check(lever.args));
                assert!(matches!(known, None | Some(Ok(_))), "{}: {pull:?} {known:?}", spec.name);
                if known.is_some() {
                    pulled.insert(pull.lever.clone());
                }
            }
        }
        for edge in topology.edges.iter().filter(|e| e.from.is_some()) {
            let args = args(spec.params, topology, edge.to, Noise::root(1));
            let target = fault::Target::Edge(edge.id);
            let pulls = spec.pulls(target, &args, topology, 1).unwrap_or_default();
            pulled.extend(pulls.into_iter().map(|p| p.lever));
        }
    }
    pulled
}

#[test]
fn every_fault_of_the_catalogue_pulls_levers_that_exist() {
    let pulled: BTreeSet<String> = topologies().iter().flat_map(pulled).collect();
    let kinds = fleet::kinds();
    let declared: BTreeSet<String> =
        kinds.iter().flat_map(|k| k.levers().iter().map(|l| l.name.to_string())).collect();
    assert_eq!(pulled, declared, "every lever is pulled by a fault, and only those there are");
}
