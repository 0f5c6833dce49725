//! The terminal's rig: its looks become reads of the fleet, its orders are given in sequence, and a
//! tick passes with each, so that the next look sees what came of it. A line takes as long as the
//! typed actions that its commands stand for.

use crate::episode::Episode;
use crate::error::EpisodeError;
use action::spec::{MUTATE_S, READ_S};
use fleet::Fleet;
use model::naming::{addressee, record_address, record_ttl_s};
use model::{
    Answer, Code, Hop, InstanceId, Located, Look, Member, MemberGroup, Order, Query, Refusal,
    Sight, Site, WebReply,
};
use serde_json::json;
use shell::{Limits, Pending, Rig, RigError, Session, Spell};

/// The user that a terminal is logged in as.
const USER: &str = "root";
/// Users wait this long for a request of a terminal, seconds.
const PATIENCE_S: f64 = 30.0;

/// An episode as a terminal reaches it.
struct Desk<'e, F> {
    episode: &'e mut Episode<F>,
    /// Ticks that orders of the present command took.
    taken: u32,
}

impl<F: Fleet> Episode<F> {
    /// Runs a line in the terminal of a host, and lets the time of its commands pass. Says what was
    /// printed, and whether it ended well.
    pub(crate) async fn type_line(
        &mut self,
        host: InstanceId,
        line: &str,
    ) -> Result<(serde_json::Value, bool), EpisodeError> {
        let known = self.engine.sessions.get(&host).cloned();
        let mut session = known.unwrap_or_else(|| Session::new(host, USER));
        let mut desk = Desk { episode: self, taken: 0 };
        let reply = shell::run(&mut session, &mut desk, line, Limits::default()).await;
        let reply = reply.map_err(|RigError(error)| match error.downcast::<EpisodeError>() {
            Ok(own) => *own,
            Err(other) => EpisodeError::Unfit(other.to_string()),
        })?;
        self.engine.sessions.insert(host, session);
        let (code, showed) = (reply.code, reply.showed);
        let (stdout, stderr) = (reply.stdout, reply.stderr);
        let data = json!({"stdout": stdout, "stderr": stderr, "exit_code": code, "showed": showed});
        Ok((data, code == 0))
    }

    /// What a terminal may know of the system.
    fn site_map(&self) -> Site {
        let topology = &self.scenario.topology;
        let member = |id: InstanceId| {
            let spec = &topology.instances[id.at()];
            let group = |g: &model::GroupSpec| MemberGroup { name: g.name.clone(), host: g.host };
            Member {
                id,
                name: spec.name.clone(),
                kind: spec.kind.clone(),
                groups: spec.groups.iter().map(group).collect(),
            }
        };
        Site { members: topology.ids().map(member).collect() }
    }

    /// What monitoring may show of a component, or what is seen on a host; it takes no time.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub async fn ask(&mut self, of: InstanceId, query: &Query) -> Result<Answer, EpisodeError> {
        loop {
            match self.fleet.read(of, query).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.heal_or(error).await?,
            }
        }
    }

    /// A request to a component over the first edge that leads to it, the users' if it has one.
    async fn web(&mut self, to: InstanceId, path: &str) -> Result<WebReply, EpisodeError> {
        let topology = &self.scenario.topology;
        let plain = path.split('?').next().unwrap_or(path).trim_matches('/');
        let enters = |c: &model::ClassSpec| topology.edges[c.entry.at()].to == to;
        let class = topology
            .classes
            .iter()
            .position(|c| enters(c) && c.route.trim_matches('/') == plain)
            .or_else(|| topology.classes.iter().position(enters));
        let hop = match class {
            Some(class) => Hop { tick: self.engine.tick, ..self.hop(class, self.engine.tick, 0) },
            None => {
                let Some(edge) = topology.edges.iter().find(|e| e.to == to) else {
                    return Ok(WebReply { status: 404, latency_s: 0.001, body: String::new() });
                };
                let (id, operation) = (edge.id, edge.operation.clone());
                let hop = self.hop(0, self.engine.tick, 0);
                Hop { instance: to, edge: id, operation, deadline_s: PATIENCE_S, ..hop }
            }
        };
        let reply = loop {
            match self.fleet.request(&hop).await {
                Ok(reply) => break reply,
                Err(error) => self.heal_or(error).await?,
            }
        };
        let status = match reply.code {
            Code::Ok => 200,
            Code::DeadlineExceeded => 0,
            Code::NotFound => 404,
            Code::PermissionDenied => 403,
            Code::ResourceExhausted => 429,
            Code::Internal => 500,
            Code::Unavailable => 503,
            Code::Unauthenticated => 401,
        };
        let said = if reply.message.is_empty() { reply.code.name() } else { &reply.message };
        Ok(WebReply { status, latency_s: reply.latency_s, body: format!("{said}\n") })
    }

    async fn sight(&mut self, look: &Look) -> Result<Sight, EpisodeError> {
        Ok(match look {
            Look::Site => Sight::Site(self.site_map()),
            Look::Component { of, query } => Sight::Answer(self.ask(*of, query).await?),
            Look::Resolve { name, .. } => Sight::Addresses(self.resolve(name).await?),
            Look::Request { to, .. } if to.at() >= self.scenario.topology.instances.len() => {
                // Nobody has this address.
                Sight::Reply(WebReply { latency_s: PATIENCE_S, ..WebReply::default() })
            }
            Look::Request { to, path, .. } => Sight::Reply(self.web(*to, path).await?),
        })
    }
}

impl<F: Fleet> Episode<F> {
    /// Whose address a name stands for now: what its resolver says, where it has one; others are in
    /// the files of every host.
    async fn resolve(&mut self, name: &str) -> Result<Vec<Located>, EpisodeError> {
        let topology = &self.scenario.topology;
        let Some(resolver) = topology.names.iter().find(|n| n.name == name).map(|n| n.resolver)
        else {
            let name = name.trim_end_matches(".internal");
            let found = topology.instance(name).map(|owner| Located { owner, ttl_s: 0.0 });
            return Ok(found.into_iter().collect());
        };
        let Answer::Facts(zone) = self.ask(resolver, &Query::Config).await? else {
            return Ok(Vec::new());
        };
        let Some(entry) = zone.get(&format!("record {name}")) else { return Ok(Vec::new()) };
        let owner = record_address(entry).and_then(addressee);
        let ttl_s = record_ttl_s(entry).unwrap_or_default();
        Ok(owner.map(|owner| Located { owner, ttl_s }).into_iter().collect())
    }
}

impl<F: Fleet> Rig for Desk<'_, F> {
    fn read<'a>(&'a mut self, look: &'a Look) -> Pending<'a, Sight> {
        Box::pin(async move { self.episode.sight(look).await.map_err(broken) })
    }

    fn order<'a>(&'a mut self, order: &'a Order) -> Pending<'a, Result<String, Refusal>> {
        Box::pin(async move {
            if self.episode.engine.tick >= self.episode.scenario.timing.horizon {
                return Ok(Err(Refusal::because("the time of this terminal is over")));
            }
            let told = self.episode.order(order).await.map_err(broken)?;
            if told.is_ok() {
                self.taken += 1;
                self.episode.pass(1).await.map_err(broken)?;
            }
            Ok(told)
        })
    }

    fn spend(&mut self, spell: Spell) -> Pending<'_, ()> {
        let seconds = match spell {
            Spell::Look => READ_S,
            Spell::Change => MUTATE_S.saturating_sub(std::mem::take(&mut self.taken)),
            Spell::Seconds(seconds) => seconds,
        };
        Box::pin(async move { self.episode.pass(seconds).await.map_err(broken) })
    }
}

fn broken(error: EpisodeError) -> RigError {
    RigError(Box::new(error))
}
