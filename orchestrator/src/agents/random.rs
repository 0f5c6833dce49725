//! `random`: chooses uniformly among the kinds of actions and the targets that are there. At least
//! every other action mutates; it resolves only when time or steps run out anyway.

use crate::agent::{Agent, AgentSpec, Start, resolve, wait};
use action::{Action, ActionClass, ActionSpec, Site};
use episode::Observation;
use model::{Noise, ParamKind, Params};

/// With less than this left it resolves, seconds.
const LAST_S: i64 = 30;

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "random",
    doc: "Acts at random; at least half of its actions mutate.",
    make: |Start { noise, .. }| Box::new(Random { noise, variants: None }),
};

struct Random {
    noise: Noise,
    /// Mutations by name of the action, once they are known.
    variants: Option<Vec<Vec<Action>>>,
}

/// The element that `draw` chooses.
fn pick<T>(from: &[T], draw: u64) -> Option<&T> {
    from.get((draw % from.len().max(1) as u64) as usize)
}

impl Agent for Random {
    fn act(&mut self, seen: &Observation, site: &Site<'_>) -> Action {
        if seen.steps_left <= 1 || seen.seconds_left <= LAST_S {
            return resolve();
        }
        let mutations = self.variants.get_or_insert_with(|| by_name(site));
        let draw = self.noise.index(u64::from(seen.step));
        let others: Vec<&ActionSpec> = action::all().iter().filter(|s| is_harmless(s)).collect();
        // Every other action mutates, the rest are of any kind.
        let kinds = mutations.len() + if seen.step.is_multiple_of(2) { 0 } else { others.len() };
        let kind = (draw.bits(0) % kinds.max(1) as u64) as usize;
        let chosen = match mutations.get(kind) {
            Some(variants) => pick(variants, draw.bits(1)).cloned(),
            None => others.get(kind - mutations.len()).and_then(|s| read(s, draw, site)),
        };
        chosen.unwrap_or_else(|| wait(LAST_S))
    }
}

/// Everything but mutations and the end.
fn is_harmless(spec: &ActionSpec) -> bool {
    spec.class != ActionClass::Mutate && spec.name != "resolve"
}

fn by_name(site: &Site<'_>) -> Vec<Vec<Action>> {
    let mut groups: Vec<Vec<Action>> = Vec::new();
    for action in action::variants(site) {
        match groups.last_mut().filter(|g| g.last().is_some_and(|a| a.name() == action.name())) {
            Some(group) => group.push(action),
            None => groups.push(vec![action]),
        }
    }
    groups
}

/// An action with required arguments at random and the others at their defaults.
fn read(spec: &ActionSpec, draw: Noise, site: &Site<'_>) -> Option<Action> {
    let mut args = Params::default();
    for (at, arg) in spec.args.iter().enumerate() {
        let bits = draw.bits(2 + at as i64);
        if arg.default.is_some() && arg.name != "component" {
            continue;
        }
        args = match arg.kind {
            ParamKind::Component => {
                args.with(arg.name, &*pick(&site.topology.instances, bits)?.name)
            }
            ParamKind::Count { min, max } => {
                let span = u64::from(max.min(min + 59) - min) + 1;
                args.with(arg.name, f64::from(min) + (bits % span) as f64)
            }
            ParamKind::Choice(words) => args.with(arg.name, *pick(words, bits)?),
            _ => return None,
        };
    }
    Action::new(spec.name, &args).ok().filter(|action| action.effect(site).is_ok())
}
