//! `noop`: waits until the agent's phase is over. The lower end of the scale.

use crate::agent::{Agent, AgentSpec, wait};
use action::{Action, Site};
use episode::Observation;

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "noop",
    doc: "Waits until time is up.",
    make: |_| Box::new(Noop),
};

struct Noop;

impl Agent for Noop {
    fn act(&mut self, seen: &Observation, _: &Site<'_>) -> Action {
        wait(seen.seconds_left)
    }
}
