//! What an episode has come to so far, what each act pays, and the grade. Credit is given once per
//! incident; what is wrong or done again costs.

use super::incidents::{Incident, Part, Situation};
use super::tasks::{Grading, Task};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Wrong diagnoses of an incident after which a right one is a guess and counts no more.
const GUESSES: u32 = 2;
/// A step after which the fix of a single incident has held long enough to close it, counted from
/// the step of the fix.
pub(super) const HELD_STEPS: u32 = 3;
/// Minutes of the story, and of simulated time, in a step.
pub(super) const STEP_MINUTES: u32 = 2;

/// Rewards.
pub(super) mod pay {
    pub(crate) const LOOKED: f64 = 0.05;
    pub(crate) const AGAIN: f64 = -0.03;
    pub(crate) const ORIGIN: f64 = 0.20;
    pub(crate) const DIAGNOSED: f64 = 0.15;
    pub(crate) const HERRING: f64 = 0.05;
    pub(crate) const MISDIAGNOSED: f64 = -0.10;
    pub(crate) const PRIORITY: f64 = 0.08;
    pub(crate) const PRIORITY_NEXT: f64 = 0.032;
    pub(crate) const UNFIT: f64 = -0.05;
    pub(crate) const FIXED: f64 = 0.20;
    pub(crate) const NOT_FIXED: f64 = -0.15;
    pub(crate) const ESCALATED: f64 = 0.02;
    pub(crate) const VERIFIED: f64 = 0.10;
    pub(crate) const TOO_EARLY: f64 = -0.02;
    pub(crate) const UNDER: f64 = 0.02;
    pub(crate) const OVER: f64 = -0.01;
}

/// Counts of an episode.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Steps taken.
    pub(super) steps: u32,
    /// Services and aspects that were looked at.
    pub(super) looked: BTreeSet<(String, &'static str)>,
    /// Looks at a component where nothing is wrong although it is in the alerts.
    pub(super) herring_looks: u32,
    /// Incidents diagnosed rightly.
    pub(super) diagnosed: BTreeSet<&'static str>,
    /// Wrong claims so far, by incident.
    guesses: Vec<&'static str>,
    /// Diagnoses that were wrong or said nothing.
    pub(super) misdiagnosed: u32,
    /// Incidents that were ranked, and how well.
    ranked: BTreeSet<&'static str>,
    /// Incidents that got the priority they should have.
    pub(super) prioritized: BTreeSet<&'static str>,
    /// Incidents that were escalated.
    escalated: BTreeSet<&'static str>,
    /// Remediations that were tried.
    pub(super) tried: u32,
    /// Remediations that did not end what was broken.
    pub(super) failed: u32,
    /// The step in which a remediation did.
    pub(super) fixed: Option<u32>,
    /// Incidents whose end was verified.
    verified: BTreeSet<&'static str>,
    /// Incidents that are over.
    pub(super) resolved: BTreeSet<&'static str>,
    /// Sum of the rewards, with the bonus at the end.
    pub(super) accumulated: f64,
    /// No step counts any more.
    pub(super) done: bool,
}

impl Tally {
    /// A look at an aspect of a component, which may be in the scope of the situation.
    pub(super) fn look(
        &mut self,
        situation: &Situation,
        service: &str,
        aspect: &'static str,
    ) -> f64 {
        let herring = |one: &&Incident| one.part == Part::Herring && one.service == service;
        self.herring_looks += situation.incidents.iter().filter(herring).count() as u32;
        if !self.looked.insert((service.to_string(), aspect)) {
            return pay::AGAIN;
        }
        if situation.scope.contains(&service) { pay::LOOKED } else { 0.0 }
    }

    /// A diagnosis of an incident; `claim` says whether it claims anything at all.
    pub(super) fn diagnose(&mut self, incident: &Incident, right: bool, claim: bool) -> f64 {
        let wrong = self.guesses.iter().filter(|id| **id == incident.id).count() as u32;
        if !right || wrong >= GUESSES {
            self.misdiagnosed += 1;
            if claim && !right {
                self.guesses.push(incident.id);
            }
            return pay::MISDIAGNOSED;
        }
        if !self.diagnosed.insert(incident.id) {
            return pay::AGAIN;
        }
        match incident.part {
            Part::Origin => pay::ORIGIN,
            Part::Herring => pay::HERRING,
            Part::Alone | Part::Symptom => pay::DIAGNOSED,
        }
    }

    /// A priority of an incident.
    pub(super) fn prioritize(&mut self, incident: &Incident, priority: u8) -> f64 {
        let off = priority.abs_diff(incident.priority);
        if off > 1 {
            return pay::UNFIT;
        }
        if !self.ranked.insert(incident.id) {
            return pay::AGAIN;
        }
        if off == 1 {
            return pay::PRIORITY_NEXT;
        }
        self.prioritized.insert(incident.id);
        pay::PRIORITY
    }

    /// An escalation of an incident.
    pub(super) fn escalate(&mut self, incident: &Incident) -> f64 {
        if self.escalated.insert(incident.id) { pay::ESCALATED } else { pay::AGAIN }
    }

    /// A verification of an incident that is over.
    pub(super) fn verify(&mut self, incident: &Incident) -> f64 {
        if self.verified.insert(incident.id) { pay::VERIFIED } else { pay::AGAIN }
    }

    /// Takes the reward of a step, and ends the episode if this was the last one.
    pub(super) fn close(&mut self, task: &Task, situation: &Situation, reward: f64) {
        self.accumulated += reward;
        let over = self.resolved.len() as u32 >= situation.total();
        if !over && self.steps < task.max_steps {
            return;
        }
        self.done = true;
        let (steps, expected) = (f64::from(self.steps), f64::from(situation.expected));
        self.accumulated += if steps < expected {
            pay::UNDER * (expected - steps)
        } else {
            pay::OVER * (steps - expected)
        };
    }

    /// Something was right: to be quick without it is worth nothing.
    fn merit(&self) -> bool {
        self.fixed.is_some() || !self.diagnosed.is_empty()
    }

    /// The grade, between 0.01 and 0.99.
    pub(super) fn score(&self, task: &Task, situation: &Situation) -> f64 {
        let score = match task.grading {
            Grading::Single => self.score_single(),
            Grading::Multi => self.score_multi(situation),
            Grading::Cascade => self.score_cascade(situation),
        };
        let quick = if self.merit() { self.quickness(task, situation) } else { 0.0 };
        rounded((score + quick).clamp(0.01, 0.99))
    }

    fn score_single(&self) -> f64 {
        part(!self.diagnosed.is_empty(), 0.30)
            + part(!self.prioritized.is_empty(), 0.15)
            + part(self.fixed.is_some(), 0.35)
            + part(!self.resolved.is_empty(), 0.10)
    }

    fn score_multi(&self, situation: &Situation) -> f64 {
        let all = situation.incidents.len();
        let share = |count: usize| (count as f64 / all as f64).min(1.0);
        let ranked = self.prioritized.len();
        part(ranked >= all, 0.20)
            + part(ranked < all, 0.10 * share(ranked))
            + 0.25 * share(self.diagnosed.len())
            + part(self.fixed.is_some(), 0.30)
            + part(self.diagnosed.len() >= 2, 0.08)
    }

    fn score_cascade(&self, situation: &Situation) -> f64 {
        let origin = |one: &&Incident| one.part == Part::Origin;
        let mut origins = situation.incidents.iter().filter(origin);
        let found = origins.all(|one| self.diagnosed.contains(one.id));
        let share = self.resolved.len() as f64 / f64::from(situation.total().max(1));
        part(found, 0.30)
            + part(self.merit() && self.herring_looks == 0, 0.10)
            + part(self.fixed.is_some(), if found { 0.20 } else { 0.10 })
            + if share >= 1.0 { 0.25 } else { 0.12 * share }
    }

    fn quickness(&self, task: &Task, situation: &Situation) -> f64 {
        let (steps, expected) = (f64::from(self.steps), f64::from(situation.expected));
        let cascade = task.grading == Grading::Cascade;
        match steps / expected {
            share if share <= 1.0 => {
                if cascade {
                    0.15
                } else {
                    0.10
                }
            }
            share if share <= 1.5 => {
                if cascade {
                    0.08
                } else {
                    0.05
                }
            }
            share if share <= 2.0 && cascade => 0.03,
            _ => 0.0,
        }
    }

    /// The grade with what it is made of.
    pub(super) fn graded(&self, task: &Task, situation: &Situation) -> Value {
        json!({
            "score": self.score(task, situation),
            "breakdown": {
                "diagnoses_correct": self.diagnosed.len(),
                "diagnoses_total": situation.total(),
                "priorities_correct": self.prioritized.len(),
                "priorities_total": situation.total(),
                "remediations_correct": u32::from(self.fixed.is_some()),
                "incidents_resolved": self.resolved.len(),
                "incidents_total": situation.total(),
                "steps_taken": self.steps,
                "steps_expected": situation.expected,
                "misdiagnoses": self.misdiagnosed,
                "red_herrings_investigated": self.herring_looks,
            },
            "feedback": self.feedback(situation),
            "task": task.name,
            "difficulty": task.difficulty,
        })
    }

    fn feedback(&self, situation: &Situation) -> Vec<String> {
        let (right, all) = (self.diagnosed.len(), situation.total());
        let mut lines = vec![
            format!("Diagnosed: {right} of {all} incidents"),
            match self.fixed {
                Some(step) => format!("Repaired in step {step}"),
                None => "What is broken was not repaired".into(),
            },
            format!("Steps: {}, expected within {}", self.steps, situation.expected),
        ];
        if self.misdiagnosed > 0 {
            lines.push(format!("Wrong diagnoses: {}", self.misdiagnosed));
        }
        if self.herring_looks > 0 {
            lines.push(format!("Looks at what is as it should be: {}", self.herring_looks));
        }
        lines
    }
}

fn part(earned: bool, worth: f64) -> f64 {
    if earned { worth } else { 0.0 }
}

/// Without the noise of sums.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
