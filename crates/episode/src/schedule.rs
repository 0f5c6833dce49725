//! What happens by itself: the timeline's and the recheck's events, each once, and the ends of
//! faults that last for a while.

use crate::watch::{Cast, Held, Watch};
use model::{InstanceId, Tick};
use scenario::resolved::{Event, Happening, PullRef, Scenario, When};
use serde::{Deserialize, Serialize};

/// State of the schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Schedule {
    /// Events of the timeline and the recheck that have happened.
    done: Vec<bool>,
    held: Vec<Held>,
    /// Pulls that end by themselves.
    ends: Vec<(Tick, PullRef)>,
    /// Conditions that came true in the tick before.
    ripe: Vec<bool>,
}

/// One thing to do now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Due {
    Event(Happening),
    End(PullRef),
}

fn events(scenario: &Scenario) -> impl Iterator<Item = &Event> {
    scenario.timeline.iter().chain(&scenario.recheck)
}

impl Schedule {
    pub(crate) fn new(scenario: &Scenario) -> Schedule {
        let count = events(scenario).count();
        Schedule {
            done: vec![false; count],
            held: vec![Held::default(); count],
            ends: Vec::new(),
            ripe: vec![false; count],
        }
    }

    /// What happens at the start of `tick`, in file order, ends first.
    pub(crate) fn due(&mut self, scenario: &Scenario, tick: Tick) -> Vec<Due> {
        let mut due: Vec<Due> = self
            .ends
            .iter()
            .filter(|(at, _)| *at <= tick)
            .map(|(_, pull)| Due::End(*pull))
            .collect();
        self.ends.retain(|(at, _)| *at > tick);
        for (at, event) in events(scenario).enumerate() {
            let now = match &event.at {
                When::Tick(when) => *when == tick,
                When::Condition { .. } => self.ripe[at],
            };
            if !now || self.done[at] {
                continue;
            }
            self.done[at] = true;
            self.ripe[at] = false;
            if let Happening::Pull { pulls, lasting_s: Some(lasting), .. } = &event.what {
                let end = tick.plus(i64::from(*lasting));
                let refs = pulls.iter().map(|p| (end, PullRef { target: p.target, id: p.id }));
                self.ends.extend(refs);
            }
            due.push(Due::Event(event.what.clone()));
        }
        due
    }

    /// Counts the conditions at the end of `tick`; those that hold long enough happen in the next.
    pub(crate) fn count(&mut self, scenario: &Scenario, watch: &Watch, cast: Cast<'_>, tick: Tick) {
        for (at, event) in events(scenario).enumerate() {
            let When::Condition { when, after } = &event.at else { continue };
            if self.done[at] || tick < *after {
                continue;
            }
            self.ripe[at] = self.held[at].count(watch.holds(when, cast), when.for_s);
        }
    }
}

/// Notes of the change list that come from the scenario and belong to no machine.
pub(crate) type Note = (Tick, InstanceId, String);
