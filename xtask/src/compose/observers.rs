//! The configurations of the observers: they name each other, and metrics that exist.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::source_tree;
use crate::workspace::Workspace;

/// Prometheus.
pub const PROMETHEUS: &str = "deploy/observability/prometheus.yaml";
const COLLECTOR: &str = "deploy/observability/collector.yaml";
const SOURCES: &str = "deploy/observability/grafana/provisioning/datasources/mayday.yaml";
const PROVIDERS: &str = "deploy/observability/grafana/provisioning/dashboards/mayday.yaml";
const DASHBOARD: &str = "deploy/observability/grafana/dashboards/mayday.json";
/// Where names of what is exported are written.
const NAMES: [&str; 3] = ["crates/otlp/src", "crates/server/src", "services"];
/// Resource attributes are labels that Prometheus promotes.
const PROMOTED: &str = "/otlp/promote_resource_attributes";

/// What is wrong with them.
pub fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let yaml = |path: &str| -> Result<Value> {
        let text =
            fs::read_to_string(workspace.path(path)).with_context(|| format!("read {path}"))?;
        serde_saphyr::from_str(&text).with_context(|| path.to_string())
    };
    let (sources, providers) = (yaml(SOURCES)?, yaml(PROVIDERS)?);
    let (collector, prometheus) = (yaml(COLLECTOR)?, yaml(PROMETHEUS)?);
    let text = fs::read_to_string(workspace.path(DASHBOARD))?;
    let dashboard: Value = serde_json::from_str(&text).context(DASHBOARD)?;
    let mut faults = pipelines(&collector);
    let folder = &providers["providers"][0]["options"]["path"];
    if folder != "/etc/mayday/dashboards" {
        faults.push(format!("{PROVIDERS}: dashboards are mounted at /etc/mayday/dashboards"));
    }
    let known: BTreeSet<_> =
        list(&sources["datasources"]).filter_map(|s| s["uid"].as_str()).collect();
    let mut used = BTreeSet::new();
    let mut expressions = BTreeSet::new();
    walk(&dashboard, &mut used, &mut expressions);
    walk(&sources, &mut used, &mut expressions);
    for uid in used.iter().filter(|uid| !known.contains(uid.as_str())) {
        faults.push(format!("{SOURCES}: there is no data source `{uid}`, which is used"));
    }
    let mut names = exported(workspace)?;
    let promoted = prometheus.pointer(PROMOTED).context("promoted attributes")?;
    let labels = list(promoted).filter_map(Value::as_str).map(underscored);
    names.extend(labels);
    for expression in &expressions {
        for word in unknown(expression, &names) {
            faults.push(format!("{DASHBOARD}: nothing exports `{word}`: {expression}"));
        }
    }
    if expressions.is_empty() {
        faults.push(format!("{DASHBOARD}: shows nothing"));
    }
    Ok(faults)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Every part of a pipeline is configured, and every part is in one.
fn pipelines(collector: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for role in ["receivers", "processors", "exporters"] {
        let configured: BTreeSet<_> =
            collector[role].as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
        let pipelines = collector["service"]["pipelines"].as_object().into_iter().flatten();
        let used: BTreeSet<_> =
            pipelines.flat_map(|(_, p)| list(&p[role])).filter_map(Value::as_str).collect();
        if configured.is_empty() || configured != used {
            faults.push(format!("{COLLECTOR}: {role}: {configured:?} configured, {used:?} used"));
        }
    }
    faults
}

/// Data sources and queries, wherever they are.
fn walk(value: &Value, sources: &mut BTreeSet<String>, expressions: &mut BTreeSet<String>) {
    for child in list(value) {
        walk(child, sources, expressions);
    }
    for (name, child) in value.as_object().into_iter().flatten() {
        match (name.as_str(), child) {
            ("datasourceUid", Value::String(uid)) => drop(sources.insert(uid.clone())),
            ("datasource", Value::Object(source)) => {
                sources.extend(source.get("uid").and_then(Value::as_str).map(str::to_string));
            }
            ("expr", Value::String(text)) => drop(expressions.insert(text.clone())),
            // Variables: `label_values(metric, label)`.
            ("definition", Value::String(text)) => drop(expressions.insert(text.clone())),
            _ => {}
        }
        walk(child, sources, expressions);
    }
}

fn underscored(name: &str) -> String {
    name.replace('.', "_")
}

/// Text literals in the sources of what is exported.
fn exported(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for folder in NAMES {
        for path in source_tree::files(&workspace.path(folder), "rs")? {
            let text = fs::read_to_string(&path)?;
            names.extend(text.split('"').skip(1).step_by(2).map(underscored));
        }
    }
    Ok(names)
}

/// Names in a query that nothing exports; functions and words of the language are lower down.
fn unknown(expression: &str, names: &BTreeSet<String>) -> Vec<String> {
    const WORDS: [&str; 7] =
        ["sum", "by", "le", "increase", "histogram_quantile", "label_values", "rate"];
    let mut outside = String::new();
    // What is in quotes is a value, what is in brackets a length.
    for (at, part) in expression.split('"').enumerate() {
        outside += if at % 2 == 0 { part } else { " " };
    }
    let outside = outside.split('[').map(|part| part.split(']').next_back().unwrap_or_default());
    let text = outside.collect::<Vec<_>>().join(" ");
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    let known = |word: &str| {
        let histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end));
        WORDS.contains(&word)
            || names.contains(word)
            || histogram.is_some_and(|name| names.contains(name))
    };
    words.filter(|word| !known(word)).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_for_what_nobody_exports_is_found() {
        let names = ["requests_rate", "latency", "service_name"].map(str::to_string).into();
        let sound =
            "sum by (le, service_name) (increase(latency_bucket{service_name=~\"$x\"}[1m]))";
        assert_eq!(unknown(sound, &names), [""; 0]);
        assert_eq!(unknown("requests_rat{service_name=\"a\"}", &names), ["requests_rat"]);
        assert_eq!(unknown("label_values(requests_rate, system)", &names), ["system"]);
    }

    #[test]
    fn a_pipeline_without_its_parts_is_found() {
        let text = "receivers: {otlp: {}}\nprocessors: {p: {}}\nexporters: {a: {}, b: {}}\n\
                    service: {pipelines: {traces: {receivers: [otlp], processors: [p], exporters: [a]}}}";
        let faults = pipelines(&serde_saphyr::from_str(text).unwrap());
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("exporters"), "{faults:?}");
    }
}
