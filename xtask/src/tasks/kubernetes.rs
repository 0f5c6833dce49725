//! `kubernetes`: what `deploy/kubernetes` and `deploy/balancer` say, held against the schemas of
//! Kubernetes, against rules of our own, against each other, and against HAProxy itself.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;
use crate::workspace::Workspace;

/// The package of PyPI that has the schemas, and the versions that are held against.
const VALIDATOR: &str = "kubernetes-validate==1.37.0";
const VERSIONS: [&str; 2] = ["1.30.0", "1.37.0"];
const FOLDER: &str = "deploy/kubernetes";
const PLAIN: &str = "deploy/balancer/haproxy.cfg";
const IN_CLUSTER: &str = "deploy/kubernetes/haproxy.cfg";

/// Options of `kubernetes`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

/// Runs the task.
pub fn run(workspace: &Workspace, _: &Args) -> Result<ExitCode> {
    let mut faults = Vec::new();
    let built = build(workspace)?;
    let resources: Vec<Value> =
        serde_saphyr::from_multiple(&built).context("read what was built")?;
    for resource in &resources {
        faults.extend(rules(resource));
    }
    faults.extend(unguarded(&resources));
    let read = |path: &'static str| fs::read_to_string(workspace.path(path)).context(path);
    faults.extend(differences(&read(PLAIN)?, &read(IN_CLUSTER)?));
    for fault in &faults {
        println!("{fault}");
    }
    let passed = validate(workspace, &built)? & balancers(workspace)?;
    println!("{} resources, {} broken rules", resources.len(), faults.len());
    Ok(if passed && faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All resources, as they would be applied.
fn build(workspace: &Workspace) -> Result<String> {
    for (program, words) in [("kustomize", &["build"][..]), ("kubectl", &["kustomize"][..])] {
        let mut command = Command::new(program);
        command.args(words).arg(workspace.path(FOLDER));
        if let Ok(output) = command.output() {
            if !output.status.success() {
                bail!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            return Ok(String::from_utf8(output.stdout)?);
        }
    }
    println!("test skipped: kustomization.yaml: neither kustomize nor kubectl is installed");
    let mut all = String::new();
    for name in ["namespace", "replicas", "balancer", "network-policy"] {
        let path = workspace.path(FOLDER).join(format!("{name}.yaml"));
        all += &format!("---\n{}", fs::read_to_string(&path)?);
    }
    Ok(all)
}

/// Against the schemas, by the package of PyPI, which is installed under `target/`.
fn validate(workspace: &Workspace, built: &str) -> Result<bool> {
    let home = workspace.path("target/kubernetes-validate");
    let program = home.join("bin/kubernetes-validate");
    if !program.exists() {
        let made = process::run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let mut install = Command::new(home.join("bin/pip"));
        if !made || !process::run(install.args(["install", "--quiet", VALIDATOR]))? {
            bail!("{VALIDATOR} cannot be installed: Python 3 with venv and PyPI are needed");
        }
    }
    let file = home.join("built.yaml");
    fs::write(&file, built)?;
    let mut passed = true;
    for version in VERSIONS {
        let mut command = Command::new(&program);
        passed &= process::run(command.args(["--strict", "--quiet", "-k", version]).arg(&file))?;
    }
    Ok(passed)
}

/// Both configurations, as HAProxy reads them.
fn balancers(workspace: &Workspace) -> Result<bool> {
    if Command::new("haproxy").arg("-v").output().is_err() {
        println!("test skipped: configurations of the balancer: haproxy is not installed");
        return Ok(true);
    }
    let mut passed = true;
    for path in [PLAIN, IN_CLUSTER] {
        let mut command = Command::new("haproxy");
        command.args(["-c", "-q", "-f"]).arg(workspace.path(path)).env("NAMESPACE", "mayday");
        command.env("MAYDAY_BALANCER", "127.0.0.1:1");
        for n in 1..=3 {
            command.env(format!("MAYDAY_REPLICA_{n}"), format!("127.0.0.1:{n}"));
        }
        passed &= process::run(&mut command)?;
    }
    Ok(passed)
}

/// What a container has to forbid and to name.
fn rules(resource: &Value) -> Vec<String> {
    let name = format!("{}/{}", text(resource, "/kind"), text(resource, "/metadata/name"));
    let Some(pod) = resource.pointer("/spec/template/spec") else { return Vec::new() };
    let mut faults = Vec::new();
    let mut need = |holds: bool, what: String| {
        if !holds {
            faults.push(format!("{name}: {what}"));
        }
    };
    let is = |value: &Value, at: &str, wanted: Value| value.pointer(at) == Some(&wanted);
    need(is(pod, "/automountServiceAccountToken", false.into()), "mounts a token".into());
    need(is(pod, "/securityContext/runAsNonRoot", true.into()), "may run as root".into());
    let profile = is(pod, "/securityContext/seccompProfile/type", "RuntimeDefault".into());
    need(profile, "has no seccomp profile".into());
    for container in pod["containers"].as_array().into_iter().flatten() {
        let called = text(container, "/name");
        let of = |at: &str, wanted: Value| is(container, &format!("/securityContext{at}"), wanted);
        need(of("/readOnlyRootFilesystem", true.into()), format!("{called} may write its image"));
        let escalates = of("/allowPrivilegeEscalation", false.into());
        need(escalates, format!("{called} may gain privileges"));
        let all = serde_json::json!(["ALL"]);
        need(of("/capabilities/drop", all), format!("{called} keeps capabilities"));
        for at in
            ["/resources/requests/cpu", "/resources/requests/memory", "/resources/limits/memory"]
        {
            need(container.pointer(at).is_some(), format!("{called} has no {at}"));
        }
        for probe in ["readinessProbe", "livenessProbe"] {
            need(container.get(probe).is_some(), format!("{called} has no {probe}"));
        }
    }
    faults
}

/// Pods that no network policy but the one for everybody is about.
fn unguarded(resources: &[Value]) -> Vec<String> {
    let of = |kind: &'static str| resources.iter().filter(move |r| text(r, "/kind") == kind);
    let label = "/matchLabels/app.kubernetes.io~1name";
    let closed = of("NetworkPolicy").any(|policy| {
        let selector = policy.pointer("/spec/podSelector");
        selector.is_some_and(|all| all.as_object().is_some_and(serde_json::Map::is_empty))
            && policy.pointer("/spec/policyTypes")
                == Some(&serde_json::json!(["Ingress", "Egress"]))
            && policy.pointer("/spec/ingress").is_none()
            && policy.pointer("/spec/egress").is_none()
    });
    let mut faults = Vec::new();
    if !closed {
        faults.push("no network policy closes the namespace".to_string());
    }
    for deployment in of("Deployment") {
        let pods = text(deployment, &format!("/spec/selector{label}"));
        let about = |policy: &Value| text(policy, &format!("/spec/podSelector{label}")) == pods;
        if !of("NetworkPolicy").any(about) {
            faults.push(format!("Deployment/{pods}: no network policy is about it"));
        }
    }
    faults
}

fn text<'a>(value: &'a Value, at: &str) -> &'a str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// Lines of the balancer beside a host that the one in a cluster does not have: it differs in
/// where it listens and how it finds its replicas.
fn differences(plain: &str, in_cluster: &str) -> Vec<String> {
    let lines = |text: &'static str| move |line: &&str| !line.trim_start().starts_with(text);
    let meant = plain.lines().map(str::trim).filter(|line| !line.is_empty());
    let meant = meant.filter(|line| !line.starts_with('#'));
    let own = meant.filter(lines("bind")).filter(lines("server "));
    let missing = own.filter(|line| !in_cluster.lines().any(|other| other.trim() == *line));
    missing.map(|line| format!("{IN_CLUSTER}: `{line}` of {PLAIN} is missing")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn folder() -> Vec<Value> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER);
        let read = |name| fs::read_to_string(root.join(name)).unwrap();
        ["replicas.yaml", "balancer.yaml", "network-policy.yaml"]
            .iter()
            .flat_map(|name| serde_saphyr::from_multiple::<Value>(&read(name)).unwrap())
            .collect()
    }

    #[test]
    fn what_is_shipped_breaks_no_rule() {
        let resources = folder();
        let faults: Vec<_> =
            resources.iter().flat_map(rules).chain(unguarded(&resources)).collect();
        assert_eq!(faults, [] as [String; 0]);
    }

    #[test]
    fn each_rule_can_be_broken() {
        let mut resources = folder();
        let replica =
            resources.iter_mut().find(|r| text(r, "/metadata/name") == "replica").unwrap();
        let pod = replica.pointer_mut("/spec/template/spec").unwrap();
        pod["automountServiceAccountToken"] = true.into();
        pod["securityContext"] = Value::Null;
        pod["containers"][0] = serde_json::json!({"name": "bare"});
        let faults = rules(replica);
        assert_eq!(faults.len(), 3 + 3 + 3 + 2, "{faults:#?}");
        resources.retain(|resource| text(resource, "/kind") != "NetworkPolicy");
        assert_eq!(unguarded(&resources).len(), 3);
        let plain = "# a\nbackend b\n    balance leastconn\n    server x\n    bind y\n";
        assert_eq!(
            differences(plain, "backend b\n"),
            [format!("{IN_CLUSTER}: `balance leastconn` of {PLAIN} is missing")]
        );
    }
}
