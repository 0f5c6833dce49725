//! Metrics: durations of the calls that are exported as spans, and the signals of components.

use crate::call::Call;
use crate::names;
use crate::scene::{Scene, scope};
use crate::scribe::{Level, Temporality};
use crate::write::{by_instance, spans};
use model::{Code, InstanceId, SpanKind};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Exemplar, Gauge, Histogram, HistogramDataPoint, Metric,
    NumberDataPoint, ResourceMetrics, ScopeMetrics, exemplar, number_data_point,
};
use std::collections::BTreeMap;

const BUCKETS: usize = names::DURATION_BOUNDS.len() + 1;

/// What tells series apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    instance: InstanceId,
    kind: SpanKind,
    method: String,
    callee: Option<InstanceId>,
    code: Code,
}

/// Durations of one series.
#[derive(Clone, Debug)]
struct Durations {
    attributes: Vec<KeyValue>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    buckets: [u64; BUCKETS],
    /// The slowest call since the last point.
    slowest: Option<Call>,
}

impl Durations {
    fn new(attributes: Vec<KeyValue>) -> Durations {
        Durations {
            attributes,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: 0.0,
            buckets: [0; BUCKETS],
            slowest: None,
        }
    }

    fn count(&mut self, call: &Call) {
        let seconds = call.seconds();
        self.count += 1;
        self.sum += seconds;
        self.min = self.min.min(seconds);
        self.max = self.max.max(seconds);
        // A bound belongs to the bucket below it.
        self.buckets[names::DURATION_BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        if self.slowest.as_ref().is_none_or(|slowest| seconds > slowest.seconds()) {
            self.slowest = Some(call.clone());
        }
    }
}

/// Counts calls and writes points.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    /// Since when is counted.
    since: u64,
    temporality: Temporality,
    series: BTreeMap<Series, Durations>,
}

impl Meter {
    pub(crate) fn new(start: u64, temporality: Temporality) -> Meter {
        Meter { since: start, temporality, series: BTreeMap::new() }
    }

    pub(crate) fn count(&mut self, scene: &Scene, call: &Call) {
        let series = Series {
            instance: call.instance,
            kind: call.kind,
            method: call.method.clone(),
            callee: call.callee,
            code: call.code,
        };
        let fresh = || Durations::new(spans::attributes(scene, call));
        self.series.entry(series).or_insert_with(fresh).count(call);
    }

    /// The points at `now`; nothing where there is nothing to tell.
    pub(crate) fn points(
        &mut self,
        scene: &Scene,
        now: u64,
        levels: &[Level],
    ) -> Option<ExportMetricsServiceRequest> {
        let durations = self.durations(now);
        let gauges = levels.iter().map(|level| (level.instance, gauge(level, now)));
        let all = by_instance(durations.into_iter().chain(gauges));
        let resource_metrics = all.into_iter().map(|(of, metrics)| ResourceMetrics {
            resource: scene.resource(of),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics,
                schema_url: names::SCHEMA.into(),
            }],
            schema_url: names::SCHEMA.into(),
        });
        let resource_metrics: Vec<_> = resource_metrics.collect();
        let some = !resource_metrics.is_empty();
        some.then_some(ExportMetricsServiceRequest { resource_metrics })
    }

    fn durations(&mut self, now: u64) -> Vec<(InstanceId, Metric)> {
        let mut points: BTreeMap<(InstanceId, SpanKind), Vec<HistogramDataPoint>> = BTreeMap::new();
        for (series, durations) in &mut self.series {
            let point = point(durations, self.since, now);
            points.entry((series.instance, series.kind)).or_default().push(point);
        }
        let temporality = match self.temporality {
            Temporality::Cumulative => AggregationTemporality::Cumulative,
            Temporality::Delta => {
                self.series.clear();
                self.since = now;
                AggregationTemporality::Delta
            }
        };
        let metric = |((of, kind), data_points)| {
            let name = metric_of(kind);
            let aggregation_temporality = temporality.into();
            let data = Data::Histogram(Histogram { data_points, aggregation_temporality });
            (of, metric(name, "s", data))
        };
        points.into_iter().map(metric).collect()
    }
}

/// The histogram that counts such calls.
fn metric_of(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Server => names::SERVER_DURATION,
        SpanKind::Client => names::CLIENT_DURATION,
        SpanKind::Producer => names::SEND_DURATION,
        SpanKind::Consumer => names::PROCESS_DURATION,
    }
}

fn point(durations: &mut Durations, since: u64, now: u64) -> HistogramDataPoint {
    let exemplar = durations.slowest.take().map(|call| Exemplar {
        time_unix_nano: call.end,
        span_id: call.id.to_be_bytes().to_vec(),
        trace_id: call.trace.to_be_bytes().to_vec(),
        value: Some(exemplar::Value::AsDouble(call.seconds())),
        ..Exemplar::default()
    });
    HistogramDataPoint {
        attributes: durations.attributes.clone(),
        start_time_unix_nano: since,
        time_unix_nano: now,
        count: durations.count,
        sum: Some(durations.sum),
        bucket_counts: durations.buckets.to_vec(),
        explicit_bounds: names::DURATION_BOUNDS.to_vec(),
        exemplars: exemplar.into_iter().collect(),
        min: Some(durations.min),
        max: Some(durations.max),
        ..HistogramDataPoint::default()
    }
}

fn gauge(level: &Level, now: u64) -> Metric {
    let point = NumberDataPoint {
        time_unix_nano: now,
        value: Some(number_data_point::Value::AsDouble(level.value)),
        ..NumberDataPoint::default()
    };
    let data = Data::Gauge(Gauge { data_points: vec![point] });
    metric(names::metric(&level.signal), &level.unit, data)
}

fn metric(name: &str, unit: &str, data: Data) -> Metric {
    Metric { name: name.into(), unit: unit.into(), data: Some(data), ..Metric::default() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::call::tests::{reply, request};
    use crate::payload::Payload;
    use crate::scene::tests::topology;
    use model::EpisodeId;

    /// Calls in all histograms of the payloads.
    pub(crate) fn counts(payloads: &[Payload]) -> u64 {
        let mut all = 0;
        for payload in payloads {
            let Payload::Metrics(request) = payload else { continue };
            let scopes = request.resource_metrics.iter().flat_map(|r| &r.scope_metrics);
            for metric in scopes.flat_map(|scope| &scope.metrics) {
                if let Some(Data::Histogram(histogram)) = &metric.data {
                    all += histogram.data_points.iter().map(|point| point.count).sum::<u64>();
                }
            }
        }
        all
    }

    #[test]
    fn a_histogram_counts_what_was_and_shows_the_slowest() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let mut meter = Meter::new(0, Temporality::Cumulative);
        let calls = Call::of(&scene, &request(), &reply());
        calls.iter().for_each(|call| meter.count(&scene, call));
        let written = meter.points(&scene, 9, &[]).unwrap();
        let front = &written.resource_metrics[0].scope_metrics[0].metrics;
        let names: Vec<_> = front.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["rpc.server.call.duration", "rpc.client.call.duration"]);
        let Some(Data::Histogram(server)) = &front[0].data else { panic!("no histogram") };
        let point = &server.data_points[0];
        assert_eq!((point.count, point.sum), (1, Some(0.9)));
        let bucket = point.bucket_counts.iter().position(|count| *count == 1);
        assert_eq!(bucket.map(|at| names::DURATION_BOUNDS[at]), Some(1.0));
        assert_eq!(point.exemplars[0].span_id, 1u64.to_be_bytes());
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        // A second point without new calls: the same count, and nothing to point at.
        let again = meter.points(&scene, 10, &[]).unwrap();
        let Some(Data::Histogram(server)) =
            &again.resource_metrics[0].scope_metrics[0].metrics[0].data
        else {
            panic!("no histogram")
        };
        assert_eq!(server.data_points[0].count, 1);
        assert!(server.data_points[0].exemplars.is_empty());
        assert_eq!(server.data_points[0].attributes, point.attributes);
    }

    #[test]
    fn a_signal_is_a_gauge_under_its_conventional_name() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let level = Level {
            instance: InstanceId(0),
            signal: "cpu.utilization".into(),
            unit: "1".into(),
            value: 0.25,
        };
        let mut meter = Meter::new(0, Temporality::Cumulative);
        let written = meter.points(&scene, 9, &[level]).unwrap();
        let metric = &written.resource_metrics[0].scope_metrics[0].metrics[0];
        assert_eq!((metric.name.as_str(), metric.unit.as_str()), ("system.cpu.utilization", "1"));
        assert!(Meter::new(0, Temporality::Cumulative).points(&scene, 9, &[]).is_none());
    }
}
