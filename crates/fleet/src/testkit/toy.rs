//! Toy kinds under the names of three real ones, so that their generated services can be used. A
//! toy's load follows its inbox with noise; its requests call all its edges, and failed ones again.

use std::collections::BTreeMap;

use chassis::{Desk, RequestRoutes, answer};
use machine::{Cx, Kind, LeverSpec, Machine, OperationSpec, Past, SnapshotError, decode, encode};
use model::{
    Answer, Call, Calls, Code, EdgeFault, Hop, HopReply, Inbox, LeverPull, Next, Noise, Order,
    Outbox, ParamError, ParamKind, ParamSpec, Query, Refusal, Setup, Tick,
};
use proto::request::v1::{Hop as WireHop, HopReply as WireReply};
use serde::{Deserialize, Serialize};
use telemetry::{ColumnSpec, Moment, Pooling, SignalSpec};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use crate::kinds::Part;

#[derive(Debug)]
pub(crate) struct Toy {
    name: &'static str,
    rpcs: &'static [&'static str],
}

pub(crate) static KINDS: &[&dyn Kind] = &[
    &Toy { name: "app", rpcs: &["Handle"] },
    &Toy { name: "db", rpcs: &["Query", "Write"] },
    &Toy { name: "gateway", rpcs: &["Route"] },
];

pub(crate) static PARTS: &[Part] = &[
    Part { kind: KINDS[0], requests: app as RequestRoutes },
    Part { kind: KINDS[1], requests: db as RequestRoutes },
    Part { kind: KINDS[2], requests: gateway as RequestRoutes },
];

const BY: &[ParamSpec] =
    &[ParamSpec::required("by", ParamKind::Number { min: 0.0, max: 100.0 }, "How much.")];

impl Kind for Toy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        "A toy."
    }

    fn params(&self) -> &'static [ParamSpec] {
        &[]
    }

    fn levers(&self) -> &'static [LeverSpec] {
        &[LeverSpec { name: "toy.slow", doc: "Slower.", args: BY }]
    }

    fn operations(&self) -> &'static [OperationSpec] {
        &[OperationSpec { verb: "boost", doc: "More load.", args: BY, delay: 3 }]
    }

    fn rpcs(&self) -> &'static [&'static str] {
        self.rpcs
    }

    fn columns(&self, _: &Setup) -> Vec<ColumnSpec> {
        let column = |name, pooling| ColumnSpec { name, pooling };
        vec![column("load", Pooling::Mean), column("slow", Pooling::Last)]
    }

    fn signals(&self) -> &'static [SignalSpec] {
        const LOAD: SignalSpec = SignalSpec {
            name: "load",
            unit: "1",
            doc: "Load.",
            noise: 0.01,
            value: |moment: &Moment<'_>| moment.row[0],
        };
        &[LOAD]
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        let state = State { load: 0.0, boost: 0.0, slow: 0.0, rounds: 0 };
        Ok(Box::new(ToyMachine { setup: setup.clone(), state }))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    load: f64,
    boost: f64,
    slow: f64,
    rounds: u64,
}

#[derive(Clone, Debug)]
struct ToyMachine {
    setup: Setup,
    state: State,
}

impl Machine for ToyMachine {
    fn round(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox) {
        let state = &mut self.state;
        let arriving: f64 = inbox.calls.iter().flat_map(|calls| calls.rate).sum();
        let below: f64 = inbox.reports.iter().map(|report| report.ok_mean_s).sum();
        assert!(arriving < 1e6, "panics on purpose where a test floods it");
        state.rounds += 1;
        let target = (arriving + state.boost) * (1.0 + 0.1 * self.setup.noise.unit(cx.tick().0));
        state.load += (target - state.load) * 0.25 * cx.delta_s();
        out.report.ok_mean_s = 0.01 + 1e-4 * state.load + state.slow + below;
        // A zero with a sign has to survive every body.
        out.report.path_s = -0.0;
        out.row = [0.0; model::COLUMNS_MAX];
        (out.row[0], out.row[1]) = (state.load, state.slow);
        out.motion.load = state.load / 100.0;
        out.calls.clear();
        for edge in &self.setup.outgoing {
            let mut calls = Calls::none(edge.id);
            calls.rate[0] = state.load;
            calls.rate[2] = 0.5 * state.load;
            out.calls.push(calls);
        }
        if cx.tick().0 % 10 == 0 && cx.delta_s() == 1.0 {
            cx.emit(1, state.load, "reported");
        }
    }

    fn accepts(&self, order: &Order) -> Result<(), Refusal> {
        match order.args.number("by") {
            by if by > 50.0 => Err(Refusal::because("that is too much")),
            _ => Ok(()),
        }
    }

    fn operate(&mut self, cx: &mut Cx<'_>, order: &Order) {
        self.state.boost += order.args.number("by");
        cx.emit(2, self.state.boost, "boosted");
    }

    fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        self.state.slow += pull.args.number("by");
        cx.emit(3, self.state.slow, "");
    }

    fn clear(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        self.state.slow -= pull.args.number("by");
        cx.emit(3, self.state.slow, "");
    }

    fn read(&self, past: &Past<'_>, _: &Query) -> Answer {
        let row = past.history.row(past.now.plus(-1));
        Answer::Facts(BTreeMap::from([("load".to_string(), row[0].to_string())]))
    }

    fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        facts.insert("rounds".into(), self.state.rounds as f64);
        facts.insert("boost".into(), self.state.boost);
    }

    fn plan(&self, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
        let draws = past.noise.branch("hop").index(hop.request).index(hop.path);
        let row = past.history.row(hop.tick.plus(-1));
        let width = self.setup.outgoing.len();
        // Every edge once, then every failed one once more.
        let (first, second) = replies.split_at(replies.len().min(width));
        let failed: Vec<_> = (0..first.len()).filter(|at| first[*at].code != Code::Ok).collect();
        if width > 0 && replies.is_empty() {
            return Next::Call((0..width).map(|at| self.attempt(draws, at, 0, 0.0)).collect());
        }
        if !failed.is_empty() && second.is_empty() {
            let start_s = first.iter().map(|reply| reply.latency_s).fold(0.0, f64::max);
            let again = failed.iter().map(|at| self.attempt(draws, *at, 1, start_s));
            return Next::Call(again.collect());
        }
        let own_s = 0.01 * (1.0 + draws.unit(0)) + row[1];
        let waited_s: f64 = replies.iter().map(|reply| reply.latency_s).sum();
        let lost = second.iter().any(|reply| reply.code != Code::Ok);
        let code = if lost { Code::Internal } else { Code::Ok };
        let message = if lost { "a callee failed twice".into() } else { String::new() };
        Next::Settle(HopReply { code, latency_s: own_s + waited_s, message, spans: Vec::new() })
    }

    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        encode("toy", &self.state)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.state = decode("toy", bytes)?;
        Ok(())
    }

    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}

impl ToyMachine {
    fn attempt(&self, draws: Noise, at: usize, attempt: u32, start_s: f64) -> Call {
        let edge = &self.setup.outgoing[at];
        let fault = EdgeFault { delay_s: 0.004, request_loss: 0.1, reply_loss: 0.1, abort: 0.1 };
        let draws = draws.branch("edge").index(u64::from(edge.id.0)).index(u64::from(attempt));
        Call {
            edge: edge.id,
            to: edge.to,
            operation: edge.operation.clone(),
            attempt,
            deadline_s: edge.policy.timeout_s,
            verdict: fault.verdict(draws.unit(0), draws.unit(1)),
            start_s,
        }
    }
}

/// The shell of a kind, as the service crates have it.
macro_rules! shell {
    (
        $routes:ident, $server:path, $service:path, $shell:ident,
        $($method:ident $name:literal),*
    ) => {
        fn $routes(desk: Desk) -> Routes {
            type Server<T> = $server;
            #[derive(Debug)]
            struct $shell(Desk);
            #[tonic::async_trait]
            impl $service for $shell {
                $(async fn $method(
                    &self,
                    hop: Request<WireHop>,
                ) -> Result<Response<WireReply>, Status> {
                    answer(&self.0, $name, hop).await
                })*
            }
            Routes::new(Server::new($shell(desk)))
        }
    };
}

shell!(app, proto::app::v1::app_server::AppServer<T>, proto::app::v1::app_server::App, A,
    handle "Handle");
shell!(db, proto::db::v1::db_server::DbServer<T>, proto::db::v1::db_server::Db, D,
    query "Query", write "Write");
shell!(gateway, proto::gateway::v1::gateway_server::GatewayServer<T>,
    proto::gateway::v1::gateway_server::Gateway, G, route "Route");

/// Its load at the end of a tick is what `read` shows.
pub(crate) fn metrics(from: i64, to: i64) -> Query {
    Query::Metrics { signals: Vec::new(), from: Tick(from), to: Tick(to), every: 1 }
}
