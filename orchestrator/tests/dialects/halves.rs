//! Statuses follow from what happens: half of any lever of any scenario of any dialect changes one,
//! and so does half of the load, where a task is about load.

use crate::kit::Site;
use model::{GroupSpec, LeverPull, ParamValue};
use scenario::resolved::Happening;
use scenario::{Library, Scenario};
use serde_json::{Value, json};

/// A task, and plays that go through its statuses.
struct Task {
    dialect: &'static str,
    /// The stem of its scenario.
    scenario: &'static str,
    /// What follows the paths.
    query: &'static str,
    reset: Value,
    plays: Vec<Vec<Value>>,
    /// Half of the load changes a status as well.
    by_load: bool,
}

impl Task {
    fn name(&self) -> String {
        format!("{}/{}", self.dialect, self.scenario)
    }

    /// Plays, and collects the statuses after the reset and after each step.
    async fn statuses(&self, alter: impl Fn(&mut Scenario)) -> Vec<Vec<Value>> {
        let name = self.name();
        let site = Site::altered(self.dialect, true, |scenario| {
            if scenario.name == name {
                alter(scenario);
            }
        });
        let site = site.await;
        let mut all = Vec::new();
        for play in &self.plays {
            let reset = format!("/reset{}", self.query);
            let answer = site.call("POST", &reset, "", Some(&self.reset)).await;
            assert_eq!(answer.status, 200, "{name}: {}", answer.body);
            let mut seen = vec![self.seen(&site, &answer.body).await];
            for step in play {
                let path = format!("/step{}", self.query);
                let answer = site.call("POST", &path, "", Some(step)).await;
                // A play may be over earlier where less is broken.
                seen.push(self.seen(&site, &answer.body).await);
            }
            all.push(seen);
        }
        all
    }

    /// The statuses, and nothing else.
    async fn seen(&self, site: &Site, answer: &Value) -> Value {
        if self.dialect == "triage" {
            let statuses = answer["observation"]["system_status"].as_object();
            let statuses = statuses.into_iter().flatten();
            return statuses.map(|(name, of)| json!([name, of["status"]])).collect();
        }
        let state = site.call("GET", &format!("/state{}", self.query), "", None).await.body;
        match self.dialect {
            "incident-sim" => {
                let services = state["services"].as_array().into_iter().flatten();
                services.map(|one| json!([one["name"], one["status"]])).collect()
            }
            "sentinel" => state["services_status"].clone(),
            _ => [
                "nginx_status",
                "zombie_pid_alive",
                "port_8080_free",
                "large_log_exists",
                "db_status",
            ]
            .map(|name| state[name].clone())
            .to_vec()
            .into(),
        }
    }
}

fn incident(task: &str, scenario: &'static str, by_load: bool, acts: &[(&str, &str)]) -> Task {
    let acts = acts.iter().map(|(kind, target)| json!({"type": kind, "target": target}));
    Task {
        dialect: "incident-sim",
        scenario,
        query: "",
        reset: json!({"task_id": task}),
        plays: vec![acts.collect()],
        by_load,
    }
}

fn sentinel(task: &str, scenario: &'static str, by_load: bool, plays: &[&str]) -> Task {
    let act = |word: &str| match word {
        "wait" => json!({"action": {"command": "noop", "target": ""}}),
        name => json!({"action": {"command": "restart_service", "target": name}}),
    };
    Task {
        dialect: "sentinel",
        scenario,
        query: "",
        reset: json!({"task_id": task}),
        plays: plays.iter().map(|play| play.split(' ').map(act).collect()).collect(),
        by_load,
    }
}

fn netarena(query: &'static str, scenario: &'static str, commands: &[&str]) -> Task {
    let commands = commands.iter().map(|command| json!({"command": command}));
    Task {
        dialect: "netarena",
        scenario,
        query,
        reset: Value::Null,
        plays: vec![commands.collect()],
        by_load: false,
    }
}

fn triage(task: &str, seed: u64, scenario: &'static str, by_load: bool) -> Task {
    let wait = json!({"action_type": "verify", "target": "cdn", "parameters": {}});
    Task {
        dialect: "triage",
        scenario,
        query: "",
        reset: json!({"task_name": task, "seed": seed}),
        plays: vec![vec![wait]],
        by_load,
    }
}

fn tasks() -> Vec<Task> {
    let (look, gateway) = (("check_logs", "frontend"), ("scale_service", "api-gateway"));
    let (payment, auth) =
        (("restart_service", "payment-service"), ("restart_service", "auth-service"));
    let (fix, clear) = (("fix_query", "user-db"), ("clear_cache", "frontend"));
    vec![
        incident("easy", "payment-crash", false, &[look, payment]),
        incident("medium", "query-overload", true, &[look, gateway, fix]),
        incident("hard", "auth-cascade", true, &[look, auth, gateway, clear]),
        sentinel("api-recovery-easy", "api-recovery", false, &["wait web-api"]),
        sentinel("auth-latency-medium", "auth-latency", true, &["wait wait wait auth-db web-api"]),
        sentinel(
            "payment-cascade-hard",
            "payment-cascade",
            true,
            &["wait wait wait wait payment-gateway auth-db web-api", "payment-gateway web-api"],
        ),
        netarena("?task_id=task1", "service-down", &["systemctl status nginx"]),
        netarena("?task_id=task2", "port-conflict", &["ss -tlnp"]),
        netarena("?task_id=task3", "disk-full", &["systemctl start postgresql"]),
        triage("single_incident", 1, "connection-pool", true),
        triage("single_incident", 0, "disk-space", false),
        triage("single_incident", 5, "certificate", false),
        triage("multi_incident", 1, "memory-leak", true),
        triage("multi_incident", 0, "dns-deploy", false),
        triage("cascading_failure", 0, "full-stack", true),
    ]
}

/// What is halved of a lever.
#[derive(Clone, Debug, PartialEq)]
enum Half {
    /// A number that says how strong it is.
    Number(String),
    /// It has none: how long it lasts, or how many it hits.
    Extent,
}

/// Numbers of levers that are no strength.
const NAMES: [&str; 1] = ["pid"];

/// A factor of 1 and a number of 0 do nothing.
fn neutral(name: &str) -> f64 {
    if ["factor", "slow"].contains(&name) { 1.0 } else { 0.0 }
}

/// Every lever of a scenario, by event and pull, with everything of it that can be halved.
fn levers(scenario: &Scenario) -> Vec<(usize, usize, Half)> {
    let mut all = Vec::new();
    for (event, happens) in scenario.timeline.iter().enumerate() {
        let Happening::Pull { pulls, .. } = &happens.what else { continue };
        for (at, pull) in pulls.iter().enumerate() {
            let strong = |(name, value): (&String, &ParamValue)| match value {
                ParamValue::Number(n) if *n != neutral(name) && !NAMES.contains(&name.as_str()) => {
                    Some((event, at, Half::Number(name.clone())))
                }
                _ => None,
            };
            let before = all.len();
            all.extend(pull.args.0.iter().filter_map(strong));
            if all.len() == before {
                all.push((event, at, Half::Extent));
            }
        }
    }
    all
}

/// Halves it.
fn halve(scenario: &mut Scenario, (event, at, half): &(usize, usize, Half)) {
    let instances = &mut scenario.topology.instances;
    let Happening::Pull { pulls, lasting_s, .. } = &mut scenario.timeline[*event].what else {
        unreachable!("a lever is pulled there")
    };
    let pull = &mut pulls[*at];
    if let Half::Number(name) = half {
        let none = neutral(name);
        let value = none + (pull.args.number(name) - none) / 2.0;
        pull.args = pull.args.clone().with(name, value);
        return;
    }
    let mut scale = |name: &str| {
        let spec = &mut instances[pull.target.at()];
        let value = spec.params.number(name) / 2.0;
        spec.params = spec.params.clone().with(name, value);
    };
    match (pull.lever.clone().as_str(), &lasting_s) {
        (_, Some(seconds)) => *lasting_s = Some(seconds / 2),
        // Half of the connections are new, half of the statements wait long enough to fail.
        ("gateway.certificate_expiry", _) => scale("connection_churn"),
        ("db.lock", _) => scale("lock_timeout"),
        ("dns.record_lost", _) => {
            // Half of the callers have asked again by then.
            scenario.topology.names.iter_mut().for_each(|name| name.ttl_s *= 2.0);
        }
        ("host.process_crash", _) if split(instances, pull) => {}
        // What hits one process hits it or not.
        _ => drop(pulls.remove(*at)),
    }
}

/// Makes two groups of the replicas that a lever hits, of which it hits one; false where there is
/// one replica only.
fn split(instances: &mut [model::InstanceSpec], pull: &mut LeverPull) -> bool {
    let (of, group) = (pull.args.text("instance"), pull.args.text("group"));
    let spec = instances.iter_mut().find(|spec| spec.name == of).expect("an instance");
    let whole = spec.groups.iter_mut().find(|one| one.name == group).expect("a group");
    if whole.replicas < 2 {
        return false;
    }
    let half = GroupSpec { name: "half".into(), replicas: whole.replicas / 2, ..whole.clone() };
    whole.replicas -= half.replicas;
    spec.groups.push(half);
    true
}

#[tokio::test]
async fn half_of_any_lever_changes_a_status() {
    let (library, kinds) = (Library::shipped(), fleet::kinds());
    let mut weak = Vec::new();
    for task in tasks() {
        let whole = task.statuses(|_| {}).await;
        let scenario = scenario::load(&library, &task.name(), &kinds).expect("sound");
        let levers = levers(&scenario);
        assert!(!levers.is_empty(), "{} has no lever", task.name());
        for lever in levers {
            let halved = task.statuses(|scenario| halve(scenario, &lever)).await;
            if halved == whole {
                weak.push(format!("{} {lever:?}", task.name()));
            }
        }
    }
    assert!(weak.is_empty(), "changes nothing at half: {weak:#?}");
}

#[tokio::test]
async fn half_of_the_load_changes_a_status_where_a_task_is_about_load() {
    let mut wrong = Vec::new();
    for task in tasks() {
        let whole = task.statuses(|_| {}).await;
        let calm = task.statuses(|scenario| {
            scenario.workload.demand.iter_mut().for_each(|demand| demand.rate /= 2.0);
        });
        if (whole != calm.await) != task.by_load {
            wrong.push(task.name());
        }
    }
    assert!(wrong.is_empty(), "about load, and does not move, or the other way: {wrong:?}");
}

#[test]
fn all_scenarios_of_all_dialects_are_halved() {
    let names: Vec<_> = tasks().iter().map(Task::name).collect();
    for dialect in mayday::dialects::all() {
        for scenario in dialect.scenarios {
            assert!(names.iter().any(|name| name == scenario), "{scenario}");
        }
    }
}
