//! What a recorded episode is to come to here. Prose is never compared; what `exact` compares is
//! up to the player of each system: statuses of answers, rewards, ends, scores, components, alerts.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Rewards and scores agree to this.
const TOLERANCE: f64 = 1e-6;

/// The verdicts, by vector.
pub(crate) type Verdicts = BTreeMap<String, Expected>;

/// One verdict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) verdict: Kind,
    /// Largest score of what is refused.
    #[serde(default)]
    pub(crate) at_most: Option<f64>,
    /// Smallest score of what is accepted.
    #[serde(default)]
    pub(crate) at_least: Option<f64>,
    /// Components and alerts are as recorded all the same.
    #[serde(default)]
    pub(crate) states: bool,
    /// How the names of all values end that are not as recorded; empty: any may differ.
    #[serde(default)]
    pub(crate) departs: Vec<String>,
    /// Why it is not exact.
    #[serde(default)]
    pub(crate) reason: String,
}

/// What it is to come to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// As recorded.
    Exact,
    /// An exploit: it scores at most so much.
    Refused,
    /// A sound fix that the original turned down: it scores at least so much.
    Accepted,
    /// A 4xx of documented shape, or the error of a socket, where the original crashed or took
    /// what means nothing.
    Error,
    /// It depends on what other clients did before: not compared.
    OrderDependent,
}

/// What playing a vector came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played {
    /// Departures in statuses of answers, rewards, ends and scores.
    pub(crate) numbers: Vec<String>,
    /// Departures in components and alerts.
    pub(crate) states: Vec<String>,
    /// The final score; nothing where there is none.
    pub(crate) score: Option<f64>,
    /// Requests that were answered with an error of documented shape.
    pub(crate) errors: u32,
    /// Answers that no request may get: 5xx, or an error of another shape.
    pub(crate) broken: Vec<String>,
}

impl Played {
    /// Notes a number that should be as recorded.
    pub(crate) fn number(&mut self, what: &str, recorded: Option<f64>, here: Option<f64>) {
        let same = match (recorded, here) {
            (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE,
            (a, b) => a == b,
        };
        if !same {
            self.numbers.push(format!("{what}: recorded {recorded:?}, here {here:?}"));
        }
    }

    /// Notes anything else that should be as recorded.
    pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        recorded: T,
        here: T,
    ) {
        if recorded != here {
            self.numbers.push(format!("{what}: recorded {recorded:?}, here {here:?}"));
        }
    }

    /// Notes a state that should be as recorded.
    pub(crate) fn state<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        recorded: T,
        here: T,
    ) {
        if recorded != here {
            self.states.push(format!("{what}: recorded {recorded:?}, here {here:?}"));
        }
    }

    /// Notes an answer over HTTP: an error has `detail`, and nothing is answered with 5xx.
    pub(crate) fn answered(&mut self, what: &str, answer: &super::kit::Answer) {
        if answer.status >= 500 {
            self.broken.push(format!("{what}: {} {}", answer.status, answer.body));
        } else if answer.status >= 400 {
            self.errors += 1;
            if answer.body["detail"].is_null() {
                self.broken.push(format!("{what}: {} without detail", answer.status));
            }
        }
    }
}

impl Expected {
    /// What is wrong with what was played; nothing where the verdict holds.
    pub(crate) fn judge(&self, played: &Played) -> Vec<String> {
        let mut wrong = played.broken.clone();
        let score = played.score.unwrap_or(0.0);
        match self.verdict {
            Kind::Exact => wrong.extend(played.numbers.iter().chain(&played.states).cloned()),
            Kind::Refused => match self.at_most {
                Some(most) if score <= most + TOLERANCE => {}
                most => wrong.push(format!("scores {score}, at most {most:?} is expected")),
            },
            Kind::Accepted => match self.at_least {
                Some(least) if score >= least - TOLERANCE => {}
                least => wrong.push(format!("scores {score}, at least {least:?} is expected")),
            },
            Kind::Error if played.errors == 0 => wrong.push("no request was refused".into()),
            Kind::Error | Kind::OrderDependent => {}
        }
        if self.states {
            wrong.extend(played.states.iter().cloned());
        }
        if !self.departs.is_empty() {
            wrong.extend(self.beyond(played));
        }
        if self.verdict != Kind::Exact && self.reason.is_empty() {
            wrong.push("the verdict has no reason".into());
        }
        wrong
    }

    /// Departures that are not announced, and announcements of none.
    fn beyond(&self, played: &Played) -> Vec<String> {
        let all: Vec<_> = played.numbers.iter().chain(&played.states).collect();
        let is = |departure: &str, end: &str| {
            departure.split(": recorded").next().is_some_and(|name| name.ends_with(end))
        };
        let said = |one: &&&String| self.departs.iter().any(|end| is(one, end));
        let silent = all.iter().filter(|one| !said(one)).map(|one| (*one).clone());
        let idle = self.departs.iter().filter(|end| !all.iter().any(|one| is(one, end)));
        silent.chain(idle.map(|end| format!("{end}: is as recorded"))).collect()
    }
}
