//! The table of assignments, and what becomes of each: pure bookkeeping, no waiting.
//!
//! An assignment is one episode. Its first attempt counts, from the first step on: before it,
//! another reset begins the same again, and a session that vanishes gives the assignment back.
//! Later resets play the same world for nothing, and are counted.

use super::outcome::{Ended, Outcome};
use openenv::Seen;
use std::collections::BTreeMap;

/// An episode that is played: what it is called in the sessions, and at the agents' port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The assignment.
    pub task: String,
    /// The episode in the sessions.
    pub episode: String,
    /// It is the first attempt.
    pub counts: bool,
}

/// The world of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// Name of the scenario.
    pub scenario: String,
    /// Its seed.
    pub seed: u64,
}

/// The attempt that counts.
#[derive(Clone, Debug)]
struct Attempt {
    episode: String,
    alias: String,
    first: Seen,
    /// Steps that were taken or are being taken.
    steps: u32,
}

#[derive(Clone, Debug)]
enum State {
    Open,
    Beginning,
    Playing(Attempt),
    /// It is over, and is being graded.
    Closing,
    Over(Outcome),
}

#[derive(Clone, Debug)]
struct Assignment {
    world: World,
    state: State,
    /// When it was given out, in the order of all.
    number: u64,
    resets: u32,
    /// The simulator failed, and the agent was told so.
    trouble: Option<String>,
    /// Who evaluates has ended it: no more resets.
    closed: bool,
}

/// How an assignment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No agent has begun it.
    Open,
    /// An agent plays it, or it is being graded.
    Playing,
    /// It is over.
    Over,
}

/// What a reset becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// The attempt that counts begins.
    First(String, World),
    /// Nothing has happened in it yet: it begins again.
    Again {
        /// The assignment.
        task: String,
        /// What it is called from now on.
        alias: String,
        /// What is seen.
        first: Seen,
    },
    /// An attempt that does not count. The first one is handed off, if it still ran.
    Later(String, World, Option<Seat>),
    /// There is no such assignment.
    Unknown,
    /// It was ended.
    Closed,
    /// None is open.
    NothingOpen,
}

/// What has to be done to end an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Close {
    /// There is no such assignment.
    Unknown,
    /// It is over.
    Over(Ended),
    /// It will be over: wait.
    Wait,
    /// The attempt has to be handed off.
    HandOff(Seat),
    /// Nobody plays it: its world has to be played with nobody in it.
    Empty {
        /// Its world.
        world: World,
        /// An agent had begun it and left before its first step.
        reached: bool,
    },
}

/// What has to be done where a session leaves an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// The attempt has to be handed off.
    HandOff(Seat),
    /// The episode is nobody's any more.
    Forget(String),
}

/// All assignments.
#[derive(Debug, Default)]
pub struct Office {
    assignments: BTreeMap<String, Assignment>,
    /// Which assignment a session had last.
    sessions: BTreeMap<String, String>,
    /// By what the agents' port calls them.
    seats: BTreeMap<String, Seat>,
    drawn: u64,
}

impl Office {
    /// Gives an assignment out; one that was given out already stays as it is.
    pub fn assign(&mut self, task: &str, world: World) {
        self.drawn += 1;
        let number = self.drawn;
        self.assignments.entry(task.to_string()).or_insert(Assignment {
            world,
            state: State::Open,
            number,
            resets: 0,
            trouble: None,
            closed: false,
        });
    }

    /// How an assignment stands.
    pub fn standing(&self, task: &str) -> Option<Standing> {
        self.assignments.get(task).map(|assignment| match assignment.state {
            State::Open => Standing::Open,
            State::Beginning | State::Playing(_) | State::Closing => Standing::Playing,
            State::Over(_) => Standing::Over,
        })
    }

    /// The assignment that a reset without a task means: the one that the session plays, else the
    /// one that was given out first of those that nobody has begun.
    fn meant(&self, session: &str) -> Option<String> {
        let plays = |task: &&String| {
            let state = self.assignments.get(*task).map(|assignment| &assignment.state);
            matches!(state, Some(State::Beginning | State::Playing(_)))
        };
        let own = self.sessions.get(session).filter(plays).cloned();
        own.or_else(|| {
            let open = self.assignments.iter().filter(|(_, assignment)| {
                matches!(assignment.state, State::Open) && !assignment.closed
            });
            let first = open.min_by_key(|(_, assignment)| assignment.number);
            first.map(|(task, _)| task.clone())
        })
    }

    /// A reset.
    pub fn admit(&mut self, task: Option<&str>, session: &str) -> Admission {
        let task = match task {
            Some(task) => task.to_string(),
            None => match self.meant(session) {
                Some(task) => task,
                None => return Admission::NothingOpen,
            },
        };
        let Some(assignment) = self.assignments.get_mut(&task) else { return Admission::Unknown };
        if assignment.closed {
            return Admission::Closed;
        }
        assignment.resets += 1;
        self.sessions.insert(session.to_string(), task.clone());
        let world = assignment.world.clone();
        match &mut assignment.state {
            State::Open => {
                assignment.state = State::Beginning;
                Admission::First(task, world)
            }
            State::Playing(attempt) if attempt.steps == 0 => {
                self.drawn += 1;
                let alias = format!("{}-{}", attempt.episode, self.drawn);
                let before = std::mem::replace(&mut attempt.alias, alias.clone());
                let first = attempt.first.clone();
                if let Some(seat) = self.seats.remove(&before) {
                    self.seats.insert(alias.clone(), seat);
                }
                Admission::Again { task, alias, first }
            }
            State::Playing(_) => {
                let seat = self.closing(&task);
                Admission::Later(task, world, seat)
            }
            State::Beginning | State::Closing | State::Over(_) => {
                Admission::Later(task, world, None)
            }
        }
    }

    /// An attempt has begun; what the agents' port calls its episode.
    pub fn begun(&mut self, task: &str, episode: &str, first: &Seen, counts: bool) -> String {
        self.drawn += 1;
        let alias = format!("{episode}-{}", self.drawn);
        let (task, episode) = (task.to_string(), episode.to_string());
        if let Some(assignment) = self.assignments.get_mut(&task).filter(|_| counts) {
            let (alias, first) = (alias.clone(), first.clone());
            assignment.state =
                State::Playing(Attempt { episode: episode.clone(), alias, first, steps: 0 });
        }
        self.seats.insert(alias.clone(), Seat { task, episode, counts });
        alias
    }

    /// A step is about to be taken.
    pub fn stepping(&mut self, alias: &str) -> Option<Seat> {
        let seat = self.seats.get(alias)?.clone();
        self.count(&seat, |steps| steps.saturating_add(1));
        Some(seat)
    }

    /// The action did not fit, so no step was taken.
    pub fn not_stepped(&mut self, seat: &Seat) {
        self.count(seat, |steps| steps.saturating_sub(1));
    }

    fn count(&mut self, seat: &Seat, how: fn(u32) -> u32) {
        let assignment = self.assignments.get_mut(&seat.task).filter(|_| seat.counts);
        if let Some(State::Playing(attempt)) = assignment.map(|a| &mut a.state)
            && attempt.episode == seat.episode
        {
            attempt.steps = how(attempt.steps);
        }
    }

    /// The simulator failed while the attempt that counts was played.
    pub fn troubled(&mut self, task: &str, why: &str) {
        if let Some(assignment) = self.assignments.get_mut(task) {
            assignment.trouble.get_or_insert_with(|| why.to_string());
        }
    }

    /// The attempt that counts is over, if it is played: it has to be handed off now, once.
    pub fn closing(&mut self, task: &str) -> Option<Seat> {
        let assignment = self.assignments.get_mut(task)?;
        let State::Playing(attempt) = &assignment.state else { return None };
        let seat = self.seats.remove(&attempt.alias);
        assignment.state = State::Closing;
        seat
    }

    /// A session leaves an episode.
    pub fn leave(&mut self, alias: &str) -> Left {
        let Some(seat) = self.seats.get(alias).cloned() else { return Left::Nothing };
        if !seat.counts {
            self.seats.remove(alias);
            return Left::Forget(seat.episode);
        }
        let Some(assignment) = self.assignments.get_mut(&seat.task) else { return Left::Nothing };
        match &assignment.state {
            State::Playing(attempt) if attempt.steps == 0 => {
                self.seats.remove(alias);
                assignment.state = State::Open;
                Left::Forget(seat.episode)
            }
            State::Playing(_) => self.closing(&seat.task).map_or(Left::Nothing, Left::HandOff),
            _ => Left::Nothing,
        }
    }

    /// Who evaluates ends an assignment.
    pub fn close(&mut self, task: &str) -> Close {
        let Some(assignment) = self.assignments.get_mut(task) else { return Close::Unknown };
        assignment.closed = true;
        let later_resets = assignment.resets.saturating_sub(1);
        match &assignment.state {
            State::Over(outcome) => Close::Over(Ended { outcome: outcome.clone(), later_resets }),
            State::Beginning | State::Closing => Close::Wait,
            State::Playing(_) => self.closing(task).map_or(Close::Wait, Close::HandOff),
            State::Open => {
                assignment.state = State::Closing;
                Close::Empty { world: assignment.world.clone(), reached: assignment.resets > 0 }
            }
        }
    }

    /// Why an attempt is not to be scored, if it is not.
    pub fn trouble(&self, task: &str) -> Option<String> {
        self.assignments.get(task)?.trouble.clone()
    }

    /// What an assignment came to.
    pub fn over(&mut self, task: &str, outcome: Outcome) {
        if let Some(assignment) = self.assignments.get_mut(task) {
            let trouble = assignment.trouble.clone().map(Outcome::Failed);
            assignment.state = State::Over(trouble.unwrap_or(outcome));
        }
    }

    /// Forgets an assignment; episodes that are still played for it, which do not count.
    pub fn discard(&mut self, task: &str) -> Vec<String> {
        self.assignments.remove(task);
        self.sessions.retain(|_, had| had != task);
        let mine = |seat: &Seat| seat.task == task;
        let episodes = self.seats.values().filter(|seat| mine(seat)).map(|s| s.episode.clone());
        let episodes = episodes.collect();
        self.seats.retain(|_, seat| !mine(seat));
        episodes
    }
}

#[cfg(test)]
mod tests;
