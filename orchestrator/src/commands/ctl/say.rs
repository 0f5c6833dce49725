//! Answers of the control port for a person.

use super::ask::Control;
use super::{number, rows};
use crate::console;
use crate::failure::Failure;
use action::near::suggestion;
use model::{decimals, signed};
use prost_types::value::Kind;
use proto::orchestrator::v1 as pb;

pub(super) fn summaries(all: &[pb::Summary], live: bool) {
    if all.is_empty() {
        return console::note(if live { "no episodes" } else { "no records" });
    }
    let row = |one: &pb::Summary| {
        let state = match (one.end.as_str(), one.live, live) {
            ("", true, _) => "live",
            ("", false, true) => "asleep",
            ("", false, false) => "not over",
            (end, ..) => end,
        };
        vec![
            one.episode.clone(),
            one.scenario.clone(),
            state.into(),
            one.seed.to_string(),
            one.steps.to_string(),
            one.score.map(|score| format!("{score:.3}")).unwrap_or_default(),
        ]
    };
    rows(&["episode", "scenario", "state", "seed", "steps", "score"], 3, all.iter().map(row));
}

pub(super) fn shown(one: &pb::ShowResponse) {
    let state = if one.end.is_empty() { "live" } else { &one.end };
    console::out(format_args!(
        "{}  {} ({}), seed {}, task {}\n{state}: {} of {} s, step {} of {}; {} user-minutes are \
         lost",
        one.episode,
        one.scenario,
        one.title,
        one.seed,
        one.task,
        one.tick,
        one.horizon,
        one.steps,
        one.step_limit,
        number(one.impact)
    ));
    if !one.injected.is_empty() {
        pulls("injected", one.tick, &one.injected);
    }
}

pub(super) fn faults(catalogue: &pb::CatalogueResponse, levers: bool) {
    let fault = |fault: &pb::Fault| {
        let first = fault.description.split_inclusive(". ").next().unwrap_or_default();
        vec![fault.name.clone(), fault.targets.clone(), first.trim().to_string()]
    };
    rows(&["fault", "hits", "what"], 0, catalogue.faults.iter().map(fault));
    if levers {
        let all = catalogue.kinds.iter().flat_map(|kind| {
            let lever =
                |l: &pb::Lever| vec![l.name.clone(), kind.name.clone(), l.description.clone()];
            kind.levers.iter().map(lever).collect::<Vec<_>>()
        });
        rows(&["lever", "of kind", "what"], 0, all);
    }
}

/// One fault or lever, with its parameters.
pub(super) fn fault(
    control: &Control,
    catalogue: &pb::CatalogueResponse,
    name: &str,
) -> Result<(), Failure> {
    if let Some(fault) = catalogue.faults.iter().find(|fault| fault.name == name) {
        return control.say("Fault", fault, |fault| {
            console::out(format_args!("{}\n\nHits {}.", fault.description, fault.targets));
            fault.symptoms.iter().for_each(|symptom| console::out(format_args!("- {symptom}")));
            parameters(&fault.parameters);
        });
    }
    let mut levers = catalogue.kinds.iter().flat_map(|kind| &kind.levers);
    if let Some(lever) = levers.find(|lever| lever.name == name) {
        return control.say("Lever", lever, |lever| {
            console::out(&lever.description);
            parameters(&lever.parameters);
        });
    }
    let known: Vec<_> = catalogue.faults.iter().map(|fault| fault.name.as_str()).collect();
    let sentence = suggestion("fault", name, &known);
    Err(Failure::usage(format!("{sentence}; levers: `mayday ctl faults --levers`")))
}

fn parameters(all: &[pb::Parameter]) {
    if all.is_empty() {
        return console::out("\nIt takes no parameters.");
    }
    let row = |one: &pb::Parameter| {
        let must = if one.required { "required" } else { "" };
        vec![one.name.clone(), must.into(), one.accepts.clone(), one.description.clone()]
    };
    rows(&["parameter", "", "accepts", "what"], 0, all.iter().map(row));
}

pub(super) fn pulls(what: &str, tick: i64, all: &[pb::Pull]) {
    if all.is_empty() {
        return console::out(format_args!("nothing {what} at {tick} s"));
    }
    console::out(format_args!("{what} at {tick} s:"));
    let row = |one: &pb::Pull| {
        let at = if one.edge.is_empty() { &one.component } else { &one.edge };
        vec![one.id.to_string(), one.lever.clone(), at.clone(), given(one)]
    };
    rows(&["id", "lever", "on", "parameters"], 0, all.iter().map(row));
}

fn given(pull: &pb::Pull) -> String {
    let fields = pull.parameters.iter().flat_map(|given| &given.fields);
    let words = fields.filter_map(|(name, value)| match &value.kind {
        Some(Kind::NumberValue(number)) => Some(format!("{name}={number}")),
        Some(Kind::StringValue(text)) => Some(format!("{name}={text}")),
        Some(Kind::BoolValue(flag)) => Some(format!("{name}={flag}")),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

pub(super) fn inspected(reply: &pb::InspectResponse) {
    for one in &reply.components {
        console::out(format_args!("{} ({})", one.name, one.kind));
        for pull in &one.levers {
            console::out(format_args!("    pulled: {} {}", pull.lever, given(pull)));
        }
        for order in &one.pending {
            console::out(format_args!("    ordered: {} in {} s", order.order, order.seconds));
        }
        for (name, value) in &one.facts {
            // To the millionth: the rest is in --json.
            let value = (value * 1e6).round() / 1e6;
            console::out(format_args!("    {name} {value}"));
        }
    }
    for pull in &reply.entries {
        console::out(format_args!("{}: {} {}", pull.edge, pull.lever, given(pull)));
    }
}

pub(super) fn verdicts(all: &[pb::Verdict]) {
    let row = |one: &pb::Verdict| {
        vec![
            one.episode.clone(),
            if one.over { "over" } else { "if left now" }.to_string(),
            one.tick.to_string(),
            number(one.impact_now),
            number(one.impact),
            number(one.impact_noop),
            number(one.impact_reference),
            decimals(one.score, 3),
        ]
    };
    let head =
        ["episode", "", "s", "lost so far", "at the end", "nobody acts", "reference", "score"];
    rows(&head, 2, all.iter().map(row));
    if let [one] = all {
        for term in &one.terms {
            let worth = signed(term.value, 3);
            console::out(format_args!("  {worth}  {}: {}", term.name, term.reason));
        }
    }
}
