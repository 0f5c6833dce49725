//! A small system of toy kinds that have operations and signals only.

use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{
    ClassSpec, EdgeSpec, GroupSpec, InstanceSpec, ParamError, ParamKind, ParamSpec, Setup, Topology,
};
use telemetry::{ColumnSpec, SignalSpec};

#[derive(Debug)]
struct Toy(&'static str, &'static [OperationSpec]);

const fn operation(verb: &'static str, args: &'static [ParamSpec]) -> OperationSpec {
    OperationSpec { verb, doc: "An operation.", args, delay: 1 }
}

const GROUP: ParamSpec = ParamSpec::text("group", ParamKind::Text, "", "Group.");
const RETRIES: ParamSpec =
    ParamSpec::optional("retries", ParamKind::Count { min: 0, max: 5 }, "Retries.");
const REPLICAS: ParamSpec =
    ParamSpec::required("replicas", ParamKind::Count { min: 1, max: 64 }, "Replicas.");
const RATIO: ParamSpec = ParamSpec::required("ratio", ParamKind::Ratio, "Share.");
const CLASS: ParamSpec = ParamSpec::text("class", ParamKind::Class, "", "Class.");
const FLOOR: ParamSpec = ParamSpec::optional("floor", ParamKind::Ratio, "Floor.");
const TIMEOUT: ParamSpec =
    ParamSpec::optional("timeout", ParamKind::Duration { min: 0.001, max: 60.0 }, "Time-out.");
const CALLEE: ParamSpec = ParamSpec::text("callee", ParamKind::Text, "", "Callee.");
const INSTANCE: ParamSpec = ParamSpec::required("instance", ParamKind::Component, "Instance.");

static HOST: Toy = Toy("host", &[operation("restart_process", &[INSTANCE, GROUP])]);
static APP: Toy = Toy(
    "app",
    &[
        operation("scale", &[REPLICAS, GROUP]),
        operation("set_health_check", &[FLOOR, TIMEOUT]),
        operation("set_policy", &[CALLEE, RETRIES]),
        operation("shed", &[CLASS, RATIO]),
    ],
);
static DB: Toy = Toy("db", &[operation("failover", &[])]);
const TTL: ParamSpec =
    ParamSpec::optional("ttl", ParamKind::Duration { min: 1.0, max: 86_400.0 }, "Life.");
const ENTRIES: ParamSpec =
    ParamSpec::required("entries", ParamKind::Count { min: 1, max: 10_000_000 }, "Entries.");
const RATE: ParamSpec =
    ParamSpec::number("rate", ParamKind::Number { min: 1.0, max: 1e4 }, 50.0, "Rate.");
static CACHE: Toy = Toy(
    "cache",
    &[operation("flush", &[]), operation("set_cache", &[TTL]), operation("warm", &[ENTRIES, RATE])],
);

const RPS: ParamSpec =
    ParamSpec::required("rps", ParamKind::Number { min: 0.1, max: 1e6 }, "Rate.");
static EXTERNAL: Toy = Toy("external", &[operation("request_quota", &[RPS])]);

/// The toy kinds.
pub(super) fn kinds() -> Vec<&'static dyn Kind> {
    vec![&APP, &CACHE, &DB, &EXTERNAL, &HOST]
}

impl Kind for Toy {
    fn name(&self) -> &'static str {
        self.0
    }

    fn doc(&self) -> &'static str {
        "a toy"
    }

    fn params(&self) -> &'static [ParamSpec] {
        &[]
    }

    fn levers(&self) -> &'static [LeverSpec] {
        &[]
    }

    fn operations(&self) -> &'static [OperationSpec] {
        self.1
    }

    fn rpcs(&self) -> &'static [&'static str] {
        &[]
    }

    fn third_parties(&self) -> &'static [&'static str] {
        &["acquirer"]
    }

    fn outside(&self) -> bool {
        self.0 == "external"
    }

    fn columns(&self, _: &Setup) -> Vec<ColumnSpec> {
        Vec::new()
    }

    fn signals(&self) -> &'static [SignalSpec] {
        const SIGNALS: &[SignalSpec] = &[SignalSpec {
            name: "requests.rate",
            unit: "{request}/s",
            doc: "Requests.",
            noise: 0.0,
            value: |_| 0.0,
        }];
        SIGNALS
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        Err(ParamError { name: "kind".into(), message: "is a toy".into() })
    }
}

fn instance(name: &str, kind: &str, groups: &[(&str, u16)]) -> InstanceSpec {
    let group = |(name, host): &(&str, u16)| GroupSpec::plain(name, *host, 2);
    InstanceSpec::plain(name, kind, groups.iter().map(group).collect())
}

/// Two hosts, a shop in two groups, and its database.
pub(super) fn system() -> Topology {
    Topology {
        name: "small".into(),
        instances: vec![
            instance("node-1", "host", &[]),
            instance("node-2", "host", &[]),
            instance("shop", "app", &[("stable", 0), ("canary", 1)]),
            instance("orders", "db", &[("stable", 1)]),
            instance("stock", "cache", &[("stable", 1)]),
            instance("rates", "external", &[]),
        ],
        edges: vec![
            EdgeSpec::plain(0, None, 2, "Handle"),
            EdgeSpec::plain(1, Some(2), 3, "Handle"),
        ],
        classes: vec![ClassSpec {
            route: "checkout".into(),
            cohort: "beta".into(),
            ..ClassSpec::plain("checkout/beta")
        }],
        names: Vec::new(),
    }
}
