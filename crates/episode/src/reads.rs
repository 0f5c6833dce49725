//! Answers to the agent's reads, as JSON. Everything in them is public vocabulary: components,
//! edges, signals.

use crate::episode::Episode;
use crate::error::EpisodeError;
use crate::observe::rounded;
use action::Reading;
use fleet::Fleet;
use model::{Answer, Code, Hop, HopReply, InstanceId, Query, Span, Tick};
use serde_json::{Map, Value, json};

/// Requests sampled at most while looking for those that are wanted.
const SAMPLES_MAX: u64 = 400;

impl<F: Fleet> Episode<F> {
    /// The answer to a read, as of now.
    pub(crate) async fn answer(&self, reading: &Reading) -> Result<Value, EpisodeError> {
        let now = self.engine.tick;
        match reading {
            Reading::Topology => Ok(self.topology()),
            Reading::Traces { route, minutes, limit, only_failed } => {
                let from = now.plus(-60 * i64::from(*minutes)).max(self.scenario.timing.start);
                self.traces(route, from, *limit, *only_failed).await
            }
            Reading::Changes { minutes } => self.changes(reading, *minutes).await,
            _ => {
                let mut parts = Vec::new();
                for (of, query) in reading.queries(&self.scenario.topology, now) {
                    let answer = self.fleet.read(of, &query).await?;
                    parts.push((self.name(of), render(&query, answer)));
                }
                match <[_; 1]>::try_from(parts) {
                    Ok([(_, one)]) => Ok(one),
                    Err(parts) => Ok(Value::Object(parts.into_iter().collect())),
                }
            }
        }
    }

    fn name(&self, of: InstanceId) -> String {
        self.scenario.topology.instances[of.at()].name.clone()
    }

    fn topology(&self) -> Value {
        let topology = &self.scenario.topology;
        let components: Vec<_> = topology
            .instances
            .iter()
            .zip(&self.cast)
            .map(|(i, kind)| {
                let groups: Vec<_> = i
                    .groups
                    .iter()
                    .map(|g| json!({"group": g.name, "host": self.name(g.host)}))
                    .collect();
                let signals: Vec<_> = kind.signals().iter().map(|s| s.name).collect();
                let calls = topology.edges.iter().filter(|e| e.from == topology.instance(&i.name));
                // In the order in which the signals `dependency.N.…` count them.
                let dependencies: Vec<_> = calls.map(|e| self.name(e.to)).collect();
                json!({
                    "name": i.name,
                    "kind": i.kind,
                    "groups": groups,
                    "dependencies": dependencies,
                    "signals": signals,
                })
            })
            .collect();
        let edges: Vec<_> = topology
            .edges
            .iter()
            .map(|e| {
                let from = e.from.map_or("users".into(), |id| self.name(id));
                json!({"from": from, "to": self.name(e.to), "operation": e.operation})
            })
            .collect();
        let classes: Vec<_> = topology
            .classes
            .iter()
            .map(|c| json!({"name": c.name, "route": c.route, "objective_seconds": c.objective_s}))
            .collect();
        let names: Vec<_> = topology
            .names
            .iter()
            .map(|n| {
                json!({
                    "name": n.name,
                    "component": self.name(n.component),
                    "address": model::address(n.component),
                    "resolver": self.name(n.resolver),
                })
            })
            .collect();
        json!({"components": components, "edges": edges, "classes": classes, "names": names})
    }

    async fn changes(&self, reading: &Reading, minutes: u32) -> Result<Value, EpisodeError> {
        let now = self.engine.tick;
        let since = now.plus(-60 * i64::from(minutes));
        let mut all: Vec<(Tick, String, String)> = Vec::new();
        for (of, query) in reading.queries(&self.scenario.topology, now) {
            if let Answer::Changes(changes) = self.fleet.read(of, &query).await? {
                all.extend(changes.into_iter().map(|(at, text)| (at, self.name(of), text)));
            }
        }
        let notes = self.engine.notes.iter().filter(|(at, _, _)| *at >= since);
        all.extend(notes.map(|(at, of, text)| (*at, self.name(*of), text.clone())));
        all.sort();
        let rows = all.into_iter().map(|(at, component, text)| {
            json!({"time": at.to_string(), "component": component, "change": text})
        });
        Ok(Value::Array(rows.collect()))
    }

    /// Requests of the window, sent through the request plane as it was then.
    async fn traces(
        &self,
        route: &str,
        from: Tick,
        limit: u32,
        only_failed: bool,
    ) -> Result<Value, EpisodeError> {
        let topology = &self.scenario.topology;
        let classes: Vec<_> = topology
            .classes
            .iter()
            .enumerate()
            .filter(|(_, c)| route.is_empty() || c.name == route || c.route == route)
            .collect();
        let now = self.engine.tick;
        let span = now.since(from).max(1) as u64;
        let mut traces = Vec::new();
        if classes.is_empty() {
            return Ok(Value::Array(Vec::new()));
        }
        let noise = self.noise.branch("traces").index(from.0 as u64).index(now.0 as u64);
        for n in 0..SAMPLES_MAX {
            if traces.len() >= limit as usize {
                break;
            }
            let draw = noise.index(n);
            let tick = from.plus((draw.bits(0) % span) as i64);
            let (class, spec) = classes[(draw.bits(1) % classes.len() as u64) as usize];
            let hop = self.hop(class, tick, draw.bits(2));
            let reply = self.fleet.request(&hop).await?;
            if only_failed && reply.code == Code::Ok {
                continue;
            }
            traces.push((tick, n, self.trace(&spec.name, tick, &hop, &reply)));
        }
        traces.sort_by_key(|(tick, n, _)| (*tick, *n));
        Ok(traces.into_iter().map(|(_, _, trace)| trace).collect())
    }

    /// A request of `class` in `tick`, as the users send it.
    pub fn hop(&self, class: usize, tick: Tick, request: u64) -> Hop {
        let topology = &self.scenario.topology;
        let spec = &topology.classes[class];
        let edge = &topology.edges[spec.entry.at()];
        Hop {
            request,
            class: model::ClassId(class as u8),
            instance: edge.to,
            edge: edge.id,
            operation: edge.operation.clone(),
            path: 0,
            tick,
            deadline_s: spec.patience_s,
            sampled: true,
        }
    }

    fn trace(&self, class: &str, tick: Tick, hop: &Hop, reply: &HopReply) -> Value {
        // What is to be done with a message later is in no trace until it is done.
        let passed_s = self.engine.tick.since(tick) as f64;
        let deferred = Span::deferred(&reply.spans);
        let known = |s: &&Span| !deferred.contains(&s.id) || s.start_s + s.length_s <= passed_s;
        let spans: Vec<_> = reply.spans.iter().filter(known).map(|s| self.span(s)).collect();
        json!({
            "trace": format!("{:016x}", hop.request),
            "time": tick.to_string(),
            "class": class,
            "status": reply.code.name(),
            "seconds": rounded(reply.latency_s),
            "spans": spans,
        })
    }

    fn span(&self, span: &Span) -> Value {
        let mut fields = Map::new();
        fields.insert("component".into(), self.name(span.instance).into());
        fields.insert("operation".into(), span.operation.clone().into());
        fields.insert("kind".into(), span.kind().name().into());
        fields.insert("start_seconds".into(), rounded(span.start_s).into());
        fields.insert("seconds".into(), rounded(span.length_s).into());
        fields.insert("status".into(), span.code.name().into());
        if !span.message.is_empty() {
            fields.insert("message".into(), span.message.clone().into());
        }
        Value::Object(fields)
    }
}

fn render(query: &Query, answer: Answer) -> Value {
    match answer {
        Answer::Facts(facts) => json!(facts),
        Answer::Host(view) => json!(view),
        Answer::Changes(changes) => {
            changes.into_iter().map(|(at, text)| json!([at.to_string(), text])).collect()
        }
        Answer::Logs(lines) => lines
            .into_iter()
            .map(|l| {
                json!({
                    "time": l.tick.to_string(),
                    "severity": l.severity,
                    "replica": l.replica,
                    "message": l.message,
                })
            })
            .collect(),
        Answer::Metrics { from, every, series, units } => {
            let to = match query {
                Query::Metrics { to, .. } => *to,
                _ => from,
            };
            let rows: Map<_, _> = series
                .into_iter()
                .map(|(name, points)| {
                    let unit = units.get(&name).cloned().unwrap_or_default();
                    let points: Vec<_> = points.into_iter().map(|p| p.map(significant)).collect();
                    (name, json!({"unit": unit, "points": points}))
                })
                .collect();
            json!({
                "from": from.to_string(),
                "to": to.to_string(),
                "seconds_between_points": every,
                "signals": rows,
            })
        }
    }
}

/// Six decimals below one, fewer above: what a dashboard shows.
fn significant(value: f64) -> f64 {
    let scale = if value.abs() < 1.0 { 1e6 } else { 1e3 };
    (value * scale).round() / scale
}
