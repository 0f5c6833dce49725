//! The whole scenario, section by section.

use super::events::Events;
use super::watch::{self, Watch};
use super::{merge, plan, topology, workload};
use crate::format::TOPOLOGY;
use crate::grammar;
use crate::raw::{Flaw, Node};
use crate::resolved::{FORMAT, RECHECK_AFTER, Scenario, Stakes, Timing, Truth};
use machine::Kinds;
use model::{Tick, Topology};

/// Shortest tail, seconds.
const TAIL_MIN: f64 = 300.0;

/// Resolves a checked scenario called `family/stem` on the topology it names, as read.
pub(crate) fn scenario(
    name: &str,
    node: &Node,
    base: (&str, Node),
    kinds: &dyn Kinds,
) -> Result<Scenario, Flaw> {
    let topology = system(node, base, kinds)?;
    let timing = timing(node)?;
    let mut workload = match node.get("workload") {
        Some(written) => workload::workload(written, &topology)?,
        None => return Err(grammar::missing_field(node.at, "workload", "a map")),
    };
    let slos = watch::slos(node.list("slos"), &topology)?;
    let watch = Watch { topology: &topology, kinds, slos: &slos };
    let alerts = watch.alerts(node)?;
    let mut events = Events::new(watch, timing.end.0);
    let timeline = events.resolve(node.list("timeline"), 0, timing.start.0, false)?;
    let from = timing.recheck.0;
    let recheck = events.resolve(node.list("recheck"), from, from, true)?;
    workload.bursts.extend(events.into_bursts());
    let truth = plan::truth(node, &watch)?;
    let tier = node.number("tier", 0.0) as u8;
    let healthy = node.flag("healthy", tier == 0);
    check_truth(node, healthy, &truth)?;
    Ok(Scenario {
        format: FORMAT,
        name: name.into(),
        family: name.split_once('/').map_or(name, |(family, _)| family).into(),
        title: node.text("title").into(),
        summary: node.text("summary").trim().into(),
        tier,
        healthy,
        timing,
        workload,
        alerts,
        timeline,
        recheck,
        stakes: stakes(node),
        truth,
        slos,
        topology,
    })
}

/// The topology with the scenario's overrides.
fn system(node: &Node, base: (&str, Node), kinds: &dyn Kinds) -> Result<Topology, Flaw> {
    let (name, mut written) = base;
    if let Some(over) = node.get("overrides") {
        merge::lay_over(&mut written, over)?;
    }
    grammar::check(&mut written, &TOPOLOGY)?;
    topology(name, &written, kinds)
}

fn timing(node: &Node) -> Result<Timing, Flaw> {
    let tail = node.number("tail", TAIL_MIN);
    if tail < TAIL_MIN {
        let message = format!("`tail` is {tail}s; expected at least {TAIL_MIN}s");
        return Err(Flaw::new(node.at("tail"), message));
    }
    let horizon = node.number("horizon", 0.0) as i64;
    Ok(Timing {
        start: Tick(-(node.number("warmup", 300.0) as i64)),
        horizon: Tick(horizon),
        recheck: Tick(horizon + RECHECK_AFTER),
        end: Tick(horizon + tail as i64),
        step_limit: node.number("step_limit", 60.0) as u32,
    })
}

fn stakes(node: &Node) -> Stakes {
    Stakes {
        stake: node.number("stake", 1.0),
        capacity_price: node.number("capacity_price", 0.0),
        slo_hold_s: node.number("slo_hold", 120.0) as u32,
    }
}

/// A broken world has causes and a way out; a healthy one has neither.
fn check_truth(node: &Node, healthy: bool, truth: &Truth) -> Result<(), Flaw> {
    if healthy && !truth.causes.is_empty() {
        return Err(Flaw::new(node.at("causes"), "a healthy scenario has no causes"));
    }
    if !healthy && truth.causes.is_empty() {
        return Err(grammar::missing_field(node.at, "causes", "a list of what is wrong"));
    }
    if !healthy && truth.reference.is_empty() {
        return Err(grammar::missing_field(node.at, "reference", "a plan that ends the harm"));
    }
    Ok(())
}
