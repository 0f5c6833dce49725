//! One session: the episode that it plays, and what each kind of act does there. An act is played
//! on the simulation first; only what comes of it is counted.

use super::diagnoses::{self, Verdict};
use super::incidents::{Incident, Part, Situation};
use super::remedies::{self, Deed};
use super::status::{self, MEMBERS, Member, Status};
use super::tally::{HELD_STEPS, STEP_MINUTES, Tally, pay, rounded};
use super::tasks::{Grading, Task};
use super::{deeds, evidence, figures};
use crate::stage::{Play, Stage, Trouble};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Ticks of the simulation in a step.
pub(super) const STEP_S: u32 = 60 * STEP_MINUTES;
/// The world of those who send no seed.
const WORLD: u64 = 0;

/// What a session holds.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// Its episode, after the first reset.
    pub(super) episode: Option<Incumbent>,
}

/// An episode.
#[derive(Debug)]
pub(super) struct Incumbent {
    id: String,
    task: &'static Task,
    situation: &'static Situation,
    play: Play,
    tally: Tally,
    seen: Seen,
    figures: bool,
}

/// What was published at the end of the last step.
#[derive(Clone, Debug, Default)]
struct Seen {
    statuses: BTreeMap<&'static str, Status>,
    /// Incidents whose component and signals are as they should be.
    over: BTreeSet<&'static str>,
}

/// What an act came to.
#[derive(Clone, Debug, Default)]
struct Outcome {
    reward: f64,
    text: String,
    error: Option<String>,
}

impl Outcome {
    fn paid(reward: f64, text: impl Into<String>) -> Outcome {
        Outcome { reward, text: text.into(), error: None }
    }

    fn wrong(error: &str, text: impl Into<String>) -> Outcome {
        Outcome { reward: pay::UNFIT, text: text.into(), error: Some(error.into()) }
    }
}

/// An act as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) kind: String,
    pub(super) target: String,
    pub(super) parameters: Map<String, Value>,
}

impl Act {
    /// A parameter as text; absent or of another type: "".
    fn text(&self, name: &str) -> &str {
        self.parameters.get(name).and_then(Value::as_str).unwrap_or_default().trim()
    }
}

impl Incumbent {
    /// Begins an episode.
    ///
    /// # Errors
    /// Where there is no room for it, or something outside the simulation fails.
    pub(super) async fn begin(
        stage: &Arc<Stage>,
        task: &'static Task,
        seed: Option<u64>,
        id: Option<String>,
    ) -> Result<Incumbent, Trouble> {
        let situation = task.situation(seed);
        let play = stage.begin(situation.scenario, seed.unwrap_or(WORLD)).await?;
        let id = id.unwrap_or_else(|| play.id().to_string());
        let (tally, seen, figures) = (Tally::default(), Seen::default(), stage.figures());
        let mut begun = Incumbent { id, task, situation, play, tally, seen, figures };
        begun.seen = begun.see().await?;
        Ok(begun)
    }

    async fn see(&self) -> Result<Seen, Trouble> {
        let situation = self.situation;
        self.play
            .look(|live| {
                let episode = &live.episode;
                let named = |member: &Member| Some((member.name, member.status(episode)?));
                let statuses: BTreeMap<_, _> = MEMBERS.iter().filter_map(named).collect();
                let topology = &episode.scenario().topology;
                let signal = |of: &str, name| episode.signal(topology.instance(of)?, name);
                let over = |one: &&Incident| {
                    statuses.get(one.service) == Some(&Status::Healthy)
                        && one.over.iter().all(|(of, name, fine)| fine.holds(signal(of, name)))
                };
                let over = situation.incidents.iter().filter(over).map(|one| one.id).collect();
                Seen { statuses, over }
            })
            .await
    }

    /// What a client sees after a reset.
    pub(super) fn opening(&self) -> Value {
        let text = format!(
            "INCIDENT RESPONSE: {} ({}). {} You have {} steps; each takes {STEP_MINUTES} minutes.",
            self.task.display_name,
            self.task.difficulty,
            self.task.description,
            self.task.max_steps
        );
        self.observation(&Outcome::paid(0.0, text))
    }

    /// Takes one step.
    ///
    /// # Errors
    /// Where something outside the simulation fails; the step is not counted then.
    pub(super) async fn step(&mut self, act: &Act) -> Result<Value, Trouble> {
        if self.tally.done {
            let text = "The episode is over. A reset begins another one.";
            let error = Some("Episode already done".to_string());
            return Ok(self.observation(&Outcome { reward: 0.0, text: text.into(), error }));
        }
        let mut tally = self.tally.clone();
        tally.steps += 1;
        let mut outcome = match act.kind.as_str() {
            "investigate" => self.investigate(&mut tally, act).await?,
            "diagnose" => self.idly(self.diagnose(&mut tally, act)).await?,
            "prioritize" => self.idly(self.prioritize(&mut tally, act)).await?,
            "remediate" => self.remediate(&mut tally, act).await?,
            "escalate" => self.idly(self.escalate(&mut tally, act)).await?,
            "verify" => self.verify(&mut tally, act).await?,
            other => {
                let kinds = "diagnose, escalate, investigate, prioritize, remediate, verify";
                let text = format!("{other:?} is no type of action; there are {kinds}.");
                self.idly(Outcome::wrong(&format!("Invalid action type: {other}"), text)).await?
            }
        };
        self.resolve(&mut tally);
        tally.close(self.task, self.situation, outcome.reward);
        if tally.done {
            self.play.resolve().await?;
            let score = tally.score(self.task, self.situation);
            outcome.text += &format!("\nThe episode is over after {} steps: {score}.", tally.steps);
        }
        self.tally = tally;
        Ok(self.observation(&outcome))
    }

    /// Lets the rest of the step pass, and looks at what is published then.
    async fn pass(&mut self, since: model::Tick) -> Result<(), Trouble> {
        let now = self.play.look(|live| live.episode.tick()).await?;
        let spent = u32::try_from(now.since(since)).unwrap_or(0);
        self.play.turn(Vec::new(), STEP_S.saturating_sub(spent)).await?;
        self.seen = self.see().await?;
        Ok(())
    }

    /// A step in which nothing is done to the system.
    async fn idly(&mut self, outcome: Outcome) -> Result<Outcome, Trouble> {
        let since = self.play.look(|live| live.episode.tick()).await?;
        self.pass(since).await?;
        Ok(outcome)
    }

    async fn investigate(&mut self, tally: &mut Tally, act: &Act) -> Result<Outcome, Trouble> {
        let since = self.play.look(|live| live.episode.tick()).await?;
        let Some(member) = status::find(&act.target) else {
            self.pass(since).await?;
            let text = format!("There is no service {:?}.", act.target);
            return Ok(Outcome::paid(0.0, text));
        };
        let aspect = evidence::aspect(act.text("aspect"));
        let open = |one: &Incident| !self.seen.over.contains(one.id);
        let lasting =
            self.situation.incidents.iter().any(|one| one.part != Part::Herring && open(one));
        let clues = if lasting { self.situation.clues } else { &[] };
        let mut text = evidence::show(&self.play, member, aspect, clues).await?;
        self.pass(since).await?;
        let reward = tally.look(self.situation, member.name, aspect);
        if reward == pay::AGAIN {
            text += "\n(You have looked at this before.)";
        }
        Ok(Outcome::paid(reward, text))
    }

    fn incident(&self, target: &str) -> Result<&'static Incident, Outcome> {
        self.situation.find(target).ok_or_else(|| {
            let ids: Vec<_> = self.situation.incidents.iter().map(|one| one.id).collect();
            let text = format!("There is no incident {target:?}; there is {}.", ids.join(", "));
            Outcome::wrong(&format!("Unknown incident ID: {target}"), text)
        })
    }

    fn diagnose(&self, tally: &mut Tally, act: &Act) -> Outcome {
        let cause = act.text("root_cause");
        if cause.is_empty() {
            let text = "A diagnosis needs `root_cause` in its parameters, as text.";
            return Outcome::wrong("Missing root_cause parameter", text);
        }
        let incident = match self.incident(&act.target) {
            Ok(incident) => incident,
            Err(outcome) => return outcome,
        };
        let verdict = diagnoses::judge(cause, incident.accepts, self.situation.origin());
        let (right, claim) = (verdict == Verdict::Right, verdict == Verdict::Wrong);
        let reward = tally.diagnose(incident, right, claim);
        let said = match (verdict, reward) {
            (Verdict::Right, reward) if reward > 0.0 => "noted: it agrees with what is seen",
            (Verdict::Right, reward) if reward == pay::AGAIN => "noted before",
            (Verdict::Right, _) => "not counted after so many other guesses",
            (Verdict::Wrong, _) => "it does not agree with what is seen",
            (Verdict::Unclear, _) => "not understood: name the cause, and nothing else",
            (Verdict::Negated, _) => "it says what the cause is not: name what it is",
        };
        Outcome::paid(reward, format!("Diagnosis for {}: {said}.", incident.id))
    }

    fn prioritize(&self, tally: &mut Tally, act: &Act) -> Outcome {
        let priority = match act.text("priority").to_ascii_uppercase().as_str() {
            "P1" => 1,
            "P2" => 2,
            "P3" => 3,
            "P4" => 4,
            _ => {
                let text = "`priority` has to be P1, P2, P3 or P4.";
                return Outcome::wrong("Invalid priority value", text);
            }
        };
        let incident = match self.incident(&act.target) {
            Ok(incident) => incident,
            Err(outcome) => return outcome,
        };
        let reward = tally.prioritize(incident, priority);
        Outcome::paid(reward, format!("Priority for {}: P{priority}.", incident.id))
    }

    fn escalate(&self, tally: &mut Tally, act: &Act) -> Outcome {
        let incident = match self.incident(&act.target) {
            Ok(incident) => incident,
            Err(outcome) => return outcome,
        };
        let team = match act.text("team") {
            "" => "a specialist",
            team => team,
        };
        let reward = tally.escalate(incident);
        Outcome::paid(reward, format!("{} is with {team} as well now.", incident.id))
    }

    async fn remediate(&mut self, tally: &mut Tally, act: &Act) -> Result<Outcome, Trouble> {
        let words = act.text("action");
        if words.is_empty() {
            let text = "A remediation needs `action` in its parameters, as text.";
            return self.idly(Outcome::wrong("Missing action parameter", text)).await;
        }
        let since = self.play.look(|live| live.episode.tick()).await?;
        let broken = self.broken();
        tally.tried += 1;
        let done = match self.deed(&act.target, words) {
            Ok((member, deed)) => {
                deeds::carry_out(&self.play, self.situation, member.name, deed, words).await?
            }
            Err(outcome) => {
                tally.failed += 1;
                return self.idly(outcome).await;
            }
        };
        self.pass(since).await?;
        if !broken.is_empty() && self.broken().is_empty() {
            // What broke again after a repair is repaired without another reward.
            let reward = if tally.fixed.is_some() { pay::AGAIN } else { pay::FIXED };
            tally.fixed = tally.fixed.or(Some(tally.steps));
            let text = format!("On {}: {done} What was broken is as it should be.", act.target);
            return Ok(Outcome::paid(reward, text));
        }
        tally.failed += 1;
        let text = format!("On {}: {done} What is broken is not repaired by it.", act.target);
        Ok(Outcome::paid(pay::NOT_FIXED, text))
    }

    /// The incidents that others follow from and that are not over.
    fn broken(&self) -> Vec<&'static str> {
        let cause = |one: &&Incident| matches!(one.part, Part::Alone | Part::Origin);
        let causes = self.situation.incidents.iter().filter(cause).map(|one| one.id);
        causes.filter(|id| !self.seen.over.contains(id)).collect()
    }

    /// What a text asks for on a component that is named.
    fn deed(&self, target: &str, text: &str) -> Result<(&'static Member, Deed), Outcome> {
        let member = status::find(target).ok_or_else(|| {
            let text = format!("There is no service {target:?}; nothing is done.");
            Outcome::paid(pay::UNFIT, text)
        })?;
        let unclear = |why: &str| {
            Outcome::paid(pay::NOT_FIXED, format!("On {target}: {why}; nothing is done."))
        };
        let asked = remedies::asked(text)
            .ok_or_else(|| unclear("not understood: say what is to be done, and nothing else"))?;
        let deeds: Option<BTreeSet<_>> =
            asked.into_iter().map(|remedy| remedies::deed(remedy, member)).collect();
        let Some(deeds) = deeds else {
            let text = format!("On {target}: such a thing cannot be done there.");
            return Err(Outcome::paid(pay::UNFIT, text));
        };
        let mut deeds = deeds.into_iter();
        match (deeds.next(), deeds.next()) {
            (Some(deed), None) => Ok((member, deed)),
            _ => Err(unclear("one thing at a time")),
        }
    }

    async fn verify(&mut self, tally: &mut Tally, act: &Act) -> Result<Outcome, Trouble> {
        let since = self.play.look(|live| live.episode.tick()).await?;
        self.pass(since).await?;
        let shown = |name: &str| self.seen.statuses.get(name).map_or("unknown", |s| s.name());
        let state = format!("{} is {}.", act.target, shown(&act.target));
        if tally.tried == 0 {
            let text = format!("{state} Nothing has been done so far that could be verified.");
            return Ok(Outcome::paid(pay::TOO_EARLY, text));
        }
        let Some(incident) = self.situation.find(&act.target) else {
            let text = format!("{state} There is no incident at {:?}.", act.target);
            return Ok(Outcome::paid(pay::TOO_EARLY, text));
        };
        if !self.seen.over.contains(incident.id) {
            let text = format!(
                "{} is {}: {} goes on.",
                incident.service,
                shown(incident.service),
                incident.id
            );
            return Ok(Outcome::paid(0.0, text));
        }
        let held = tally.fixed.is_some_and(|step| tally.steps >= step + HELD_STEPS);
        if self.task.grading == Grading::Single && held {
            tally.resolved.insert(incident.id);
        }
        let reward = tally.verify(incident);
        let text = format!(
            "{} is {}: what paged in {} is over.",
            incident.service,
            shown(incident.service),
            incident.id
        );
        Ok(Outcome::paid(reward, text))
    }

    /// Closes what is over. A single incident waits for its verification instead; symptoms do not
    /// close before what they follow from.
    fn resolve(&self, tally: &mut Tally) {
        if self.task.grading == Grading::Single || !self.broken().is_empty() {
            return;
        }
        let over = self.situation.incidents.iter().filter(|one| self.seen.over.contains(one.id));
        tally.resolved.extend(over.filter(|one| one.part != Part::Herring).map(|one| one.id));
    }

    fn observation(&self, outcome: &Outcome) -> Value {
        let (tally, situation) = (&self.tally, self.situation);
        let alerts: Vec<_> = situation
            .incidents
            .iter()
            .map(|one| {
                let resolved = tally.resolved.contains(one.id);
                json!({
                    "id": one.id,
                    "severity": if resolved { "resolved" } else { one.severity },
                    "service": one.service,
                    "title": one.title,
                    "message": one.message,
                    "timestamp": one.timestamp,
                    "is_red_herring": one.part == Part::Herring,
                })
            })
            .collect();
        let shown = |(name, status): (&&str, &Status)| {
            (name.to_string(), figures::shown(situation, name, *status, self.figures))
        };
        let statuses: Map<_, _> = self.seen.statuses.iter().map(shown).collect();
        let resolved = tally.resolved.len() as u32;
        json!({
            "observation": {
                "alerts": alerts,
                "system_status": statuses,
                "logs": [],
                "investigation_results": outcome.text,
                "time_elapsed": self.elapsed(),
                "incidents_resolved": resolved,
                "incidents_remaining": situation.total() - resolved,
                "last_action_error": outcome.error,
                "task_name": self.task.name,
                "current_step": tally.steps,
                "max_steps": self.task.max_steps,
            },
            "reward": outcome.reward,
            "done": tally.done,
        })
    }

    /// Minutes of the story so far.
    fn elapsed(&self) -> f64 {
        f64::from(STEP_MINUTES * self.tally.steps)
    }

    /// The counts of the episode.
    pub(super) fn state(&self) -> Value {
        let (tally, situation) = (&self.tally, self.situation);
        json!({
            "episode_id": self.id,
            "step_count": tally.steps,
            "task_name": self.task.name,
            "scenario_id": situation.id,
            "total_incidents": situation.total(),
            "resolved_incidents": tally.resolved.len(),
            "correct_diagnoses": tally.diagnosed.len(),
            "misdiagnosed": tally.misdiagnosed,
            "correct_priorities": tally.prioritized.len(),
            "correct_remediations": u32::from(tally.fixed.is_some()),
            "failed_remediations": tally.failed,
            "time_elapsed": self.elapsed(),
            "actions_taken": tally.steps,
            "accumulated_reward": rounded(tally.accumulated),
            "done": tally.done,
        })
    }

    /// The grade so far.
    pub(super) fn grade(&self) -> Value {
        self.tally.graded(self.task, self.situation)
    }
}
