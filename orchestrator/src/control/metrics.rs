//! The page of metrics: counts of sessions, steps, errors, heals, records and exports. Served as
//! OpenMetrics to whom that is known, else in Prometheus' older text form.

use crate::export::Hub;
use crate::sessions::Sessions;
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use otlp::Signal;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use std::fmt::{Debug, Error, Formatter, Write as _};
use std::sync::Arc;

const OPEN: &str = "application/openmetrics-text";
const OPEN_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Every name begins so.
const PREFIX: &str = "mayday";

/// Sessions of agents that are held, and the most there may be.
pub type Held = Box<dyn Fn() -> (usize, usize) + Send + Sync>;

/// The page of a process that holds episodes.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Registry>);

impl Metrics {
    /// Over these sessions. `held`: where agents have a port.
    pub fn new(sessions: Arc<Sessions>, export: Option<Arc<Hub>>, held: Option<Held>) -> Metrics {
        let mut registry = Registry::with_prefix(PREFIX);
        sessions.tally().register(&mut registry);
        let writes = sessions.house().store.writes();
        registry.register("record_writes", "Writes of records that were kept", writes.kept.clone());
        registry.register(
            "record_write_failures",
            "Writes of records that were refused, or not known to be kept",
            writes.refused.clone(),
        );
        registry.register_collector(Box::new(Pulse { sessions, export, held }));
        Metrics(Arc::new(registry))
    }

    /// Its route.
    pub fn router(self) -> Router {
        let page = move |headers: HeaderMap| {
            let metrics = self.clone();
            async move { metrics.page(&headers) }
        };
        Router::new().route("/metrics", get(page))
    }

    fn page(&self, headers: &HeaderMap) -> impl IntoResponse + use<> {
        let mut page = String::new();
        // Writing to a text does not fail.
        let _ = text::encode(&mut page, &self.0);
        let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        match accepted.is_some_and(|accepted| accepted.contains(OPEN)) {
            true => ([(CONTENT_TYPE, OPEN_TYPE)], page),
            false => ([(CONTENT_TYPE, TEXT_TYPE)], classic(&page)),
        }
    }
}

/// The older form calls a counter as its samples are called, and has no end.
fn classic(open: &str) -> String {
    let lines: Vec<_> = open.lines().filter(|line| *line != "# EOF").collect();
    let counter = |name: &str| lines.contains(&format!("# TYPE {name} counter").as_str());
    let mut page = String::with_capacity(open.len() + 256);
    for line in &lines {
        let mut words = line.splitn(4, ' ');
        let head = (words.next(), words.next(), words.next(), words.next());
        match head {
            (Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name), rest) if counter(name) => {
                let _ = writeln!(page, "# {word} {name}_total {}", rest.unwrap_or_default());
            }
            _ => {
                page.push_str(line);
                page.push('\n');
            }
        }
    }
    page
}

/// What is looked up when somebody asks.
struct Pulse {
    sessions: Arc<Sessions>,
    export: Option<Arc<Hub>>,
    held: Option<Held>,
}

impl Debug for Pulse {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result<(), Error> {
        f.write_str("Pulse")
    }
}

impl Collector for Pulse {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> Result<(), Error> {
        let gauge = |number: usize| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
        let live = gauge(self.sessions.live());
        one(&mut to, "episodes_live", "Episodes in memory", &live)?;
        let draining = gauge(usize::from(self.sessions.draining()));
        one(&mut to, "draining", "No new episodes begin", &draining)?;
        if let Some(held) = &self.held {
            let (active, most) = held();
            one(&mut to, "sessions", "Sessions of agents that are held", &gauge(active))?;
            one(&mut to, "sessions_max", "Most sessions at once", &gauge(most))?;
        }
        let heals = ConstCounter::new(self.sessions.house().source.heals());
        let help = "Components that had lost an episode and were healed";
        one(&mut to, "heals", help, &heals)?;
        self.exports(&mut to)
    }
}

impl Pulse {
    /// All of them are there without an export too, so that an alert can be written beforehand.
    fn exports(&self, to: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let signals = Signal::ALL.iter().map(|signal| {
            let counts = self.export.as_ref().map(|hub| hub.stats().counts(*signal));
            (signal.name(), counts.unwrap_or_default())
        });
        let signals: Vec<_> = signals.collect();
        for (name, help, of) in [
            (
                "export_requests",
                "Requests with simulated telemetry that the collector took",
                (|c| c.sent) as fn(&otlp::Counts) -> u64,
            ),
            ("export_errors", "Requests with simulated telemetry that were lost", |c| c.errors()),
            ("export_rejected", "Items that the collector refused", |c| c.rejected),
        ] {
            let mut family = to.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (signal, counts) in &signals {
                let counter = ConstCounter::new(of(counts));
                let labels = [("signal", *signal)];
                counter.encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

fn one<M: EncodeMetric + TypedMetric>(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &M,
) -> Result<(), Error> {
    metric.encode(to.encode_descriptor(name, help, None, M::TYPE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_form_names_counters_as_their_samples() {
        let open = "# HELP a_b Things.\n# TYPE a_b counter\na_b_total 1\n# HELP g Now.\n\
                    # TYPE g gauge\ng 2\n# EOF\n";
        let old = "# HELP a_b_total Things.\n# TYPE a_b_total counter\na_b_total 1\n\
                   # HELP g Now.\n# TYPE g gauge\ng 2\n";
        assert_eq!(classic(open), old);
    }
}
