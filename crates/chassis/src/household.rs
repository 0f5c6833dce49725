//! All episodes of one kind in this process. A lock per episode; the table of episodes is locked
//! only to look one up. Carries calls to [`machine::Instance`]s and does not know what they mean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use machine::Kind;
use mesh::MeshError;
use model::{EpisodeId, Hop, HopReply, Next};
use parking_lot::{Mutex, RwLock};
use proto::control::v1 as pb;
use tonic::Status;

use crate::incarnation;
use crate::resident::Resident;
use crate::sequence::{Answer, Call, Place, place};

/// How much a process holds, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most episodes.
    pub episodes_max: usize,
    /// An episode that nobody asked for this long may be forgotten.
    pub idle_ttl: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { episodes_max: 4096, idle_ttl: Duration::from_secs(3600) }
    }
}

/// All episodes of one kind.
#[derive(Debug)]
pub struct Household {
    kind: &'static dyn Kind,
    incarnation: u64,
    limits: Limits,
    residents: RwLock<BTreeMap<EpisodeId, Arc<Mutex<Resident>>>>,
}

impl Household {
    /// An empty household.
    pub fn new(kind: &'static dyn Kind, limits: Limits) -> Household {
        let residents = RwLock::new(BTreeMap::new());
        Household { kind, incarnation: incarnation::draw(), limits, residents }
    }

    /// The kind.
    pub fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    /// Differs between any two households; never enters a record.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Episodes held now.
    pub fn episodes(&self) -> usize {
        self.residents.read().len()
    }

    fn find(&self, episode: EpisodeId) -> Result<Arc<Mutex<Resident>>, Status> {
        self.residents.read().get(&episode).cloned().ok_or_else(|| unknown(self.kind, episode))
    }

    /// Creates the instances of an episode.
    ///
    /// # Errors
    /// Where an equal or newer epoch is further on, a setup does not fit, or the house is full.
    pub fn create(&self, request: pb::CreateRequest) -> Result<(), Status> {
        let sequence = sequence(request.sequence)?;
        if sequence.seq != 1 {
            return Err(Status::invalid_argument("Create is call 1 of its kind"));
        }
        let resident =
            Resident::create(self.kind, &request).map_err(|e| e.about(self.kind.name()))?;
        self.admit(sequence, resident, |known| known.created_by(&request))
    }

    /// Puts the instances of an episode into given states.
    ///
    /// # Errors
    /// Where a newer epoch is here, a snapshot does not fit, or the house is full.
    pub fn restore(&self, request: &pb::RestoreRequest) -> Result<(), Status> {
        let sequence = sequence(request.sequence)?;
        let resident =
            Resident::restore(self.kind, request).map_err(|e| e.about(self.kind.name()))?;
        // The owner itself may put an episode back: that is how it heals a gap.
        self.admit(sequence, resident, |_| Admission::Replace)
    }

    /// Lets a resident in unless its place is taken rightfully.
    fn admit(
        &self,
        sequence: pb::Sequence,
        resident: Resident,
        same_epoch: impl FnOnce(&Resident) -> Admission,
    ) -> Result<(), Status> {
        let episode = EpisodeId(sequence.episode);
        let mut residents = self.residents.write();
        if let Some(known) = residents.get(&episode) {
            let known = known.lock();
            if sequence.epoch < known.epoch() {
                return Err(outdated(sequence.epoch, known.epoch()));
            }
            if sequence.epoch == known.epoch() {
                match same_epoch(&known) {
                    Admission::Replace => {}
                    Admission::Repeat => return Ok(()),
                    Admission::Refuse(status) => return Err(*status),
                }
            }
        } else if residents.len() >= self.limits.episodes_max {
            self.evict(&mut residents);
            if residents.len() >= self.limits.episodes_max {
                return Err(Status::resource_exhausted(format!(
                    "{} episodes are held here already: drop some, or allow more with \
                     --max-episodes",
                    residents.len()
                )));
            }
        }
        residents.insert(episode, Arc::new(Mutex::new(resident)));
        Ok(())
    }

    /// Forgets episodes that nobody asked for a long time; returns how many. One that is wanted
    /// after all is restored by its owner.
    pub fn sweep(&self) -> usize {
        self.evict(&mut self.residents.write())
    }

    fn evict(&self, residents: &mut BTreeMap<EpisodeId, Arc<Mutex<Resident>>>) -> usize {
        let before = residents.len();
        let now = Instant::now();
        let wanted = |resident: &Mutex<Resident>| match resident.try_lock() {
            Some(resident) => now.duration_since(resident.used()) < self.limits.idle_ttl,
            None => true,
        };
        residents.retain(|_, resident| wanted(resident));
        before - residents.len()
    }

    /// Forgets an episode. Tells whether it was here.
    ///
    /// # Errors
    /// Where a newer owner has it.
    pub fn forget(&self, episode: EpisodeId, epoch: u64) -> Result<bool, Status> {
        let mut residents = self.residents.write();
        let Some(known) = residents.get(&episode).map(|known| known.lock().epoch()) else {
            return Ok(false);
        };
        if epoch < known {
            return Err(outdated(epoch, known));
        }
        Ok(residents.remove(&episode).is_some())
    }

    /// A sequenced call: makes it once, and repeats its answer for a repeat.
    ///
    /// # Errors
    /// For an unknown episode, an older epoch, a gap, or a message that does not fit; nothing is
    /// changed then. Where a machine panics the episode is forgotten: it is to be restored.
    pub fn call(&self, sequence: Option<pb::Sequence>, call: Call) -> Result<Answer, Status> {
        let sequence = self::sequence(sequence)?;
        let episode = EpisodeId(sequence.episode);
        let found = self.find(episode)?;
        let mut resident = found.lock();
        resident.touch(Instant::now());
        match place(&sequence, resident.epoch(), resident.seq()) {
            Place::Next => {}
            Place::Repeat => return resident.repeat(&call),
            Place::Outdated => return Err(outdated(sequence.epoch, resident.epoch())),
            Place::Unknown => return Err(unknown(self.kind, episode)),
            Place::Gap => {
                let (seq, last) = (sequence.seq, resident.seq());
                return Err(Status::out_of_range(format!(
                    "call {seq} cannot follow call {last} of episode {episode}: restore the state \
                     after call {}",
                    seq.saturating_sub(1)
                )));
            }
        }
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| resident.make(call)));
        match made {
            Ok(outcome) => outcome,
            Err(_) => {
                drop(resident);
                self.evacuate(episode, &found);
                Err(Status::internal(format!(
                    "a machine of {} panicked in call {} of episode {episode}; its state is gone",
                    self.kind.name(),
                    sequence.seq
                )))
            }
        }
    }

    /// Removes a broken resident, unless another one took its place.
    fn evacuate(&self, episode: EpisodeId, broken: &Arc<Mutex<Resident>>) {
        let mut residents = self.residents.write();
        if residents.get(&episode).is_some_and(|known| Arc::ptr_eq(known, broken)) {
            residents.remove(&episode);
        }
    }

    /// Looks at an episode.
    ///
    /// # Errors
    /// For an unknown episode, and what `look` says.
    pub fn look<T>(
        &self,
        episode: EpisodeId,
        look: impl FnOnce(&Resident) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let found = self.find(episode)?;
        let mut resident = found.lock();
        resident.touch(Instant::now());
        look(&resident)
    }

    /// Kinds of the instances of an episode, by id.
    ///
    /// # Errors
    /// Where the episode is not here.
    pub fn directory(&self, episode: EpisodeId) -> Result<Arc<[String]>, MeshError> {
        let found = self.find(episode).map_err(|_| self.lost())?;
        let resident = found.lock();
        Ok(resident.directory())
    }

    /// The next thing that a hop does.
    ///
    /// # Errors
    /// Where the episode or the instance is not here, or the kind has no such operation.
    pub fn plan(
        &self,
        episode: EpisodeId,
        hop: &Hop,
        replies: &[HopReply],
    ) -> Result<Next, MeshError> {
        let found = self.find(episode).map_err(|_| self.lost())?;
        let resident = found.lock();
        resident.plan(self.kind, hop, replies)
    }

    fn lost(&self) -> MeshError {
        MeshError::Lost { kind: self.kind.name().into() }
    }
}

/// What to do with a newcomer of the same epoch.
pub(crate) enum Admission {
    /// It takes the place.
    Replace,
    /// It is a repeat of the call that made the resident.
    Repeat,
    /// It is wrong here. Boxed: a status is large.
    Refuse(Box<Status>),
}

fn sequence(sequence: Option<pb::Sequence>) -> Result<pb::Sequence, Status> {
    sequence.ok_or_else(|| Status::invalid_argument("field sequence: is missing"))
}

fn unknown(kind: &dyn Kind, episode: EpisodeId) -> Status {
    Status::not_found(format!(
        "{} does not hold episode {episode} of this epoch: create or restore it",
        kind.name()
    ))
}

fn outdated(epoch: u64, known: u64) -> Status {
    Status::failed_precondition(format!(
        "epoch {epoch} is over: an owner with epoch {known} took the episode; stop driving it"
    ))
}
