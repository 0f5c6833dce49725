//! The machines of one episode in other processes, one per kind, over gRPC. Same calls, same
//! order, same bits as embedded; what is added is numbers on calls, repeats, and picking up an
//! interrupted call where it stopped.

use std::collections::BTreeMap;
use std::sync::Arc;

use chassis::wire::exchange::{inbox_out, outbox_in};
use chassis::wire::moved::{digest_in, history_in};
use chassis::wire::order::{order_out, pull_out};
use chassis::wire::{WireError, present};
use futures_util::future::join_all;
use machine::Moving;
use mesh::MeshError;
use model::{
    Answer, Hop, HopReply, Inspection, InstanceId, LeverPull, Order, Query, Refusal, Setup, Tick,
};
use proto::control::v1 as pb;
use proto::control::v1::operate_response::Outcome;

use crate::client::Client;
use crate::embedded::{EmbeddedFleet, nobody};
use crate::error::FleetError;
use crate::fleet::{Fleet, Told};
use crate::halt::{Lane, Lanes};
use crate::links::Links;
use crate::reply::Reply;
use crate::retry::{Failed, RemoteConfig};
use crate::roster::{Roster, Round, Savepoint};

/// All instances of one episode in component processes.
#[derive(Debug)]
pub struct RemoteFleet {
    client: Client,
    roster: Roster,
    lanes: Lanes,
    open: Option<Open>,
}

/// A round that some kinds have answered and others not yet.
#[derive(Debug)]
struct Open {
    at: Moving,
    want_digest: bool,
    /// Answers by lane.
    held: Vec<Option<pb::AdvanceResponse>>,
}

impl RemoteFleet {
    /// A fleet that holds nothing yet and works over these links.
    pub fn new(links: Arc<Links>, config: RemoteConfig) -> RemoteFleet {
        let roster = Roster::empty();
        RemoteFleet {
            client: Client { links, config },
            roster,
            lanes: Lanes::default(),
            open: None,
        }
    }

    /// A fleet that only looks at an episode which somebody else drives: it may `read`, `inspect`,
    /// `snapshot` and `save`. Nothing is sent. `seqs`: the owner's calls so far, by kind; `save`
    /// refuses components that stand elsewhere.
    ///
    /// # Errors
    /// Where the roster is out of order or a kind has no number.
    pub fn attach(
        links: Arc<Links>,
        config: RemoteConfig,
        roster: &Roster,
        seqs: &BTreeMap<String, u64>,
    ) -> Result<RemoteFleet, FleetError> {
        let mut fleet = RemoteFleet::new(links, config);
        fleet.adopt(roster)?;
        fleet.lanes.set_seqs(seqs)?;
        Ok(fleet)
    }

    fn sequence(&self, seq: u64) -> Option<pb::Sequence> {
        let Roster { episode, epoch, .. } = self.roster;
        Some(pb::Sequence { episode: episode.0, epoch, seq })
    }

    /// Which lane a call for `id` goes to, and the call's number.
    fn next(&self, id: InstanceId) -> Result<(usize, u64), FleetError> {
        if let Some(open) = &self.open {
            return Err(FleetError::defect(format!(
                "round {} of tick {} is not over: advance again before anything else",
                open.at.round, open.at.tick.0
            )));
        }
        let at = self.lanes.of(id.at()).ok_or_else(|| nobody(id))?;
        Ok((at, self.lanes.lanes[at].seq + 1))
    }

    /// The lane of a reading call.
    fn lane(&self, id: InstanceId) -> Result<&Lane, FleetError> {
        self.lanes.of(id.at()).map(|at| &self.lanes.lanes[at]).ok_or_else(|| nobody(id))
    }

    fn setups_json(&self, lane: &Lane) -> Result<Vec<Vec<u8>>, FleetError> {
        let json = |at: &usize| serde_json::to_vec::<Setup>(&self.roster.setups[*at]);
        let all = lane.members.iter().map(json).collect::<Result<_, _>>();
        all.map_err(|error| FleetError::defect(format!("setup of {}: {error}", lane.kind)))
    }

    fn directory(&self) -> Vec<String> {
        self.roster.setups.iter().map(|setup| setup.spec.kind.clone()).collect()
    }

    /// Starts an episode anew under this roster; nothing is sent.
    fn adopt(&mut self, roster: &Roster) -> Result<(), FleetError> {
        roster.check()?;
        self.lanes = Lanes::new(roster);
        self.roster = roster.clone();
        self.open = None;
        Ok(())
    }

    async fn create_lane(&self, lane: &Lane) -> Result<(), FleetError> {
        self.client.introduce(&lane.kind, 1).await?;
        let request = pb::CreateRequest {
            sequence: self.sequence(1),
            start: self.roster.start.0,
            setups_json: self.setups_json(lane)?,
            directory: self.directory(),
        };
        self.client.ask(&lane.kind, 1, request).await.map(drop)
    }

    /// Puts the instances of a lane into these states; its next call is number `seq` + 1.
    async fn restore_lane(
        &self,
        lane: &Lane,
        seq: u64,
        snapshots: Vec<Vec<u8>>,
    ) -> Result<(), FleetError> {
        self.client.introduce(&lane.kind, seq + 1).await?;
        let request = pb::RestoreRequest {
            sequence: self.sequence(seq),
            start: self.roster.start.0,
            setups_json: self.setups_json(lane)?,
            directory: self.directory(),
            snapshots,
        };
        self.client.ask(&lane.kind, seq + 1, request).await.map(drop)
    }

    fn open(&mut self, round: &Round<'_>) -> Result<Open, FleetError> {
        if round.inboxes.len() != self.roster.setups.len() {
            let (have, want) = (round.inboxes.len(), self.roster.setups.len());
            return Err(FleetError::defect(format!("{have} inboxes for {want} instances")));
        }
        let fresh = Open {
            at: round.at,
            want_digest: round.want_digest,
            held: self.lanes.lanes.iter().map(|_| None).collect(),
        };
        match self.open.take() {
            None => Ok(fresh),
            Some(open) if open.at == fresh.at && open.want_digest == fresh.want_digest => Ok(open),
            Some(open) => {
                let (round, tick) = (open.at.round, open.at.tick.0);
                self.open = Some(open);
                Err(FleetError::defect(format!(
                    "round {round} of tick {tick} is not over: advance it again first"
                )))
            }
        }
    }

    async fn advance_lane(
        &self,
        lane: &Lane,
        round: &Round<'_>,
    ) -> Result<pb::AdvanceResponse, FleetError> {
        let request = pb::AdvanceRequest {
            sequence: self.sequence(lane.seq + 1),
            tick: round.at.tick.0,
            round: round.at.round,
            rounds: round.at.rounds,
            inboxes: lane.members.iter().map(|at| inbox_out(&round.inboxes[*at])).collect(),
            want_digest: round.want_digest,
        };
        self.client.ask(&lane.kind, lane.seq + 1, request).await
    }

    /// Asks all kinds of an open round that have not answered yet, in flight together.
    async fn fill(&mut self, open: &mut Open, round: &Round<'_>) -> Result<(), FleetError> {
        let lanes = self.lanes.lanes.iter().zip(&open.held).enumerate();
        let missing: Vec<_> = lanes
            .filter(|(_, (_, held))| held.is_none())
            .map(|(at, (lane, _))| (at, lane))
            .collect();
        let asked = missing.iter().map(|(_, lane)| self.advance_lane(lane, round));
        let answers = join_all(asked).await;
        let places: Vec<_> = missing.iter().map(|(at, _)| *at).collect();
        let mut first_error = None;
        for (at, answer) in places.into_iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    self.lanes.lanes[at].seq += 1;
                    open.held[at] = Some(answer);
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// The answer of `kind` to a request; silence anywhere below is a reason to ask again.
    async fn request_once(&self, kind: &str, hop: &Hop) -> Result<HopReply, Failed> {
        let link = self.client.links.to(kind).map_err(Failed::Final)?;
        let asked = mesh::ask(link.channel.clone(), kind, self.roster.episode, hop).await;
        asked.map_err(|error| match error {
            MeshError::Unreachable { kind, reason } => Failed::Silent { kind, reason },
            MeshError::Lost { kind } => {
                let seq = self.lanes.named(&kind).map_or(0, |lane| lane.seq) + 1;
                Failed::Final(FleetError::Lost { kind, seq })
            }
            MeshError::Defect(sentence) => Failed::Final(FleetError::Defect(sentence)),
        })
    }
}

/// Writes the answer of a lane into the replies of its members.
fn unpack(
    lane: &Lane,
    answer: &pb::AdvanceResponse,
    want_digest: bool,
    into: &mut [Reply],
) -> Result<(), WireError> {
    if answer.moved.len() != lane.members.len() {
        let (have, want) = (answer.moved.len(), lane.members.len());
        return Err(WireError::new("moved", format!("{have} answers of {want} instances")));
    }
    for (at, moved) in lane.members.iter().zip(&answer.moved) {
        let reply = &mut into[*at];
        outbox_in(present("outbox", moved.outbox.as_ref())?, &mut reply.outbox)?;
        reply.advanced = moved.history.as_ref().map(history_in).transpose()?;
        reply.digest = moved.digest.as_ref().map(digest_in);
        if want_digest && reply.digest.is_none() {
            return Err(WireError::new("digest", "is missing"));
        }
    }
    Ok(())
}

fn told(refusal: Option<pb::Refusal>) -> Told<()> {
    refusal.map_or(Ok(()), |refusal| Err(Refusal::because(refusal.reason)))
}

fn json<T: serde::de::DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<T, FleetError> {
    serde_json::from_slice(bytes)
        .map_err(|error| FleetError::defect(format!("answer of {kind}: {error}")))
}

impl Fleet for RemoteFleet {
    async fn create(&mut self, roster: &Roster) -> Result<(), FleetError> {
        self.adopt(roster)?;
        let created = join_all(self.lanes.lanes.iter().map(|lane| self.create_lane(lane))).await;
        created.into_iter().collect::<Result<(), _>>()?;
        self.lanes.count(None)
    }

    async fn advance(
        &mut self,
        round: &Round<'_>,
        into: &mut Vec<Reply>,
    ) -> Result<(), FleetError> {
        let mut open = self.open(round)?;
        if let Err(error) = self.fill(&mut open, round).await {
            self.open = Some(open);
            return Err(error);
        }
        into.resize_with(round.inboxes.len(), Reply::default);
        for (lane, held) in self.lanes.lanes.iter().zip(&open.held) {
            let answer = held.as_ref().ok_or_else(|| FleetError::defect("an answer is missing"))?;
            unpack(lane, answer, round.want_digest, into)
                .map_err(|error| FleetError::defect(format!("answer of {}: {error}", lane.kind)))?;
        }
        Ok(())
    }

    async fn operate(&mut self, tick: Tick, order: &Order) -> Result<Told<String>, FleetError> {
        let (at, seq) = self.next(order.target)?;
        let kind = &self.lanes.lanes[at].kind;
        let sequence = self.sequence(seq);
        let request = pb::OperateRequest { sequence, tick: tick.0, order: Some(order_out(order)) };
        let answer = self.client.ask(kind, seq, request).await?;
        let missing = || FleetError::defect(format!("answer of {kind}: outcome is missing"));
        let told = match answer.outcome.ok_or_else(missing)? {
            Outcome::Accepted(sentence) => Ok(sentence),
            Outcome::Refusal(refusal) => Err(Refusal::because(refusal.reason)),
        };
        self.lanes.lanes[at].seq = seq;
        Ok(told)
    }

    async fn inject(&mut self, tick: Tick, pull: &LeverPull) -> Result<Told<()>, FleetError> {
        let (at, seq) = self.next(pull.target)?;
        let sequence = self.sequence(seq);
        let request = pb::InjectRequest { sequence, tick: tick.0, pull: Some(pull_out(pull)) };
        let answer = self.client.ask(&self.lanes.lanes[at].kind, seq, request).await?;
        self.lanes.lanes[at].seq = seq;
        Ok(told(answer.refusal))
    }

    async fn clear(
        &mut self,
        tick: Tick,
        target: InstanceId,
        id: u64,
    ) -> Result<Told<()>, FleetError> {
        let (at, seq) = self.next(target)?;
        let (sequence, target) = (self.sequence(seq), u32::from(target.0));
        let request = pb::ClearRequest { sequence, tick: tick.0, target, id };
        let answer = self.client.ask(&self.lanes.lanes[at].kind, seq, request).await?;
        self.lanes.lanes[at].seq = seq;
        Ok(told(answer.refusal))
    }

    async fn read(&self, of: InstanceId, query: &Query) -> Result<Answer, FleetError> {
        let lane = self.lane(of)?;
        let query_json = serde_json::to_vec(query)
            .map_err(|error| FleetError::defect(format!("query: {error}")))?;
        let (episode, instance) = (self.roster.episode.0, u32::from(of.0));
        let request = pb::ReadRequest { episode, instance, query_json };
        let answer = self.client.ask(&lane.kind, lane.seq + 1, request).await?;
        json(&lane.kind, &answer.answer_json)
    }

    async fn inspect(&self, of: InstanceId) -> Result<Inspection, FleetError> {
        let lane = self.lane(of)?;
        let (episode, instance) = (self.roster.episode.0, u32::from(of.0));
        let request = pb::InspectRequest { episode, instance };
        let answer = self.client.ask(&lane.kind, lane.seq + 1, request).await?;
        json(&lane.kind, &answer.inspection_json)
    }

    async fn request(&self, hop: &Hop) -> Result<HopReply, FleetError> {
        let kind = &self.lane(hop.instance)?.kind;
        let link = self.client.links.to(kind)?;
        let mut asked_before = false;
        let attempt = || {
            let again = std::mem::replace(&mut asked_before, true);
            async move {
                if again {
                    // A process that came back does not know its peers.
                    let all = self.lanes.lanes.iter();
                    let told = all.map(|lane| self.client.introduce(&lane.kind, lane.seq + 1));
                    join_all(told).await;
                }
                self.request_once(kind, hop).await
            }
        };
        self.client.config.persist(kind, link, attempt).await
    }

    async fn snapshot(&self, of: InstanceId) -> Result<Vec<u8>, FleetError> {
        let lane = self.lane(of)?;
        let (episode, instances) = (self.roster.episode.0, vec![u32::from(of.0)]);
        let request = pb::SnapshotRequest { episode, instances };
        let mut answer = self.client.ask(&lane.kind, lane.seq + 1, request).await?;
        answer
            .snapshots
            .pop()
            .ok_or_else(|| FleetError::defect(format!("answer of {}: no snapshot", lane.kind)))
    }

    async fn save(&self) -> Result<Savepoint, FleetError> {
        let episode = self.roster.episode.0;
        let taken = join_all(self.lanes.lanes.iter().map(|lane| {
            let request = pb::SnapshotRequest { episode, instances: Vec::new() };
            self.client.ask(&lane.kind, lane.seq + 1, request)
        }))
        .await;
        let mut snapshots = vec![Vec::new(); self.roster.setups.len()];
        for (lane, taken) in self.lanes.lanes.iter().zip(taken) {
            let taken = taken?;
            if taken.seq != lane.seq || taken.snapshots.len() != lane.members.len() {
                let (kind, seq) = (lane.kind.clone(), lane.seq + 1);
                return Err(FleetError::Lost { kind, seq });
            }
            for (at, snapshot) in lane.members.iter().zip(taken.snapshots) {
                snapshots[*at] = snapshot;
            }
        }
        Ok(Savepoint { seqs: self.lanes.seqs(), snapshots })
    }

    async fn restore(&mut self, roster: &Roster, savepoint: &Savepoint) -> Result<(), FleetError> {
        savepoint.check(roster)?;
        self.adopt(roster)?;
        self.lanes.set_seqs(&savepoint.seqs)?;
        let restored = join_all(self.lanes.lanes.iter().map(|lane| {
            let snapshots = lane.members.iter().map(|at| savepoint.snapshots[*at].clone());
            self.restore_lane(lane, lane.seq, snapshots.collect())
        }))
        .await;
        restored.into_iter().collect()
    }

    async fn heal(&mut self, kind: &str, replay: &EmbeddedFleet) -> Result<(), FleetError> {
        let lane = self
            .lanes
            .named(kind)
            .ok_or_else(|| FleetError::defect(format!("the episode has no {kind}")))?;
        if replay.seq(kind) != lane.seq {
            return Err(FleetError::defect(format!(
                "the replay stands after call {} of {kind}, and it has to stand after call {}",
                replay.seq(kind),
                lane.seq
            )));
        }
        let states = lane.members.iter().map(|at| match replay.instances().get(*at) {
            Some(instance) => instance.snapshot().map_err(FleetError::from),
            None => Err(FleetError::defect("the replay is of another roster")),
        });
        let snapshots = states.collect::<Result<_, _>>()?;
        tracing::info!(kind, seq = lane.seq, episode = %self.roster.episode, "healing");
        self.restore_lane(lane, lane.seq, snapshots).await?;
        self.client.links.count_heal();
        Ok(())
    }

    async fn drop_episode(&mut self) -> Result<(), FleetError> {
        let Roster { episode, epoch, .. } = self.roster;
        let dropped = self.lanes.lanes.iter().map(|lane| {
            let request = pb::DropRequest { episode: episode.0, epoch };
            self.client.ask(&lane.kind, lane.seq + 1, request)
        });
        let dropped = join_all(dropped).await;
        self.adopt(&Roster::empty())?;
        dropped.into_iter().try_for_each(|outcome| outcome.map(drop))
    }
}
