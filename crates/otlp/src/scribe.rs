//! Writes the telemetry of one episode. Time is cut into windows of a fixed length; what a window
//! says depends on the episode alone: not on when it is asked for, nor on how the agent's steps cut
//! the time. A call belongs to the window in which it ends, with its span, its log record and its
//! place in the histograms, so that every export request agrees with all before it.

use crate::call::Call;
use crate::payload::Payload;
use crate::scene::Scene;
use crate::time::nanos;
use crate::write::{logs, metrics, spans};
use model::{InstanceId, Severity, Tick};
use std::collections::BTreeMap;

/// Calls in one export request at most: far below the 4 MiB that collectors take by default.
const CALLS_MAX: usize = 1024;
/// Lines in one export request at most.
const LINES_MAX: usize = 2048;

/// A line that a component logged.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Whose.
    pub instance: InstanceId,
    /// When.
    pub tick: Tick,
    /// How bad.
    pub severity: Severity,
    /// The replica that wrote it.
    pub replica: String,
    /// The text.
    pub message: String,
    /// The trace it belongs to; 0: none.
    pub trace: u128,
}

/// A signal of a component at the end of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Whose.
    pub instance: InstanceId,
    /// Name of the signal, as agents know it.
    pub signal: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
}

/// What happened in a stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// First tick.
    pub from: Tick,
    /// Tick after the last.
    pub to: Tick,
    /// Calls of the requests that began in it.
    pub calls: Vec<Call>,
    /// Lines logged in it, by instance and then in order.
    pub lines: Vec<Line>,
    /// Signals at its end, by instance.
    pub levels: Vec<Level>,
    /// Time ends with it: calls that are still open are written, too.
    pub last: bool,
}

/// Whether a histogram counts since the start or since the point before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temporality {
    /// Since the start of the episode.
    #[default]
    Cumulative,
    /// Since the point before.
    Delta,
}

/// How it is written, where the conventions leave a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// What histograms count.
    pub temporality: Temporality,
    /// A failed call is an event of its span as well as a log record.
    pub span_events: bool,
}

/// The telemetry of one episode.
#[derive(Clone, Debug)]
pub struct Scribe {
    scene: Scene,
    span_events: bool,
    /// Calls that have not ended yet, in the order of their ends.
    open: BTreeMap<(u64, u128, u64), Call>,
    meter: metrics::Meter,
}

impl Scribe {
    /// Of an episode whose first tick is `start`.
    pub fn new(scene: Scene, start: Tick, style: Style) -> Scribe {
        let meter = metrics::Meter::new(nanos(start, 0.0), style.temporality);
        Scribe { scene, span_events: style.span_events, open: BTreeMap::new(), meter }
    }

    /// Who it is about.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The export requests of the next window; windows come in order and leave no gap.
    pub fn write(&mut self, window: Window) -> Vec<Payload> {
        let Window { from, to, calls, lines, levels, last } = window;
        if from >= to && self.open.is_empty() {
            // The end of an episode right after the end of a window: all is told.
            return Vec::new();
        }
        self.open.extend(calls.into_iter().map(|call| (call.key(), call)));
        let mut at = nanos(to, 0.0);
        if last {
            // What would have been handled later is not handled any more.
            self.open.retain(|_, call| !call.deferred || call.end <= at);
        }
        if let (true, Some(((end, _, _), _))) = (last, self.open.last_key_value()) {
            at = at.max(*end);
        }
        let later = self.open.split_off(&(at.saturating_add(1), 0, 0));
        let ended: Vec<Call> = std::mem::replace(&mut self.open, later).into_values().collect();
        ended.iter().for_each(|call| self.meter.count(&self.scene, call));
        let mut payloads = Vec::new();
        for some in ended.chunks(CALLS_MAX) {
            payloads.push(Payload::Traces(spans::write(&self.scene, some, self.span_events)));
        }
        let mut records = logs::of_lines(&lines);
        records.extend(
            ended.iter().filter(|call| call.failed()).map(|call| logs::of_call(&self.scene, call)),
        );
        records.sort_by_key(|(of, record)| (*of, record.time_unix_nano));
        for some in records.chunks(LINES_MAX) {
            payloads.push(Payload::Logs(logs::write(&self.scene, some)));
        }
        let points = self.meter.points(&self.scene, at, &levels);
        payloads.extend(points.map(Payload::Metrics));
        payloads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::{posted, reply, request};
    use crate::scene::tests::topology;
    use crate::write::metrics::tests::counts;
    use model::EpisodeId;

    fn scribe(temporality: Temporality) -> Scribe {
        let style = Style { temporality, span_events: false };
        Scribe::new(Scene::new(&topology(), EpisodeId(1)), Tick(0), style)
    }

    fn window(from: i64, to: i64, calls: Vec<Call>, last: bool) -> Window {
        let (lines, levels) = (Vec::new(), Vec::new());
        Window { from: Tick(from), to: Tick(to), calls, lines, levels, last }
    }

    fn spans(payloads: &[Payload]) -> usize {
        let of = |payload: &Payload| match payload {
            Payload::Traces(request) => {
                let scopes = request.resource_spans.iter().flat_map(|r| &r.scope_spans);
                scopes.map(|scope| scope.spans.len()).sum()
            }
            _ => 0,
        };
        payloads.iter().map(of).sum()
    }

    fn records(payloads: &[Payload]) -> usize {
        let of = |payload: &Payload| match payload {
            Payload::Logs(request) => {
                let scopes = request.resource_logs.iter().flat_map(|r| &r.scope_logs);
                scopes.map(|scope| scope.log_records.len()).sum()
            }
            _ => 0,
        };
        payloads.iter().map(of).sum()
    }

    #[test]
    fn a_call_is_written_in_the_window_in_which_it_ends() {
        let mut scribe = scribe(Temporality::Cumulative);
        let calls = Call::of(scribe.scene(), &request(), &reply());
        // The login answers within the sixth second, the rest ends in the next one.
        let first = scribe.write(window(5, 6, calls, false));
        assert_eq!((spans(&first), records(&first), counts(&first)), (2, 0, 2));
        let second = scribe.write(window(6, 7, Vec::new(), false));
        assert_eq!((spans(&second), records(&second), counts(&second)), (2, 2, 4));
        let third = scribe.write(window(7, 8, Vec::new(), false));
        assert_eq!((spans(&third), records(&third), counts(&third)), (0, 0, 4));
    }

    #[test]
    fn the_last_window_leaves_nothing_open() {
        let mut scribe = scribe(Temporality::Delta);
        let calls = Call::of(scribe.scene(), &request(), &reply());
        let all = scribe.write(window(5, 6, calls, true));
        assert_eq!((spans(&all), records(&all), counts(&all)), (4, 2, 4));
        assert!(scribe.open.is_empty());
    }

    #[test]
    fn the_handling_of_a_message_is_told_when_it_is_over_and_not_where_time_ends_before() {
        let mut scribe = scribe(Temporality::Cumulative);
        let mut cut = scribe.clone();
        let calls = Call::of(scribe.scene(), &request(), &posted());
        // The second ends first; what is handled has a failure at three places.
        let first = scribe.write(window(5, 40, calls.clone(), false));
        assert_eq!((spans(&first), records(&first), counts(&first)), (3, 0, 3));
        let second = scribe.write(window(40, 50, Vec::new(), true));
        assert_eq!((spans(&second), records(&second), counts(&second)), (3, 3, 6));
        let all = cut.write(window(5, 40, calls, true));
        assert_eq!((spans(&all), records(&all), counts(&all)), (3, 0, 3));
        assert!(cut.open.is_empty());
    }

    #[test]
    fn an_end_after_which_nothing_is_open_is_not_told_twice() {
        let mut scribe = scribe(Temporality::Cumulative);
        let calls = Call::of(scribe.scene(), &request(), &reply());
        let all = scribe.write(window(5, 6, calls, false));
        assert_eq!(spans(&all), 2);
        let rest = scribe.write(window(6, 6, Vec::new(), true));
        assert_eq!((spans(&rest), records(&rest), counts(&rest)), (2, 2, 4));
        assert!(scribe.write(window(6, 6, Vec::new(), true)).is_empty());
    }

    #[test]
    fn delta_points_add_up() {
        let mut scribe = scribe(Temporality::Delta);
        let calls = Call::of(scribe.scene(), &request(), &reply());
        let first = counts(&scribe.write(window(5, 6, calls, false)));
        let second = counts(&scribe.write(window(6, 7, Vec::new(), false)));
        let third = counts(&scribe.write(window(7, 8, Vec::new(), false)));
        assert_eq!((first, second, third), (2, 2, 0));
    }

    #[test]
    fn the_same_windows_give_the_same_bytes() {
        let bytes = || {
            let mut scribe = scribe(Temporality::Cumulative);
            let calls = Call::of(scribe.scene(), &request(), &reply());
            let line = Line {
                instance: InstanceId(4),
                tick: Tick(5),
                severity: Severity::Warn,
                replica: "orders-stable-0".into(),
                message: "slow".into(),
                trace: 0,
            };
            let level = Level {
                instance: InstanceId(0),
                signal: "cpu.utilization".into(),
                unit: "1".into(),
                value: 0.5,
            };
            let all =
                Window { lines: vec![line], levels: vec![level], ..window(5, 6, calls, true) };
            scribe.write(all).iter().map(Payload::encode).collect::<Vec<_>>()
        };
        assert_eq!(bytes(), bytes());
        assert_eq!(bytes().len(), 3);
    }
}
