//! What the control port asks of episodes and does to them. What changes a world is kept before it
//! is answered, as a step is.

use super::{AGAIN, ANEW, Listed, Seat, SessionError, Sessions, last_world, sleep, unkept};
use crate::live::Live;
use episode::{ControlOrder, Episode, Observation};
use fleet::AnyFleet;
use model::{EpisodeId, Inspection, InstanceId, Tick};
use record::{Filter, Header, Prune, Record, Summary, Write};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::Mutex;

/// An episode after the control port has done something to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Steered {
    /// The tick it stands at.
    pub tick: Tick,
    /// Impact so far, micro-user-minutes.
    pub impact: i64,
    /// What the agent would see now.
    pub observation: Observation,
}

impl Sessions {
    /// Looks at an episode as it stands.
    ///
    /// # Errors
    /// For an unknown episode, or a failure outside the simulation.
    pub async fn look<T>(
        &self,
        id: EpisodeId,
        see: impl FnOnce(&Live) -> T,
    ) -> Result<T, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        self.confirmed(id, &mut seat).await.map(|live| see(live))
    }

    /// The truth about some components of an episode.
    ///
    /// # Errors
    /// What `choose` finds wrong, or as [`Sessions::look`].
    pub async fn inspect(
        &self,
        id: EpisodeId,
        choose: impl FnOnce(&Live) -> Result<Vec<InstanceId>, SessionError>,
    ) -> Result<Vec<Inspection>, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let live = self.confirmed(id, &mut seat).await?;
        let mut inspections = Vec::new();
        for component in choose(live)? {
            match Box::pin(live.episode.inspect(component)).await {
                Ok(inspection) => inspections.push(inspection),
                Err(error) => {
                    sleep(&mut seat);
                    return Err(SessionError::failed(AGAIN, error));
                }
            }
        }
        Ok(inspections)
    }

    /// Gives an episode the orders that `choose` finds fit: all or none of them.
    ///
    /// # Errors
    /// Where it is over, what `choose` finds wrong, or a failure outside the simulation; nothing
    /// has happened then.
    pub async fn steer(
        &self,
        id: EpisodeId,
        choose: impl FnOnce(&Episode<AnyFleet>) -> Result<Vec<ControlOrder>, SessionError>,
    ) -> Result<Steered, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let live = self.confirmed(id, &mut seat).await?;
        if let Some(end) = live.episode.ended() {
            let word = end.word();
            return Err(SessionError::NotNow(format!(
                "the episode is over ({word}): fork it before its end, or create another one"
            )));
        }
        for order in choose(&live.episode)? {
            if let Err(error) = Box::pin(live.episode.control(&order)).await {
                // Its input is noted and did not take effect: back to what is kept.
                sleep(&mut seat);
                return Err(SessionError::failed(AGAIN, error));
            }
            self.tally().ordered(&order);
        }
        let steered = Steered {
            tick: live.episode.tick(),
            impact: live.episode.impact(),
            observation: live.observe(),
        };
        self.keep(id, &mut seat).await?;
        Ok(steered)
    }

    /// Begins an episode that has this past, of whatever episode it is.
    ///
    /// # Errors
    /// For a full house, or a failure outside the simulation.
    pub async fn plant(&self, past: &Record) -> Result<EpisodeId, SessionError> {
        self.admit()?;
        let id = EpisodeId(chassis::incarnation::draw());
        let Header { seed, scenario_name, scenario, .. } = &past.header;
        let header = Header::new(id, *seed, scenario_name, scenario.clone());
        let record = Record { header, entries: past.entries.clone() };
        let (header, epoch) = (record.header.clone(), 1);
        let create = Write::Create { header, epoch, session: None };
        let append = Write::Append { episode: id, epoch, entries: record.entries.clone() };
        for write in [create, append] {
            let written = self.house.store.write(write).await;
            written.map_err(|error| SessionError::failed(ANEW, error))?;
        }
        let (source, judge) = (&self.house.source, &self.house.judge);
        let resumed = Box::pin(Live::resume(source, &record, epoch, judge, self.house.reward));
        match resumed.await {
            Ok(live) => {
                let seat = Arc::new(Mutex::new(Seat::Live(Box::new(live))));
                self.table.write().insert(id, seat);
                Ok(id)
            }
            Err(error) => {
                self.uproot(id).await;
                Err(SessionError::failed(AGAIN, error))
            }
        }
    }

    /// Forgets an episode and its record.
    pub async fn uproot(&self, id: EpisodeId) {
        self.forget(id).await;
        let prune = Prune { episodes: Some(vec![id]), ..Prune::default() };
        if let Err(error) = self.house.store.write(Write::Prune(prune)).await {
            tracing::debug!(%error, episode = %id, "a record stays");
        }
    }

    /// The record of an episode, as far as it is kept.
    ///
    /// # Errors
    /// For an unknown episode, or where the store cannot be read.
    pub async fn record(&self, id: EpisodeId) -> Result<Record, SessionError> {
        let held = self.table.read().contains_key(&id);
        if held {
            return self.look(id, Live::kept).await;
        }
        self.house.store.load(id).await.map_err(|error| unkept(id, error))
    }

    /// The records that meet `filter`, newest first.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn records(&self, filter: Filter) -> Result<Vec<Summary>, SessionError> {
        let listed = self.house.store.list(filter).await;
        listed.map_err(|error| SessionError::failed(AGAIN, error))
    }

    /// Adds episodes that are nowhere but in memory, up to `newest` in all. A busy one is left out.
    pub(super) fn add_unkept(&self, listed: &mut Vec<Listed>, newest: u32) {
        let known: BTreeSet<_> = listed.iter().map(|one| one.summary.episode).collect();
        let slots: Vec<_> = self.table.read().values().cloned().collect();
        for slot in slots {
            let Ok(seat) = slot.try_lock() else { continue };
            let Seat::Live(live) = &*seat else { continue };
            let summary = summary(live);
            if listed.len() < newest as usize && !known.contains(&summary.episode) {
                listed.push(Listed { summary, live: true, world: last_world(live) });
            }
        }
    }

    /// Episodes in memory.
    pub fn live(&self) -> usize {
        self.table.read().len()
    }
}

/// What a record that is not kept anywhere would be listed as.
fn summary(live: &Live) -> Summary {
    let (record, grade) = (live.episode.record(), live.known_grade());
    Summary {
        episode: record.header.episode,
        scenario_name: record.header.scenario_name.clone(),
        seed: record.header.seed,
        steps: live.episode.steps(),
        last_tick: Some(live.episode.tick()),
        ended: live.episode.ended(),
        score: grade.map(|grade| grade.score),
        terms: grade.and_then(|grade| serde_json::to_string(&grade.terms).ok()),
        created_s: None,
    }
}
