//! What pulled levers do to the knobs of a round. Faults stack: errors and losses by survival,
//! factors by product, delays by sum.

use crate::state::{Active, Server};
use crate::{health, keys};
use machine::Cx;
use model::{CLASSES_MAX, EdgeFault, LeverPull};

/// Both shares at once.
fn either(a: f64, b: f64) -> f64 {
    a + b - a * b
}

impl Server {
    /// Remembers a pulled lever, and does what happens once.
    pub fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        if pull.lever == "server.version" {
            let (version, group) = (pull.args.text("version"), pull.args.text("group"));
            for at in 0..self.state.groups.len() {
                if self.is_group(at, group) {
                    self.deploy(cx, at, version);
                }
            }
        }
        if pull.lever == health::LEVER {
            cx.emit(keys::NOTE, 0.0, "configuration pushed: health checks revised");
        }
        let active = Active { pull: pull.clone(), healed: false, since: cx.tick().0 };
        self.state.active.push(active);
    }

    /// Forgets a pulled lever. A deployed version stays deployed, harmless now.
    pub fn clear(&mut self, pull: &LeverPull) {
        self.state.active.retain(|a| a.pull.id != pull.id);
    }

    /// The effects of all generic levers on the knobs.
    pub(crate) fn pull_levers(&mut self) {
        let active = std::mem::take(&mut self.state.active);
        for pull in active.iter().filter(|a| !a.healed).map(|a| &a.pull) {
            let args = &pull.args;
            match pull.lever.as_str() {
                "server.slow" => {
                    self.make_slow(args.number("factor"), args.text("class"), args.text("group"));
                }
                "server.errors" => {
                    self.make_fail(args.number("ratio"), args.text("class"), args.text("group"));
                }
                "server.version" => {
                    self.make_slow(args.number("slow"), args.text("class"), args.text("group"));
                    self.make_fail(args.number("errors"), args.text("class"), args.text("group"));
                }
                name if name.starts_with("edge.") => self.bend_edge(pull),
                _ => {}
            }
        }
        self.state.active = active;
    }

    /// Own work of a class in a group takes longer. A lever on both a class and a group acts on the
    /// class, weighted by the group's share of the replicas.
    fn make_slow(&mut self, factor: f64, class: &str, group: &str) {
        if class.is_empty() {
            for at in 0..self.state.groups.len() {
                if self.is_group(at, group) {
                    self.knobs.groups[at].slow *= factor;
                }
            }
            return;
        }
        let share = self.group_share(group);
        let chosen = self.classes(class);
        for c in (0..CLASSES_MAX).filter(|c| chosen[*c]) {
            self.knobs.slow[c] *= 1.0 + share * (factor - 1.0);
        }
    }

    fn make_fail(&mut self, ratio: f64, class: &str, group: &str) {
        if class.is_empty() {
            for at in 0..self.state.groups.len() {
                if self.is_group(at, group) {
                    let error = &mut self.knobs.groups[at].error;
                    *error = either(*error, ratio);
                }
            }
            return;
        }
        let share = self.group_share(group);
        let chosen = self.classes(class);
        for c in (0..CLASSES_MAX).filter(|c| chosen[*c]) {
            self.knobs.error[c] = either(self.knobs.error[c], ratio * share);
        }
    }

    /// Share of the serving replicas that belong to the named group.
    fn group_share(&self, group: &str) -> f64 {
        let all = self.knobs.running();
        if group.is_empty() || all <= 0.0 {
            return 1.0;
        }
        let of = |at: &usize| self.is_group(*at, group);
        let mine = (0..self.state.groups.len()).filter(of).map(|at| self.knobs.groups[at].running);
        mine.sum::<f64>() / all
    }

    fn bend_edge(&mut self, pull: &LeverPull) {
        let Some(k) = self.setup.outgoing.iter().position(|e| Some(e.id) == pull.edge) else {
            return;
        };
        let args = &pull.args;
        let round = self.tier.last();
        let calls = round.edges.get(k).map_or(0.0, |e| e.calls * e.attempts);
        // A caller that was down made no calls in the last round; what is offered comes in this
        // one.
        let calls = calls.max(round.offered).max(1.0);
        let knobs = self.knobs.edge_mut(k);
        let fault = match pull.lever.as_str() {
            "edge.breaker_stuck" => {
                knobs.forced_open = true;
                return;
            }
            "edge.pool_leak" => {
                knobs.leak = (args.number("rate") / 60.0 / calls).min(1.0);
                return;
            }
            lever => EdgeFault::of_lever(lever, args),
        };
        knobs.fault = knobs.fault.stack(fault);
    }
}
