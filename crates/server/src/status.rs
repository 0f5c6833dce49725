//! Status and configuration of a server, as an operator's tool shows them.

use crate::orders::describe;
use crate::state::Server;
use model::Query;
use std::collections::BTreeMap;

impl Server {
    /// Facts of [`Query::Status`] or [`Query::Config`].
    pub fn facts(&self, query: &Query) -> BTreeMap<String, String> {
        if matches!(query, Query::Config) { self.config() } else { self.status() }
    }

    fn status(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        for group in &self.state.groups {
            let (running, wanted) = (group.grant.running, group.wanted);
            let mut text = format!("{running} of {wanted} replicas running, {}", group.version);
            if group.weight < 1.0 {
                text += &format!(", takes {:.0} % of its traffic", 100.0 * group.weight);
            }
            let unhealthy = group.rotation.unhealthy();
            if group.rotation.kept_out() > 0 {
                text += &format!(", {unhealthy} out of rotation by health checks");
            } else if unhealthy > 0 {
                text += &format!(", {unhealthy} fail health checks and take requests all the same");
            }
            if !group.grant.port_bound {
                text += ", cannot bind its port";
            }
            text += &format!(", {} MiB each", (group.memory / 1_048_576.0).round());
            facts.insert(format!("group {}", group.name), text);
        }
        let round = self.tier.last();
        let slots = self.knobs.concurrency.unwrap_or(self.spec.concurrency) * self.knobs.running();
        let busy = format!("{:.1} of {slots:.0} slots", round.busy_slots);
        facts.insert("busy".into(), busy);
        facts.insert("queue".into(), format!("{:.0} requests", round.queue));
        for (k, callee) in self.setup.callees.iter().enumerate() {
            let Some(edge) = round.edges.get(k) else { continue };
            let mut text = format!("{:.1} calls/s, {:.2} attempts each", edge.calls, edge.attempts);
            if let Some(pool) = &self.state.policies[k].pool {
                text += &format!(
                    ", {:.1} of {} connections in use, {:.1} waiting",
                    edge.in_use, pool.size, edge.waiting
                );
            }
            if edge.passed < 1.0 {
                text += ", breaker open";
            }
            facts.insert(format!("dependency {callee}"), text);
        }
        facts
    }

    fn config(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        for (k, callee) in self.setup.callees.iter().enumerate() {
            facts.insert(format!("policy towards {callee}"), describe(&self.state.policies[k]));
        }
        let check = self.check();
        if check.is_on() {
            facts.insert("health check".into(), check.describe());
        }
        facts.insert("queue limit".into(), format!("{} per replica", self.state.queue));
        facts.insert("slots".into(), format!("{} per replica", self.spec.concurrency));
        for (c, class) in self.setup.classes.iter().enumerate() {
            if self.state.shed[c] > 0.0 {
                let text = format!("{:.0} %", 100.0 * self.state.shed[c]);
                facts.insert(format!("shed {}", class.name), text);
            }
        }
        let params = &self.setup.spec.params;
        let limit = params.number("memory_limit") / 1_048_576.0;
        facts.insert("memory limit".into(), format!("{limit:.0} MiB per replica"));
        facts
    }

    /// Facts of the truth that every server has.
    pub fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        let sum = |f: fn(&crate::group::Group) -> f64| self.state.groups.iter().map(f).sum::<f64>();
        facts.insert("replicas_wanted".into(), sum(|g| f64::from(g.wanted)));
        facts.insert("replicas_running".into(), sum(|g| f64::from(g.grant.running)));
        facts.insert("replicas_unhealthy".into(), sum(|g| f64::from(g.rotation.unhealthy())));
        facts.insert("queue".into(), self.tier.last().queue);
        let unhealed = self.state.active.iter().filter(|a| !a.healed).count();
        facts.insert("levers_in_force".into(), unhealed as f64);
        let shed = self.state.shed.iter().fold(0.0_f64, |most, s| most.max(*s));
        facts.insert("shed_ratio_max".into(), shed);
    }
}

impl Server {
    /// Memory of a replica, bytes, the mean over the groups' replicas.
    pub fn memory_mean(&self) -> f64 {
        let (mut all, mut replicas) = (0.0, 0.0);
        for group in &self.state.groups {
            all += group.memory * f64::from(group.wanted);
            replicas += f64::from(group.wanted);
        }
        if replicas > 0.0 { all / replicas } else { 0.0 }
    }
}
