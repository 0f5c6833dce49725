//! Objectives, alerts, and the conditions they share with events.

use super::lookup;
use crate::grammar::{self, missing_field};
use crate::raw::{Flaw, Node};
use crate::resolved::{
    Alert, AlertSeverity, Comparison, Condition, SLO_SIGNALS, Slo, Subject, USER_SIGNALS,
};
use action::near::suggestion;
use machine::Kinds;
use model::{ParamKind, ParamValue, Topology};

/// Names of signals and their units.
pub(super) type Signals = Vec<(&'static str, &'static str)>;

/// The objectives.
pub(super) fn slos(nodes: &[Node], topology: &Topology) -> Result<Vec<Slo>, Flaw> {
    let mut slos: Vec<Slo> = Vec::new();
    for node in nodes {
        let name = node.text("name").to_string();
        if slos.iter().any(|slo| slo.name == name) {
            return Err(Flaw::new(node.at("name"), format!("there are two objectives `{name}`")));
        }
        let objective = node.number("objective", 0.0);
        if objective <= 0.0 || objective >= 1.0 {
            let message = format!("`objective` is {objective}; expected more than 0, less than 1");
            return Err(Flaw::new(node.at("objective"), message));
        }
        let window = |name: &str, absent: f64| node.number(name, absent) as u32;
        let (fast_s, slow_s) = (window("fast", 60.0), window("slow", 300.0));
        if fast_s > slow_s {
            return Err(Flaw::new(node.at("fast"), "`fast` is longer than `slow`"));
        }
        let classes = lookup::classes(topology, node.get("classes"))?;
        let burn = node.number("burn", 10.0);
        slos.push(Slo { name, classes, objective, fast_s, slow_s, burn });
    }
    Ok(slos)
}

/// What conditions are resolved against.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    pub(super) topology: &'a Topology,
    pub(super) kinds: &'a dyn Kinds,
    pub(super) slos: &'a [Slo],
}

impl Watch<'_> {
    /// The alert rules; one of them pages.
    pub(super) fn alerts(&self, node: &Node) -> Result<Vec<Alert>, Flaw> {
        let mut alerts: Vec<Alert> = Vec::new();
        for written in node.list("alerts") {
            let name = written.text("name").to_string();
            if alerts.iter().any(|alert| alert.name == name) {
                let message = format!("there are two alerts `{name}`");
                return Err(Flaw::new(written.at("name"), message));
            }
            let page = written.text("severity") == "page";
            alerts.push(Alert {
                name,
                severity: if page { AlertSeverity::Page } else { AlertSeverity::Ticket },
                when: self.condition(written)?,
                summary: written.text("summary").into(),
            });
        }
        if alerts.iter().all(|alert| alert.severity != AlertSeverity::Page) {
            let message = "no alert has the severity page, so nothing starts the episode";
            return Err(Flaw::new(node.at("alerts"), message));
        }
        Ok(alerts)
    }

    /// A condition.
    pub(super) fn condition(&self, node: &Node) -> Result<Condition, Flaw> {
        let (of, signals) = self.subject(node)?;
        let name = node.text("signal");
        let Some((_, unit)) = signals.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = signals.iter().map(|(name, _)| *name).collect();
            return Err(Flaw::new(node.at("signal"), suggestion("signal", name, &known)));
        };
        let (comparison, limit) = match (node.get("above"), node.get("below")) {
            (Some(limit), None) => (Comparison::Above, limit),
            (None, Some(limit)) => (Comparison::Below, limit),
            (None, None) => return Err(missing_field(node.at, "above", "`above` or `below`")),
            (Some(_), Some(limit)) => {
                return Err(Flaw::new(limit.at, "`above` and `below` exclude each other"));
            }
        };
        Ok(Condition {
            of,
            signal: name.into(),
            comparison,
            value: level(limit, unit)?,
            for_s: node.number("for", 1.0) as u32,
        })
    }

    /// Whose signal it is, and which there are with their units.
    fn subject(&self, node: &Node) -> Result<(Subject, Signals), Flaw> {
        match (node.get("on"), node.get("slo")) {
            (Some(_), Some(slo)) => Err(Flaw::new(slo.at, "`on` and `slo` exclude each other")),
            (None, None) => {
                Err(missing_field(node.at, "on", "a component, `users`, or `slo` instead"))
            }
            (None, Some(slo)) => match self.slos.iter().position(|s| s.name == slo.word()) {
                Some(at) => Ok((Subject::Slo(at as u16), of_list(SLO_SIGNALS))),
                None => {
                    let known: Vec<_> = self.slos.iter().map(|slo| slo.name.as_str()).collect();
                    Err(Flaw::new(slo.at, suggestion("objective", slo.word(), &known)))
                }
            },
            (Some(on), None) if on.word() == "users" => Ok((Subject::Users, of_list(USER_SIGNALS))),
            (Some(on), None) => {
                let id = lookup::instance(self.topology, on.word(), on.at)?;
                let signals = self.signals(id);
                Ok((Subject::Component(id), signals))
            }
        }
    }

    /// Signals of a component and their units.
    pub(super) fn signals(&self, id: model::InstanceId) -> Signals {
        let kind = self.kinds.find(&self.topology.instances[id.at()].kind);
        let signals = kind.map_or(&[][..], |kind| kind.signals());
        signals.iter().map(|signal| (signal.name, signal.unit)).collect()
    }
}

/// Shares have the unit 1, rates one per second.
fn of_list(list: &'static [(&str, &str)]) -> Signals {
    let unit = |name: &str| if name.ends_with(".rate") { "{request}/s" } else { "1" };
    list.iter().map(|(name, _)| (*name, unit(name))).collect()
}

/// A value in the unit of its signal.
fn level(node: &Node, unit: &str) -> Result<f64, Flaw> {
    const MAX: f64 = 1e15;
    let text = match node.scalar() {
        Some(ParamValue::Number(number)) => return Ok(*number),
        Some(ParamValue::Text(text)) => text.trim(),
        _ => "",
    };
    let (kind, expected) = match unit {
        "s" => (ParamKind::Duration { min: 0.0, max: MAX }, "a duration such as 250ms".to_string()),
        "By" => (ParamKind::Bytes { min: 0.0, max: MAX }, "a size such as 512MiB".to_string()),
        "1" => (ParamKind::Ratio, "a share such as 5%, or a number".to_string()),
        _ => (ParamKind::Number { min: 0.0, max: MAX }, format!("a number in {unit}")),
    };
    let rate = text.strip_suffix("/s").filter(|_| unit.ends_with("/s"));
    let number = match rate {
        Some(number) => number.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        None => {
            let mut converted = node.clone();
            let fits = grammar::convert(&mut converted, &kind).is_ok();
            match converted.scalar() {
                Some(ParamValue::Number(number)) if fits => Some(*number),
                _ => None,
            }
        }
    };
    number.ok_or_else(|| {
        let message =
            format!("is {}; the signal is in {unit}: expected {expected}", node.describe());
        Flaw::new(node.at, message)
    })
}
