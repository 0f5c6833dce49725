//! What good files mean.

use super::kit::{STORM, SYSTEM, kinds, resolve};
use crate::resolved::{
    AlertSeverity, Comparison, Happening, RECHECK_AFTER, Scenario, Subject, When, WrongLabel,
};
use crate::{Library, raw, schema, topology};
use action::Site;
use model::{ClassId, EdgeId, InstanceId, Tick};

fn storm() -> Scenario {
    resolve(STORM, SYSTEM).unwrap()
}

#[test]
fn a_topology_has_hosts_first_and_the_users_edges_first() {
    let system = storm().topology;
    let names: Vec<_> = system.instances.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["node-1", "node-2", "gateway", "shop", "db"]);
    let edges: Vec<_> = system.edges.iter().map(|e| (e.from, e.to.0, &*e.operation)).collect();
    let id = |at| Some(InstanceId(at));
    assert_eq!(edges, [(None, 2, "Route"), (id(3), 4, "Query"), (id(2), 3, "Handle")]);
    assert_eq!(system.edges[1].calls[..3], [0.5, 3.0, 3.0], "a class finds its route");
    assert_eq!(system.edges[0].calls[..4], [1.0, 1.0, 1.0, 0.0]);
    let shop = &system.instances[3];
    let groups: Vec<_> =
        shop.groups.iter().map(|g| (&*g.name, &*g.version, g.host.0, g.replicas)).collect();
    assert_eq!(groups, [("stable", "v12", 0, 3), ("canary", "v13", 1, 1)]);
    assert_eq!(shop.params.number("concurrency"), 64.0);
    assert_eq!(system.instances[2].groups[0].version, "v1");
    let policy = &system.edges[2].policy;
    assert_eq!(policy.breaker.unwrap().open_s, 5.0);
    assert_eq!(policy.breaker.unwrap().failure_ratio, 0.5);
    assert_eq!((policy.pool.unwrap().size, policy.timeout_s), (32.0, 2.0));
    let beta = &system.classes[2];
    assert_eq!((&*beta.route, &*beta.cohort, beta.entry), ("checkout", "beta", EdgeId(0)));
}

#[test]
fn overrides_lie_over_the_topology() {
    let system = storm().topology;
    assert_eq!(system.instances[4].params.number("concurrency"), 8.0);
    assert_eq!(system.instances[4].params.number("queue"), 50.0);
    let policy = &system.edges[1].policy;
    assert_eq!((policy.retries, policy.retry_budget, policy.timeout_s), (3, Some(0.1), 0.8));
    assert_eq!(system.classes[0].weight, 0.25);
}

#[test]
fn a_scenario_becomes_ticks_positions_and_pulls() {
    let storm = storm();
    assert_eq!(
        (&*storm.name, &*storm.family, storm.healthy),
        ("overload/storm", "overload", false)
    );
    assert_eq!((storm.timing.start, storm.timing.horizon), (Tick(-300), Tick(1200)));
    assert_eq!((storm.timing.recheck, storm.timing.end), (Tick(1260), Tick(1500)));
    let rates: Vec<_> = storm.workload.demand.iter().map(|d| d.rate).collect();
    assert_eq!(rates, [300.0, 100.0, 100.0]);
    let bursts: Vec<_> = storm.workload.bursts.iter().map(|b| (b.from.0, b.to.0)).collect();
    assert_eq!(bursts, [(-60, -40), (1260, 1320)]);
    assert_eq!(storm.workload.bursts[0].factor[..3], [1.0, 1.0, 2.0]);
    assert_eq!(storm.slos[0].objective, 0.999);
    assert_eq!(storm.slos[1].classes, [ClassId(1)]);
    let alert = &storm.alerts[0];
    assert_eq!((alert.severity, alert.when.of), (AlertSeverity::Page, Subject::Slo(1)));
    let when = &storm.alerts[1].when;
    assert_eq!((when.of, when.value), (Subject::Component(InstanceId(3)), 0.25));
    let when = &storm.alerts[2].when;
    assert_eq!((when.comparison, when.value, when.for_s), (Comparison::Below, 0.95, 1));
    assert_eq!(storm.truth.causes[0].edge, Some(EdgeId(1)));
    assert_eq!(storm.truth.wrong[0].label, WrongLabel::Useless);
    assert_eq!(storm.truth.reference[1].to_string(), r#"{"action":"wait","seconds":60}"#);
}

#[test]
fn events_have_pulls_with_ids_of_their_own() {
    let storm = storm();
    let mut ids = Vec::new();
    for event in storm.timeline.iter().chain(&storm.recheck) {
        if let Happening::Pull { label, pulls, lasting_s, .. } = &event.what {
            ids.extend(pulls.iter().map(|p| (label.as_str(), p.id, p.target.0, *lasting_s)));
        }
    }
    let expected = [
        ("capacity_dip", 1, 4, Some(45)),
        ("link", 2, 3, None),
        ("process_crash", 3, 1, None),
        ("cohort_bug", 4, 3, Some(30)),
    ];
    assert_eq!(ids, expected);
    let Happening::Clear { pulls, .. } = &storm.timeline[2].what else { panic!("no clear") };
    assert_eq!((pulls[0].target, pulls[0].id), (InstanceId(3), 2));
    let When::Condition { when, after } = &storm.timeline[5].at else { panic!("no condition") };
    assert_eq!((when.value, when.for_s, *after), (10.0, 5, Tick(60)));
    let at = Tick(1200 + RECHECK_AFTER + 60);
    assert_eq!(storm.recheck[0].at, When::Tick(at), "the burst has joined the workload");
}

#[test]
fn canonical_json_survives_a_round_trip_and_decides_the_hash() {
    let storm = storm();
    let text = storm.canonical().unwrap();
    let again: Scenario = serde_json::from_str(&text).unwrap();
    assert_eq!(again, storm);
    assert_eq!(again.hash().unwrap(), storm.hash().unwrap());
    assert!(!text.contains(": ") && !text.contains(".0,"), "{text}");
    let other = resolve(&STORM.replace("stake: 50", "stake: 51"), SYSTEM).unwrap();
    assert_ne!(other.hash().unwrap(), storm.hash().unwrap());
    let spaced = resolve(&STORM.replace("stake: 50", "stake:   50.0  # user-minutes"), SYSTEM);
    assert_eq!(spaced.unwrap().hash().unwrap(), storm.hash().unwrap());
}

#[test]
fn variants_of_actions_are_possible_and_distinct() {
    let (storm, kinds) = (storm(), kinds());
    let site = Site::new(&storm.topology, &kinds);
    let variants = action::variants(&site);
    let mut texts: Vec<_> = variants.iter().map(ToString::to_string).collect();
    assert!(variants.iter().all(|action| action.effect(&site).is_ok()));
    let has = |text: &str| texts.iter().any(|known| known == text);
    assert!(has(r#"{"action":"restart","component":"db"}"#));
    assert!(has(r#"{"action":"restart","component":"shop","group":"canary"}"#));
    assert!(has(r#"{"action":"scale","component":"db","replicas":4}"#));
    assert!(has(r#"{"action":"failover","component":"db"}"#));
    assert!(has(r#"{"action":"set_policy","callee":"db","component":"shop","retries":0}"#));
    assert!(has(r#"{"action":"shed","class":"browse","component":"gateway","ratio":0.5}"#));
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count);
}

#[test]
fn a_healthy_scenario_on_a_system_of_its_own_needs_no_truth() {
    let inline = SYSTEM.replace('\n', "\n  ");
    let start = STORM.find("workload:").unwrap();
    let end = STORM.find("timeline:").unwrap();
    let text = format!(
        "title: Calm\nsummary: Nothing.\ntier: 0\ntopology:\n  {inline}\n{}recheck: hold\n\
         horizon: 10m\nstake: 5\n",
        &STORM[start..end]
    );
    let calm = resolve(&text, SYSTEM).unwrap();
    assert!(calm.healthy && calm.recheck.is_empty() && calm.truth.causes.is_empty());
    assert_eq!(calm.topology.name, "overload/storm");
}

#[test]
fn a_topology_without_hosts_has_one() {
    let start = SYSTEM.find("components:").unwrap();
    let text = SYSTEM[start..].replace(", host: node-2", "");
    let mut library = Library::default();
    library.topologies.insert("tiny".into(), text);
    let tiny = topology(&library, "tiny", &kinds()).unwrap();
    assert_eq!(tiny.instances[0].name, "host-1");
    assert_eq!(tiny.instances[0].params.number("cpu"), 64.0);
}

#[test]
fn shipped_files_are_yaml_and_fit_the_format_and_the_folders() {
    let shipped = Library::shipped();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert_eq!(Library::from_dirs(&root).unwrap(), shipped);
    for (text, shape) in shipped
        .scenarios
        .values()
        .map(|text| (text, &crate::format::SCENARIO))
        .chain(shipped.topologies.values().map(|text| (text, &crate::format::TOPOLOGY)))
    {
        let mut node = raw::parse(text, 0).unwrap();
        crate::grammar::check(&mut node, shape).unwrap();
    }
}

#[test]
fn the_schema_names_every_field_every_fault_and_every_parameter() {
    let schema = schema(&kinds());
    let properties = schema["properties"].as_object().unwrap();
    assert!(properties.contains_key("timeline") && properties.contains_key("stake"));
    let component = schema["$defs"]["component"]["oneOf"].as_array().unwrap();
    assert_eq!(component.len(), 3);
    assert!(component.iter().all(|kind| kind["properties"]["queue"]["type"] == "integer"));
    let faults = schema["$defs"]["event"]["allOf"].as_array().unwrap();
    assert_eq!(faults.len(), fault::all().len());
    assert!(!schema["$defs"]["action"]["oneOf"].as_array().unwrap().is_empty());
}
