//! Toy kinds that do nothing, a small system, and a small scenario on it.

use crate::{Library, Scenario, ScenarioError, parse};
use machine::{Cx, Kind, LeverSpec, Machine, OperationSpec, Past, SnapshotError};
use model::{
    Answer, Hop, HopReply, Inbox, LeverPull, Next, Order, Outbox, ParamError, ParamKind, ParamSpec,
    Query, Refusal, Setup,
};
use std::collections::BTreeMap;
use telemetry::{ColumnSpec, Pooling, SignalSpec};

#[derive(Debug)]
struct Toy {
    name: &'static str,
    params: &'static [ParamSpec],
    levers: &'static [LeverSpec],
    operations: &'static [OperationSpec],
    rpcs: &'static [&'static str],
}

const RATIO: ParamSpec = ParamSpec::required("ratio", ParamKind::Ratio, "Share.");
const GROUP: ParamSpec = ParamSpec::text("group", ParamKind::Text, "", "Group.");
const CLASS: ParamSpec = ParamSpec::text("class", ParamKind::Class, "", "Class.");
const INSTANCE: ParamSpec = ParamSpec::required("instance", ParamKind::Component, "Instance.");
const RETRIES: ParamSpec =
    ParamSpec::optional("retries", ParamKind::Count { min: 0, max: 10 }, "Retries.");
const CALLEE: ParamSpec = ParamSpec::text("callee", ParamKind::Text, "", "Callee.");
const FACTOR: ParamSpec =
    ParamSpec::required("factor", ParamKind::Number { min: 1.0, max: 50.0 }, "Times.");
const REPLICAS: ParamSpec =
    ParamSpec::required("replicas", ParamKind::Count { min: 1, max: 64 }, "Replicas.");

const SERVER: &[ParamSpec] = &[
    ParamSpec::number("concurrency", ParamKind::Count { min: 1, max: 1000 }, 64.0, "Slots."),
    ParamSpec::number("queue", ParamKind::Count { min: 0, max: 10_000 }, 100.0, "Places."),
    ParamSpec::number(
        "service_time",
        ParamKind::Duration { min: 0.0001, max: 10.0 },
        0.005,
        "Own work.",
    ),
];

const fn lever(name: &'static str, args: &'static [ParamSpec]) -> LeverSpec {
    LeverSpec { name, doc: "A lever.", args }
}

const fn operation(verb: &'static str, args: &'static [ParamSpec]) -> OperationSpec {
    OperationSpec { verb, doc: "An operation.", args, delay: 1 }
}

const LEVERS: &[LeverSpec] = &[
    lever("edge.loss", &[RATIO]),
    lever("server.slow", &[FACTOR, CLASS]),
    lever("server.errors", &[RATIO, CLASS]),
];
const OPERATIONS: &[OperationSpec] = &[
    operation("scale", &[REPLICAS, GROUP]),
    operation("set_policy", &[CALLEE, RETRIES]),
    operation("shed", &[CLASS, RATIO]),
];

static HOST: Toy = Toy {
    name: "host",
    params: &[ParamSpec::number("cpu", ParamKind::Number { min: 0.1, max: 1e3 }, 64.0, "Cores.")],
    levers: &[lever("host.process_crash", &[INSTANCE, GROUP])],
    operations: &[operation("restart_process", &[INSTANCE, GROUP])],
    rpcs: &[],
};
static GATEWAY: Toy = Toy {
    name: "gateway",
    params: SERVER,
    levers: LEVERS,
    operations: OPERATIONS,
    rpcs: &["Route"],
};
static APP: Toy = Toy { name: "app", rpcs: &["Handle"], ..GATEWAY };
static DB: Toy = Toy {
    name: "db",
    rpcs: &["Query", "Write"],
    operations: &[operation("failover", &[]), operation("scale", &[REPLICAS, GROUP])],
    ..GATEWAY
};

/// The toy kinds.
pub(super) fn kinds() -> Vec<&'static dyn Kind> {
    vec![&APP, &DB, &GATEWAY, &HOST]
}

impl Kind for Toy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        "a toy"
    }

    fn params(&self) -> &'static [ParamSpec] {
        self.params
    }

    fn levers(&self) -> &'static [LeverSpec] {
        self.levers
    }

    fn operations(&self) -> &'static [OperationSpec] {
        self.operations
    }

    fn rpcs(&self) -> &'static [&'static str] {
        self.rpcs
    }

    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec> {
        let count = 4 + 2 * setup.outgoing.len();
        vec![ColumnSpec { name: "column", pooling: Pooling::Mean }; count]
    }

    fn signals(&self) -> &'static [SignalSpec] {
        const fn signal(name: &'static str, unit: &'static str) -> SignalSpec {
            SignalSpec { name, unit, doc: "A signal.", noise: 0.0, value: |_| 0.0 }
        }
        const SIGNALS: &[SignalSpec] = &[
            signal("latency.p99", "s"),
            signal("memory.used", "By"),
            signal("requests.error.ratio", "1"),
            signal("requests.rate", "{request}/s"),
        ];
        SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        if setup.spec.params.number("concurrency") == 13.0 {
            let message = "13 brings bad luck".into();
            return Err(ParamError { name: "concurrency".into(), message });
        }
        Ok(Box::new(Idle))
    }
}

#[derive(Debug)]
struct Idle;

impl Machine for Idle {
    fn round(&mut self, _: &mut Cx<'_>, _: &Inbox, _: &mut Outbox) {}

    fn accepts(&self, _: &Order) -> Result<(), Refusal> {
        Ok(())
    }

    fn operate(&mut self, _: &mut Cx<'_>, _: &Order) {}

    fn inject(&mut self, _: &mut Cx<'_>, _: &LeverPull) {}

    fn clear(&mut self, _: &mut Cx<'_>, _: &LeverPull) {}

    fn read(&self, _: &Past<'_>, _: &Query) -> Answer {
        Answer::Logs(Vec::new())
    }

    fn inspect(&self, _: &mut BTreeMap<String, f64>) {}

    fn plan(&self, _: &Past<'_>, _: &Hop, _: &[HopReply]) -> Next {
        Next::Call(Vec::new())
    }

    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn fork(&self) -> Box<dyn Machine> {
        Box::new(Idle)
    }
}

/// A topology file.
pub(super) const SYSTEM: &str = "\
hosts:
  node-1: {cpu: 8}
  node-2: {}
components:
  gateway: {kind: gateway, replicas: 2, service_time: 1ms}
  shop:
    kind: app
    version: v12
    groups:
      - {name: stable, replicas: 3}
      - {name: canary, version: v13, host: node-2}
  db: {kind: db, host: node-2, queue: 50}
edges:
  - {from: shop, to: db, operation: Query, calls: {checkout: 3, \"*\": 0.5},
     timeout: 800ms, retries: 2}
  - {from: gateway, to: shop, timeout: 2s, breaker: {open: 5s}, pool: {size: 32}}
  - {from: users, to: gateway}
classes:
  browse: {objective: 400ms, patience: 4s, weight: 0.5}
  checkout: {objective: 1s, patience: 8s, retries: 1, writes: true}
  checkout/beta: {objective: 1s, patience: 8s}
";

/// A scenario file on it.
pub(super) const STORM: &str = "\
title: A storm
summary: Retries go on.
tier: 2
topology: small
overrides:
  components:
    db: {concurrency: 8}
  edges:
    shop -> db: {retries: 3, retry_budget: 10%}
  classes:
    browse: {weight: 0.25}
workload:
  demand: {browse: 300/s, checkout: 6000/m}
  shape: {daily_amplitude: 5%, period: 1h}
  hold: 30s..60s
  bursts:
    - {at: -60s, for: 20s, classes: [checkout/beta], factor: 2}
slos:
  - {name: all, objective: 99.9%}
  - {name: pay, classes: [checkout], objective: 99%, fast: 30s, slow: 10m, burn: 6}
alerts:
  - {name: burn, severity: page, slo: pay, signal: burn, above: 6, for: 20s, summary: Bad.}
  - {name: slow, severity: ticket, on: shop, signal: latency.p99, above: 250ms, summary: Slow.}
  - {name: loss, severity: ticket, on: users, signal: good.ratio, below: 95%, summary: Loss.}
timeline:
  - {at: -2m, fault: capacity_dip, on: db, with: {factor: 6}, for: 45s}
  - {at: -90s, fault: packet_loss, on: shop -> db, with: {ratio: 5%}, id: link}
  - {at: 10s, clear: link}
  - {at: 0s, note: deployed v12, on: shop}
  - {at: 5s, order: scale, on: shop, with: {replicas: 4, group: stable}}
  - when: {on: db, signal: requests.rate, below: 10/s, for: 5s, after: 60s}
    fault: process_crash
    on: db
recheck:
  - {at: 0s, burst: 1.5, for: 1m}
  - {at: 60s, fault: cohort_bug, on: shop, with: {class: browse, ratio: 0.5}, until: 90s}
horizon: 20m
stake: 50
causes:
  - {on: shop -> db, class: overload, onset: -90s}
evidence:
  - {on: db, signal: requests.rate, shows: More arrives than users cause.}
reference:
  - {action: set_policy, component: shop, callee: db, retries: 0}
  - {action: wait, seconds: 60}
wrong:
  - {label: useless, plan: [{action: restart, component: shop}], why: It retries as before.}
";

/// A library with the system only.
pub(super) fn library() -> Library {
    let mut library = Library::default();
    library.topologies.insert("small".into(), SYSTEM.into());
    library
}

/// Resolves a scenario text on a topology text.
pub(super) fn resolve(scenario: &str, system: &str) -> Result<Scenario, ScenarioError> {
    let mut library = library();
    library.topologies.insert("small".into(), system.into());
    parse(&library, "overload/storm", scenario, &kinds())
}
