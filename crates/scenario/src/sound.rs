//! Whether a resolved scenario holds together: every position points at something, every number is
//! within what a file could say. A scenario that comes out of a record is checked by this before it
//! is played, since nobody parsed it.

use crate::resolved::{Condition, Event, Happening, Scenario, Subject, When};
use model::{CLASSES_MAX, ClassId, EdgeId, GROUPS_MAX, InstanceId, Tick};

/// Longest phase of an episode, seconds.
const PHASE_MAX_S: i64 = 1_000_000;
/// Longest window of an objective, seconds.
const WINDOW_MAX_S: u32 = 100_000;
/// Most requests per second of a class.
const RATE_MAX: f64 = 1e7;

type Check = Result<(), String>;

impl Scenario {
    /// Checks every reference and bound.
    ///
    /// # Errors
    /// One sentence that names the part that does not hold.
    pub fn check(&self) -> Check {
        self.check_topology()?;
        self.check_timing()?;
        self.check_workload()?;
        for slo in &self.slos {
            slo.classes.iter().try_for_each(|c| self.has_class(*c))?;
            let windows = (1..=WINDOW_MAX_S).contains(&slo.fast_s) && slo.fast_s <= slo.slow_s;
            need(windows && slo.slow_s <= WINDOW_MAX_S, "a window of an objective")?;
            need(slo.objective > 0.0 && slo.objective < 1.0, "an objective")?;
        }
        self.alerts.iter().try_for_each(|alert| self.check_condition(&alert.when))?;
        self.timeline.iter().chain(&self.recheck).try_for_each(|event| self.check_event(event))?;
        need(self.stakes.stake > 0.0 && self.stakes.stake < 1e12, "the stake")
    }

    fn check_topology(&self) -> Check {
        let topology = &self.topology;
        let classes = (1..=CLASSES_MAX).contains(&topology.classes.len());
        need(classes, "the number of classes")?;
        for instance in &topology.instances {
            need(instance.groups.len() <= GROUPS_MAX, "the number of replica groups")?;
            for group in &instance.groups {
                self.has_instance(group.host)?;
                let host = &topology.instances[group.host.at()];
                need(host.kind == "host", "the host of a replica group")?;
            }
        }
        for (at, edge) in topology.edges.iter().enumerate() {
            need(edge.id.at() == at, "the order of the edges")?;
            self.has_instance(edge.to)?;
            edge.from.map_or(Ok(()), |from| self.has_instance(from))?;
            need(edge.calls.iter().all(|c| (0.0..=1e6).contains(c)), "the calls of an edge")?;
        }
        for name in &topology.names {
            self.has_instance(name.component)?;
            self.has_instance(name.resolver)?;
            need(name.ttl_s > 0.0 && name.ttl_s <= 1e6, "the time to live of a name")?;
        }
        for class in &topology.classes {
            self.has_edge(class.entry)?;
            need(topology.edges[class.entry.at()].from.is_none(), "the entry of a class")?;
            let times = [class.objective_s, class.patience_s];
            need(times.iter().all(|t| *t > 0.0 && *t <= 1e12), "the times of a class")?;
        }
        Ok(())
    }

    fn check_timing(&self) -> Check {
        let timing = &self.timing;
        let order = timing.start < Tick(0)
            && Tick(0) < timing.horizon
            && timing.horizon < timing.recheck
            && timing.recheck <= timing.end;
        let lengths = timing.start.0 >= -PHASE_MAX_S && timing.end.0 <= 2 * PHASE_MAX_S;
        need(order && lengths, "the timing")
    }

    fn check_workload(&self) -> Check {
        let workload = &self.workload;
        for demand in &workload.demand {
            self.has_class(demand.class)?;
            need((0.0..=RATE_MAX).contains(&demand.rate), "a demand")?;
        }
        need((0.0..=1.0).contains(&workload.jitter), "the jitter")?;
        need((0.0..=1.0).contains(&workload.daily_amplitude), "the daily amplitude")?;
        need(workload.period_s >= 1.0 && workload.period_s <= 1e9, "the period")?;
        let hold = 1 <= workload.hold_min_s && workload.hold_min_s <= workload.hold_max_s;
        need(hold && workload.hold_max_s <= WINDOW_MAX_S, "how long demand is held")?;
        let factors = workload.bursts.iter().flat_map(|b| b.factor);
        need(factors.into_iter().all(|f| (0.0..=1e4).contains(&f)), "a burst")
    }

    fn check_condition(&self, condition: &Condition) -> Check {
        match condition.of {
            Subject::Component(id) => self.has_instance(id),
            Subject::Users => Ok(()),
            Subject::Slo(at) => need(usize::from(at) < self.slos.len(), "an objective's position"),
        }
    }

    fn check_event(&self, event: &Event) -> Check {
        if let When::Condition { when, .. } = &event.at {
            self.check_condition(when)?;
        }
        match &event.what {
            Happening::Pull { pulls, .. } => pulls.iter().try_for_each(|pull| {
                self.has_instance(pull.target)?;
                pull.edge.map_or(Ok(()), |edge| self.has_edge(edge))
            }),
            Happening::Clear { pulls, .. } => {
                pulls.iter().try_for_each(|pull| self.has_instance(pull.target))
            }
            Happening::Order(order) => self.has_instance(order.target),
            Happening::Note { component, .. } => self.has_instance(*component),
        }
    }

    fn has_instance(&self, id: InstanceId) -> Check {
        need(id.at() < self.topology.instances.len(), &format!("component number {}", id.0))
    }

    fn has_edge(&self, id: EdgeId) -> Check {
        need(id.at() < self.topology.edges.len(), &format!("edge number {}", id.0))
    }

    fn has_class(&self, id: ClassId) -> Check {
        need(id.at() < self.topology.classes.len(), &format!("class number {}", id.0))
    }
}

fn need(holds: bool, what: &str) -> Check {
    if holds { Ok(()) } else { Err(format!("{what} does not hold; the scenario was altered")) }
}
