//! What an agent of the command line is: it sees an observation and chooses an action.

use action::{Action, Site};
use episode::Observation;
use model::{Noise, Params};
use scenario::Scenario;
use std::collections::VecDeque;

/// Chooses actions. Deterministic: all its dice are the noise it was made with.
pub trait Agent: Send {
    /// The next action.
    fn act(&mut self, seen: &Observation, site: &Site<'_>) -> Action;
}

/// What an agent is made from.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The scenario, truth included: only the reference looks at it.
    pub scenario: &'a Scenario,
    /// Its dice.
    pub noise: Noise,
}

/// One entry of the list of agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentSpec {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Makes one for an episode.
    pub make: fn(Start<'_>) -> Box<dyn Agent>,
}

impl PartialEq for AgentSpec {
    fn eq(&self, other: &AgentSpec) -> bool {
        self.name == other.name
    }
}

/// Follows a plan that depends on the system alone, then resolves.
#[derive(Debug)]
pub struct Planned {
    plan: Option<VecDeque<Action>>,
    make: fn(&Site<'_>) -> Vec<Action>,
}

impl Planned {
    /// Makes its plan when it sees the system.
    pub fn boxed(make: fn(&Site<'_>) -> Vec<Action>) -> Box<dyn Agent> {
        Box::new(Planned { plan: None, make })
    }

    /// Follows this plan.
    pub fn given(plan: Vec<Action>) -> Box<dyn Agent> {
        Box::new(Planned { plan: Some(plan.into()), make: |_| Vec::new() })
    }
}

impl Agent for Planned {
    fn act(&mut self, _: &Observation, site: &Site<'_>) -> Action {
        let make = self.make;
        let plan = self.plan.get_or_insert_with(|| make(site).into());
        plan.pop_front().unwrap_or_else(resolve)
    }
}

/// Ends the agent's phase.
pub fn resolve() -> Action {
    known("resolve", &Params::default())
}

/// Waits for this long, within what the catalogue allows.
pub fn wait(seconds: i64) -> Action {
    known("wait", &Params::default().with("seconds", seconds.clamp(1, 600) as f64))
}

/// An action that every catalogue has, with arguments that fit it.
fn known(name: &str, args: &Params) -> Action {
    Action::new(name, args).expect("the catalogue has it: see the tests of this module")
}

/// All sensible variants of one mutation here.
pub fn variants_of(site: &Site<'_>, name: &str) -> Vec<Action> {
    action::variants(site).into_iter().filter(|action| action.name() == name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actions_that_every_agent_uses_exist() {
        assert_eq!(resolve().name(), "resolve");
        for (asked, given) in [(-5, 1), (30, 30), (7000, 600)] {
            assert_eq!(wait(asked).duration_s(), given);
        }
    }
}
