//! What a resolved compose file must say of every container.

use serde_json::Value;

/// Networks that nobody leaves.
const INTERNAL: [&str; 2] = ["control", "agents"];
/// The only ones of ours that run no component.
const OTHERS: [&str; 2] = ["grader", "orchestrator"];

/// What is broken, each with its place.
pub fn faults(file: &Value, kinds: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut need = |holds: bool, place: &str, what: &str| {
        if !holds {
            faults.push(format!("deploy/compose.yaml: {place}: {what}"));
        }
    };
    for network in INTERNAL {
        let internal = &file["networks"][network]["internal"];
        need(internal == true, network, "has to be internal");
    }
    let ours = || kinds.iter().map(String::as_str).chain(OTHERS);
    for name in ours() {
        let service = &file["services"][name];
        need(service.is_object(), name, "has no container");
        need(service["user"] == "65532:65532", name, "runs as another user");
        need(is_set(&service["mem_limit"]), name, "has no limit of memory");
        need(service["environment"]["MAYDAY_TOKEN"] == "s3cret", name, "is not given the token");
        need(service["healthcheck"]["test"][1] == "/mayday", name, "has no health check");
        let expected = if name == "orchestrator" {
            vec!["agents", "control", "published"]
        } else {
            vec!["control"]
        };
        need(names(&service["networks"]) == expected, name, "is on other networks");
        need(name == "orchestrator" || service["ports"].is_null(), name, "publishes a port");
    }
    for (name, service) in file["services"].as_object().into_iter().flatten() {
        need(service["read_only"] == true, name, "can write to its root");
        need(service["cap_drop"][0] == "ALL", name, "keeps capabilities");
        need(service["cap_add"].is_null(), name, "adds capabilities");
        need(service["privileged"].is_null(), name, "is privileged");
        let hardened = &service["security_opt"][0];
        need(hardened == "no-new-privileges:true", name, "may gain privileges");
        need(is_set(&service["pids_limit"]), name, "has no limit of processes");
        need(is_set(&service["mem_limit"]), name, "has no limit of memory");
        for port in service["ports"].as_array().into_iter().flatten() {
            let own = port.as_str().is_some_and(|port| port.starts_with("127.0.0.1:"))
                || port["host_ip"] == "127.0.0.1";
            need(own, name, "publishes beyond this machine");
        }
        let observes = service["profiles"][0] == "observability";
        need(ours().any(|one| one == name) != observes, name, "is of no role");
        let apart = !observes || !names(&service["networks"]).contains(&"agents");
        need(apart, name, "can be seen by agents");
    }
    faults
}

fn is_set(limit: &Value) -> bool {
    !limit.is_null() && limit != 0 && limit != "0"
}

/// A list or a map of names, in order.
fn names(networks: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = match networks {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::Object(names) => names.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sound() -> Value {
        let service = |networks: Value| {
            json!({
                "user": "65532:65532", "mem_limit": "512m", "pids_limit": 512, "read_only": true,
                "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"],
                "environment": {"MAYDAY_TOKEN": "s3cret"}, "networks": networks,
                "healthcheck": {"test": ["CMD", "/mayday", "health"]},
            })
        };
        let mut orchestrator = service(json!({"control": {}, "agents": {}, "published": {}}));
        orchestrator["ports"] = json!(["127.0.0.1:8000:8000"]);
        json!({
            "networks": {"control": {"internal": true}, "agents": {"internal": true}},
            "services": {
                "db": service(json!(["control"])),
                "grader": service(json!({"control": null})),
                "orchestrator": orchestrator,
            },
        })
    }

    #[test]
    fn every_rule_can_be_broken() {
        let kinds = ["db".to_string()];
        assert_eq!(faults(&sound(), &kinds), [""; 0]);
        for (pointer, value, says) in [
            ("/networks/agents/internal", json!(false), "agents: has to be internal"),
            ("/services/db/user", json!("root"), "db: runs as another user"),
            ("/services/db/mem_limit", json!(0), "db: has no limit of memory"),
            ("/services/db/pids_limit", json!(null), "db: has no limit of processes"),
            ("/services/db/read_only", json!(false), "db: can write to its root"),
            ("/services/db/cap_drop", json!([]), "db: keeps capabilities"),
            ("/services/db/security_opt", json!([]), "db: may gain privileges"),
            ("/services/db/environment", json!({}), "db: is not given the token"),
            ("/services/db/healthcheck", json!(null), "db: has no health check"),
            ("/services/db/networks", json!(["control", "agents"]), "db: is on other networks"),
            ("/services/grader", json!(null), "grader: has no container"),
            (
                "/services/orchestrator/ports",
                json!([{"target": 8000, "host_ip": "0.0.0.0"}]),
                "orchestrator: publishes beyond this machine",
            ),
        ] {
            let mut file = sound();
            *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
            let found = faults(&file, &kinds);
            assert!(found.iter().any(|fault| fault.ends_with(says)), "{says}: {found:?}");
        }
    }
}
