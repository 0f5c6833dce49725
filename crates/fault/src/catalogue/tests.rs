//! Runs the rows of all faults against one small system, and compares the list with its folder.

use super::*;
use crate::aim::Target;
use model::{
    ClassSpec, EdgeSpec, GroupSpec, InstanceId, InstanceSpec, NameSpec, ParamValue, Params,
    Topology,
};
use std::collections::BTreeSet;

fn instance(name: &str, kind: &str, groups: &[(&str, u16)]) -> InstanceSpec {
    let group = |(name, host): &(&str, u16)| GroupSpec::plain(name, *host, 1);
    InstanceSpec::plain(name, kind, groups.iter().map(group).collect())
}

fn name(name: &str, component: u16, resolver: u16) -> NameSpec {
    let (component, resolver) = (InstanceId(component), InstanceId(resolver));
    NameSpec { name: name.into(), component, resolver, ttl_s: 60.0 }
}

fn system() -> Topology {
    Topology {
        name: "small".into(),
        instances: vec![
            instance("node-1", "host", &[]),
            instance("node-2", "host", &[]),
            instance("gateway", "gateway", &[("stable", 0)]),
            instance("auth", "auth", &[("stable", 0)]),
            instance("app", "app", &[("stable", 0), ("canary", 1)]),
            instance("payment", "payment", &[("stable", 1)]),
            instance("db", "db", &[("stable", 0)]),
            instance("cache", "cache", &[("stable", 0)]),
            instance("acquirer", "external", &[]),
            instance("names", "dns", &[("stable", 1)]),
            instance("pages", "frontend", &[("stable", 0)]),
            instance("tasks", "queue", &[("stable", 1)]),
        ],
        edges: vec![
            EdgeSpec::plain(0, None, 2, "Route"),
            EdgeSpec::plain(1, Some(2), 4, "Route"),
            EdgeSpec::plain(2, Some(4), 6, "Route"),
        ],
        classes: vec![ClassSpec::plain("browse"), ClassSpec::plain("checkout")],
        names: vec![name("orders.internal", 6, 9)],
    }
}

fn target(topology: &Topology, on: &str) -> Target {
    match on.split_once(" -> ") {
        Some((from, to)) => Target::Edge(topology.edge(from, to).unwrap().id),
        None => Target::Component(topology.instance(on).unwrap()),
    }
}

fn params(text: &str) -> Params {
    text.split_whitespace().fold(Params::default(), |params, pair| {
        let (name, value) = pair.split_once('=').unwrap();
        match (value.parse::<f64>(), value.parse::<bool>()) {
            (Ok(number), _) => params.with(name, number),
            (_, Ok(flag)) => params.with(name, flag),
            _ => params.with(name, value),
        }
    })
}

fn show(topology: &Topology, pulls: &[model::LeverPull]) -> String {
    let one = |pull: &model::LeverPull| {
        let mut text = format!("{} {}", topology.instances[pull.target.at()].name, pull.lever);
        if let Some(edge) = pull.edge {
            text += &format!(" over {}", edge.0);
        }
        text += ":";
        for (name, value) in &pull.args.0 {
            text += &match value {
                ParamValue::Flag(b) => format!(" {name}={b}"),
                ParamValue::Number(n) => format!(" {name}={n}"),
                ParamValue::Text(t) => format!(" {name}={t}"),
            };
        }
        text
    };
    pulls.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn faults_become_the_pulls_of_their_rows() {
    let topology = system();
    for (name, rows) in FILES {
        assert!(!rows.is_empty(), "{name} has no rows");
        for (on, args, expected) in *rows {
            let target = target(&topology, on);
            let pulls = find(name).unwrap().pulls(target, &params(args), &topology, 7).unwrap();
            assert_eq!(show(&topology, &pulls), *expected, "{name} on {on}");
            assert!(pulls.iter().zip(7..).all(|(pull, id)| pull.id == id));
        }
    }
}

#[test]
fn wrong_targets_and_parameters_are_refused_with_what_is_allowed() {
    let topology = system();
    for (name, on, args, expected) in [
        ("packet_loss", "app", "ratio=0.1", "`on`: packet_loss hits an edge, written"),
        ("bad_secret", "app -> db", "", "hits a component of kind auth, not an edge"),
        ("bad_secret", "app", "", "hits a component of kind auth, not app of kind app"),
        ("packet_loss", "app -> db", "ratio=2", "`ratio`: is 2; expected a share"),
        ("packet_loss", "app -> db", "", "`ratio`: is missing"),
        ("certificate_expiry", "gateway", "x=1", "`x`: unknown parameter; none is accepted here"),
        ("missing_index", "db", "factor=2 class=x", "`class`: unknown class or route `x`"),
        ("record_lost", "names", "record=x.internal", "unknown record `x.internal`; expected one"),
        ("stale_secret", "auth", "group=x", "unknown group `x`; expected one of stable"),
    ] {
        let target = target(&topology, on);
        let error = find(name).unwrap().pulls(target, &params(args), &topology, 1).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should contain {expected}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "compares the list with its folder")]
fn the_list_is_the_folder_in_alphabetical_order() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalogue");
    let files: BTreeSet<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .filter(|stem| stem != "mod" && stem != "tests")
        .collect();
    assert_eq!(FILES.iter().map(|(name, _)| name.to_string()).collect::<BTreeSet<_>>(), files);
    assert!(FILES.is_sorted_by_key(|(name, _)| name));
    for (spec, (name, _)) in ALL.iter().zip(FILES) {
        assert_eq!(spec.name, *name);
        assert!(!spec.symptoms.is_empty() && spec.doc.len() > 80, "{name}");
        assert!(spec.twin.is_none_or(|twin| find(twin).is_some()), "{name}");
    }
}
