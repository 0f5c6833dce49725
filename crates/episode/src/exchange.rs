//! The exchange: last round's outboxes become this round's inboxes. A stateless permutation.

use fleet::Reply;
use model::{Calls, EdgeId, Grant, Inbox, InstanceId, Report, Resolution, Topology};

/// Where each part of each inbox comes from.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    wires: Vec<Wires>,
    /// Entry edges: their callee, and the position among its incoming edges.
    entries: Vec<(EdgeId, usize, usize)>,
}

#[derive(Clone, Debug, Default)]
struct Wires {
    /// Per incoming edge: the caller and the position among its outgoing edges; `None`: users.
    calls: Vec<(EdgeId, Option<(usize, usize)>)>,
    /// Per outgoing edge: the callee.
    reports: Vec<usize>,
    /// Per group: its host, and the position among the host's grants.
    grants: Vec<(usize, usize, Grant)>,
    /// Hosts only: per tenant the instance and the group.
    needs: Vec<(usize, usize)>,
    /// Per outgoing edge: the resolver of the callee's name and the position among its names;
    /// empty where no callee has one.
    names: Vec<Option<(usize, usize)>>,
}

impl Exchange {
    pub(crate) fn new(topology: &Topology) -> Exchange {
        let outgoing = |caller: InstanceId, edge: EdgeId| {
            let mine = topology.edges.iter().filter(|e| e.from == Some(caller));
            mine.map(|e| e.id).position(|id| id == edge).unwrap_or(0)
        };
        let mut wires = vec![Wires::default(); topology.instances.len()];
        let mut entries = Vec::new();
        for edge in &topology.edges {
            let to = edge.to.at();
            let source = edge.from.map(|from| (from.at(), outgoing(from, edge.id)));
            if source.is_none() {
                entries.push((edge.id, to, wires[to].calls.len()));
            }
            wires[to].calls.push((edge.id, source));
            if let Some(from) = edge.from {
                wires[from.at()].reports.push(to);
            }
        }
        for id in topology.ids() {
            for (at, tenant) in topology.tenants(id).iter().enumerate() {
                let grant = Grant::ample(tenant.instance, tenant.group, tenant.replicas);
                wires[id.at()].needs.push((tenant.instance.at(), usize::from(tenant.group)));
                wires[tenant.instance.at()].grants.push((id.at(), at, grant));
            }
        }
        for id in topology.ids() {
            let name = |edge: &model::EdgeSpec| {
                let name = topology.name_of_callee(edge)?;
                let at = topology.names_of(name.resolver).position(|n| n == name)?;
                Some((name.resolver.at(), at))
            };
            let mine = topology.edges.iter().filter(|e| e.from == Some(id));
            let names: Vec<_> = mine.map(name).collect();
            if names.iter().any(Option::is_some) {
                wires[id.at()].names = names;
            }
        }
        // Groups of one instance may be spread over hosts: bring them into group order.
        for w in &mut wires {
            w.grants.sort_by_key(|(_, _, grant)| grant.group);
        }
        Exchange { wires, entries }
    }

    /// Fills the inboxes from the replies of the last round (all empty before the first one).
    pub(crate) fn fill(&self, replies: &[Reply], inboxes: &mut Vec<Inbox>) {
        inboxes.resize_with(self.wires.len(), Inbox::default);
        let reply = |at: usize| replies.get(at).map(|r| &r.outbox);
        for (wires, inbox) in self.wires.iter().zip(inboxes) {
            inbox.calls.clear();
            inbox.calls.extend(wires.calls.iter().map(|(edge, source)| {
                let sent = source.and_then(|(from, k)| reply(from)?.calls.get(k).copied());
                sent.unwrap_or(Calls::none(*edge))
            }));
            inbox.reports.clear();
            inbox.reports.extend(
                wires.reports.iter().map(|to| reply(*to).map_or(Report::IDEAL, |o| o.report)),
            );
            inbox.grants.clear();
            inbox.grants.extend(wires.grants.iter().map(|(host, at, ample)| {
                reply(*host).and_then(|o| o.grants.get(*at).copied()).unwrap_or(*ample)
            }));
            inbox.needs.clear();
            inbox.needs.extend(
                wires.needs.iter().filter_map(|(of, group)| reply(*of)?.needs.get(*group).copied()),
            );
            inbox.names.clear();
            inbox.names.extend(wires.names.iter().map(|name| {
                let answer = name.and_then(|(of, at)| reply(of)?.answers.get(at).copied());
                answer.unwrap_or(Resolution::RIGHT)
            }));
        }
    }

    /// Adds users' attempts to an entry's inbox.
    pub(crate) fn enter(&self, edge: EdgeId, calls: Calls, inboxes: &mut [Inbox]) {
        let Some((_, to, at)) = self.entries.iter().find(|(id, _, _)| *id == edge) else {
            return;
        };
        let there = &mut inboxes[*to].calls[*at];
        let (mut most, mut sum) = (calls.timeout_s, 0.0);
        for (rate, more) in there.rate.iter_mut().zip(&calls.rate) {
            sum += *rate;
            *rate += more;
        }
        if sum > 0.0 {
            most = most.max(there.timeout_s);
        }
        there.timeout_s = most;
    }
}
