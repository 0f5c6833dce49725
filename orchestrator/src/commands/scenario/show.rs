//! `mayday scenario show`: everything about one scenario, for people who may know.

use crate::console;
use crate::failure::Failure;
use crate::shelf::LibraryArgs;
use action::Action;
use model::{EdgeSpec, InstanceId, Topology};
use scenario::Scenario;
use scenario::resolved::{AlertSeverity, Comparison, Condition, Event, Happening, Subject, When};
use serde_json::json;
use std::fmt::Write;

/// Options of `mayday scenario show`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// A name, a stem or a .yaml file.
    #[arg(value_name = "NAME")]
    name: String,
    /// Print the resolved scenario as JSON, as it stands in records.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let shelf = options.library.open()?;
    for scenario in shelf.load_all(std::slice::from_ref(&options.name))? {
        if options.json {
            console::json(&json!(*scenario));
        } else {
            console::out_raw(text(&scenario));
        }
    }
    Ok(())
}

fn text(s: &Scenario) -> String {
    let mut text = format!("{}: {}\n{}\n\n", s.name, s.title, s.summary.trim());
    let kind = if s.healthy { "nothing is broken" } else { "something is broken" };
    let timing = &s.timing;
    let _ = writeln!(
        text,
        "tier {}, {kind}; {} min for at most {} steps, then {} min of tail; warm-up {} s",
        s.tier,
        timing.horizon.0 / 60,
        timing.step_limit,
        timing.end.since(timing.horizon) / 60,
        -timing.start.0
    );
    let stakes = &s.stakes;
    let _ = writeln!(
        text,
        "stake {} user-minutes, an extra replica costs {} per minute\n",
        stakes.stake, stakes.capacity_price
    );
    system(&mut text, &s.topology);
    let _ = writeln!(text, "\nalerts");
    for alert in &s.alerts {
        let severity = match alert.severity {
            AlertSeverity::Page => "page",
            AlertSeverity::Ticket => "ticket",
        };
        let when = condition(s, &alert.when);
        let _ = writeln!(text, "  {severity:<7} {}: {when}. {}", alert.name, alert.summary);
    }
    events(&mut text, s, "what happens", &s.timeline);
    events(&mut text, s, "recheck, after the agent's phase", &s.recheck);
    truth(&mut text, s);
    text
}

fn system(text: &mut String, topology: &Topology) {
    let _ = writeln!(text, "system {}", topology.name);
    for instance in &topology.instances {
        let groups: Vec<_> = instance
            .groups
            .iter()
            .map(|g| format!("{}×{} on {}", g.replicas, g.version, name(topology, g.host)))
            .collect();
        let _ = writeln!(text, "  {:<14} {:<8} {}", instance.name, instance.kind, groups.join(", "));
    }
    let of = |edge: &EdgeSpec| {
        let from = edge.from.map_or("users", |id| name(topology, id));
        format!("{from} → {}", name(topology, edge.to))
    };
    let edges: Vec<_> = topology.edges.iter().map(of).collect();
    let _ = writeln!(text, "  calls: {}", edges.join(", "));
}

fn name(topology: &Topology, id: InstanceId) -> &str {
    topology.instances.get(id.at()).map_or("?", |instance| instance.name.as_str())
}

fn condition(s: &Scenario, condition: &Condition) -> String {
    let of = match condition.of {
        Subject::Component(id) => name(&s.topology, id).to_string(),
        Subject::Users => "users".into(),
        Subject::Slo(at) => format!(
            "objective {}",
            s.slos.get(usize::from(at)).map_or("?", |slo| slo.name.as_str())
        ),
    };
    let side = match condition.comparison {
        Comparison::Above => "above",
        Comparison::Below => "below",
    };
    let Condition { signal, value, for_s, .. } = condition;
    format!("{signal} of {of} {side} {value} for {for_s} s")
}

fn events(text: &mut String, s: &Scenario, title: &str, events: &[Event]) {
    if events.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for event in events {
        let at = match &event.at {
            When::Tick(tick) => tick.to_string(),
            When::Condition { when, .. } => format!("when {}", condition(s, when)),
        };
        let what = match &event.what {
            Happening::Pull { label, fault, pulls, lasting_s } => {
                let on: Vec<_> = pulls
                    .iter()
                    .map(|p| format!("{} on {}", p.lever, name(&s.topology, p.target)))
                    .collect();
                let lasting = lasting_s.map(|s| format!(" for {s} s")).unwrap_or_default();
                format!("fault {fault} ({label}){lasting}: {}", on.join(", "))
            }
            Happening::Clear { label, .. } => format!("the fault {label} ends"),
            Happening::Order(order) => {
                format!("{} at {}", order.verb, name(&s.topology, order.target))
            }
            Happening::Note { component, text } => {
                format!("note at {}: {text}", name(&s.topology, *component))
            }
        };
        let _ = writeln!(text, "  {at:<13} {what}");
    }
}

fn truth(text: &mut String, s: &Scenario) {
    let _ = writeln!(text, "\ncauses");
    for cause in &s.truth.causes {
        let class = cause.class.name();
        let on = match (cause.component, cause.edge) {
            (Some(id), _) => name(&s.topology, id).to_string(),
            (None, Some(edge)) => {
                let edge = &s.topology.edges[edge.at()];
                let from = edge.from.map_or("users", |id| name(&s.topology, id));
                format!("{from} → {}", name(&s.topology, edge.to))
            }
            (None, None) => "nowhere".into(),
        };
        let _ = writeln!(text, "  {class} at {on}, since {}", cause.onset);
    }
    for evidence in &s.truth.evidence {
        let of = name(&s.topology, evidence.component);
        let _ = writeln!(text, "  seen at {of}: {}", evidence.shows);
    }
    plan(text, "reference plan", &s.truth.reference);
    for wrong in &s.truth.wrong {
        plan(text, &format!("{:?} plan", wrong.label).to_lowercase(), &wrong.plan);
        let _ = writeln!(text, "  {}", wrong.why);
    }
}

fn plan(text: &mut String, title: &str, actions: &[Action]) {
    let _ = writeln!(text, "\n{title}");
    for action in actions {
        let _ = writeln!(text, "  {action}");
    }
}
