//! One episode at the seat: lines become steps until it is over, then it is graded and compared.

use super::input::{Input, Said};
use super::line::{self, Typed};
use super::screen::{self, Paint};
use super::verdict;
use crate::agents;
use crate::body::Body;
use crate::console;
use crate::failure::Failure;
use crate::judge::AnyJudge;
use crate::keeper::Keeper;
use crate::play::{self, Job, Outcome, Played, RewardMode, Rules};
use archive::Place;
use episode::{ControlOrder, Episode, Grade, Observation, Purse};
use fleet::{AnyFleet, EmbeddedFleet};
use model::EpisodeId;
use record::Store;
use scenario::Scenario;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is played, and where its record goes.
#[derive(Debug)]
pub struct Sitting {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The seed.
    pub seed: u64,
    /// The episode.
    pub episode: EpisodeId,
    /// Where its record is kept.
    pub store: Arc<dyn Store>,
}

/// How a sitting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sat {
    /// Lines that were not understood.
    pub misunderstood: u32,
    /// A person typed.
    pub person: bool,
}

/// Plays it with lines from `input`.
///
/// # Errors
/// Where the simulator or the store fails.
pub async fn sit(sitting: &Sitting, mut input: Input) -> Result<Sat, Failure> {
    let judge = AnyJudge::new(None, &Body::Embedded)?;
    let stop = AtomicBool::new(false);
    let rules = Rules {
        judge: &judge,
        reward: RewardMode::Final,
        store: &*sitting.store,
        resume: false,
        keeps: false,
        export: None,
        stop: &stop,
    };
    let (mut keeper, epoch) = Keeper::open(sitting.episode, &rules)?;
    let (kinds, scenario) = (fleet::kinds(), sitting.scenario.clone());
    let fleet = EmbeddedFleet::new(kinds);
    let mut episode =
        Episode::prepare(fleet, kinds, scenario, sitting.episode, sitting.seed, epoch)?;
    keeper.begin(&episode.record().header, epoch)?;
    Box::pin(episode.begin()).await?;
    let mut seat = Seat {
        paint: Paint(input.person),
        seen: episode.observe(None),
        host: None,
        stops: 0,
        misunderstood: 0,
    };
    console::out_raw(screen::page(&seat.seen, seat.paint));
    while !seat.seen.done {
        let said = input.next(seat.prompt(), seat.host.as_deref()).await;
        Box::pin(seat.hear(said, &mut episode, input.person)).await?;
        keeper.keep(&episode.record().entries)?;
    }
    let mut purse = Purse::default();
    let (_, grade) = Box::pin(episode.reward(&judge, &mut purse)).await?;
    let grade = grade.ok_or_else(|| Failure::failed("the episode is not over"))?;
    keeper.score(&grade)?;
    Box::pin(conclude(sitting, &seat, &judge, &grade)).await?;
    Ok(Sat { misunderstood: seat.misunderstood, person: input.person })
}

/// Says how it was.
async fn conclude(
    sitting: &Sitting,
    seat: &Seat,
    judge: &AnyJudge,
    grade: &Grade,
) -> Result<(), Failure> {
    let noop = Box::pin(other(sitting, "noop", judge)).await?;
    let best = Box::pin(other(sitting, "reference", judge)).await?;
    let steps = match seat.seen.step {
        1 => "1 step".to_string(),
        n => format!("{n} steps"),
    };
    let reason = seat.seen.done_reason.as_deref().unwrap_or("left");
    let ended = format!("{reason} at {} after {steps}", seat.seen.time);
    console::out_raw(verdict::show(&sitting.scenario, &ended, grade, &noop, &best));
    Ok(())
}

/// What a built-in agent makes of the same episode.
async fn other(sitting: &Sitting, name: &str, judge: &AnyJudge) -> Result<Outcome, Failure> {
    let agent = agents::find(name).map_err(Failure::failed)?;
    let job = Job::new(sitting.scenario.clone(), sitting.seed, agent)?;
    let store = Place::Off.open().map_err(Failure::failed)?;
    let stop = AtomicBool::new(false);
    let rules = Rules {
        judge,
        reward: RewardMode::Final,
        store: &*store,
        resume: false,
        keeps: false,
        export: None,
        stop: &stop,
    };
    let fleet = AnyFleet::Embedded(EmbeddedFleet::new(fleet::kinds()));
    match Box::pin(play::play(&job, &rules, fleet)).await? {
        Played::Over(outcome) => Ok(*outcome),
        Played::Saved => Err(Failure::Interrupted),
    }
}

/// What the seat remembers between lines.
#[derive(Debug)]
struct Seat {
    paint: Paint,
    seen: Observation,
    /// The host whose terminal is open.
    host: Option<String>,
    /// Ctrl-C so many times in a row.
    stops: u32,
    misunderstood: u32,
}

impl Seat {
    fn prompt(&self) -> String {
        match &self.host {
            Some(host) => format!("{} root@{host}# ", self.seen.time),
            None => format!("{} > ", self.seen.time),
        }
    }

    /// Does what was said.
    async fn hear(
        &mut self,
        said: Said,
        episode: &mut Episode<EmbeddedFleet>,
        person: bool,
    ) -> Result<(), Failure> {
        match said {
            Said::Line(line) => {
                self.stops = 0;
                match line::read(&line, self.host.as_deref(), &episode.site()) {
                    Ok(typed) => Box::pin(self.obey(typed, episode)).await,
                    Err(error) => {
                        self.misunderstood += 1;
                        console::note(error);
                        Ok(())
                    }
                }
            }
            Said::Stop if person && self.stops == 0 => {
                self.stops = 1;
                console::note("Ctrl-C again, or Ctrl-D, ends the episode here");
                Ok(())
            }
            Said::End if self.host.take().is_some() && person => Ok(()),
            Said::End | Said::Stop => self.leave(episode).await,
            Said::Broken(why) => {
                console::note(format_args!("lines cannot be read: {why}"));
                self.misunderstood += 1;
                self.leave(episode).await
            }
        }
    }

    async fn obey(
        &mut self,
        typed: Typed,
        episode: &mut Episode<EmbeddedFleet>,
    ) -> Result<(), Failure> {
        match typed {
            Typed::Nothing => {}
            Typed::Help(None) => console::out_raw(screen::help_all()),
            Typed::Help(Some(spec)) => console::out_raw(action::help::one(spec)),
            Typed::Alerts => console::out_raw(screen::alerts(&self.seen, self.paint)),
            Typed::Terminal(host) => self.host = host,
            Typed::Leave => self.leave(episode).await?,
            Typed::Act(action) => {
                let seen = Box::pin(episode.step(&action)).await?.observation;
                console::out_raw(screen::step(&self.seen, &seen, self.paint));
                self.seen = seen;
            }
        }
        Ok(())
    }

    /// Nobody acts any more; the world goes on without.
    async fn leave(&mut self, episode: &mut Episode<EmbeddedFleet>) -> Result<(), Failure> {
        episode.control(&ControlOrder::Abandon).await?;
        self.seen = episode.observe(None);
        Ok(())
    }
}
