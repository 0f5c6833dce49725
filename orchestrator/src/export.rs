//! Simulated telemetry of episodes, out to a collector by OTLP. What is exported follows from the
//! record: the same episode, played again, gives the same requests. A collector that is slow, down
//! or wrong changes nothing in the simulation and is counted.

use crate::console;
use crate::failure::Failure;
use episode::Episode;
use fleet::{Fleet, FleetError};
use model::{Answer, ClassId, InstanceId, Noise, Query, Severity, Tick};
use otlp::{Call, Config, Environment, Level, Line, Overflow, Request};
use otlp::{Payload, Scene, Scribe, Sender, Signal, Stats, Window};
use scenario::Scenario;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Options on simulated telemetry.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ExportArgs {
    /// Collector that gets simulated traces, logs and metrics by OTLP, or off; default: the one of
    /// OTEL_EXPORTER_OTLP_ENDPOINT, if that is set.
    #[arg(long, value_name = "ENDPOINT")]
    pub otlp: Option<String>,
    /// Requests of users to follow: so many per simulated second, or a share of them, as 0.5%.
    #[arg(long, value_name = "N", default_value = "1")]
    pub otlp_sample: Sample,
}

/// How many requests are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// So many per simulated second.
    PerSecond(u32),
    /// This share of what users ask for.
    Share(f64),
}

impl Default for Sample {
    fn default() -> Sample {
        Sample::PerSecond(1)
    }
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> Result<Sample, String> {
        let unfit = || format!("`{text}`: expected 0 to 1000 per second, or 0% to 100%");
        let sample = match text.strip_suffix('%') {
            Some(percent) => Sample::Share(percent.parse::<f64>().map_err(|_| unfit())? / 100.0),
            None => Sample::PerSecond(text.parse().map_err(|_| unfit())?),
        };
        let fits = match sample {
            Sample::PerSecond(number) => number <= 1000,
            Sample::Share(share) => (0.0..=1.0).contains(&share),
        };
        fits.then_some(sample).ok_or_else(unfit)
    }
}

/// The variables of OpenTelemetry that this process was started with.
#[expect(clippy::disallowed_methods, reason = "names given by a standard, dozens, some by signal")]
pub fn environment() -> Environment {
    // A variable that is no text is none of these.
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Environment::new(texts.filter(|(name, _)| name.starts_with("OTEL_")))
}

/// The way to the collector, shared by all episodes of a process.
#[derive(Debug)]
pub struct Hub {
    sender: Sender,
    config: Config,
    sample: Sample,
    overflow: Overflow,
}

impl ExportArgs {
    /// Begins what they and the environment ask for; `None`: nothing.
    ///
    /// # Errors
    /// Names the option or variable that does not fit.
    pub fn begin(&self, overflow: Overflow) -> Result<Option<Arc<Hub>>, Failure> {
        if self.otlp.as_deref() == Some("off") {
            return Ok(None);
        }
        let config = Config::new(self.otlp.as_deref(), &environment());
        let unfit = |error| Failure::usage(format!("{error}, or --otlp off"));
        let Some(config) = config.map_err(unfit)? else { return Ok(None) };
        let sender = Sender::start(&config).map_err(|error| {
            Failure::failed(format!("no thread for the export of telemetry: {error}"))
        })?;
        Ok(Some(Arc::new(Hub { sender, config, sample: self.otlp_sample, overflow })))
    }
}

impl Hub {
    /// What became of export requests so far.
    pub fn stats(&self) -> &Arc<Stats> {
        self.sender.stats()
    }

    /// Sends what waits, as long as one request may take, and says what was lost.
    pub async fn finish(&self) {
        let patience = self.config.targets.values().map(|target| target.timeout).max();
        self.sender.finish(self.overflow, patience.unwrap_or(Duration::ZERO)).await;
        let (counts, unread) = (self.stats().all(), self.stats().windows_unread());
        let places = self.config.targets.values().map(|target| target.uri.authority());
        let place = places.flatten().next().map(ToString::to_string).unwrap_or_default();
        let lost = counts.errors();
        if lost + counts.rejected + unread == 0 {
            return console::note(format_args!(
                "telemetry: {place} took {} export requests",
                counts.sent
            ));
        }
        console::note(format_args!(
            "telemetry: {place} took {} export requests, {lost} were lost, {} items rejected, \
             {unread} windows unread; results are not affected",
            counts.sent, counts.rejected
        ));
    }
}

/// The export of one episode.
#[derive(Debug)]
pub struct Export {
    hub: Arc<Hub>,
    scribe: Scribe,
    noise: Noise,
    /// Begin of the next window.
    next: Tick,
    /// The last window is written.
    over: bool,
    /// A window could not be read, and has not been since.
    behind: bool,
}

impl Drop for Export {
    fn drop(&mut self) {
        if self.behind {
            self.hub.stats().unread();
        }
    }
}

impl Export {
    /// Of an episode, from its first tick on.
    pub fn new<F: Fleet>(hub: Arc<Hub>, episode: &Episode<F>) -> Export {
        let (scenario, id) = (episode.scenario(), episode.record().header.episode);
        let start = scenario.timing.start;
        let scene = Scene::new(&scenario.topology, id);
        let scribe = Scribe::new(scene, start, hub.config.style);
        // Keyed by the episode: two of the same seed are not to share traces at a collector.
        let noise = episode.noise_for("otlp").index(id.0);
        Export { hub, scribe, noise, next: start, over: false, behind: false }
    }

    /// Exports what has become known; all of it where the episode is over. What cannot be read now
    /// is tried again with the next call.
    pub async fn publish<F: Fleet>(&mut self, episode: &Episode<F>) {
        let sent = Box::pin(self.windows(episode, true)).await;
        self.behind = sent.is_err();
        if let Err(error) = sent {
            tracing::warn!(%error, "a window of telemetry cannot be read now");
        }
    }

    /// Takes over what another owner of the episode has exported already, and exports none of it.
    pub async fn catch_up<F: Fleet>(&mut self, episode: &Episode<F>) {
        if let Err(error) = Box::pin(self.windows(episode, false)).await {
            tracing::warn!(%error, "telemetry of the past cannot be read; it is exported again");
        }
    }

    async fn windows<F: Fleet>(
        &mut self,
        episode: &Episode<F>,
        send: bool,
    ) -> Result<(), FleetError> {
        let (now, every) = (episode.tick(), i64::from(self.hub.config.every_s));
        while self.next.plus(every) <= now {
            let to = self.next.plus(every);
            self.window(episode, to, false, send).await?;
        }
        if episode.ended().is_some() && !self.over {
            self.window(episode, now, true, send).await?;
            self.over = true;
        }
        Ok(())
    }

    async fn window<F: Fleet>(
        &mut self,
        episode: &Episode<F>,
        to: Tick,
        last: bool,
        send: bool,
    ) -> Result<(), FleetError> {
        let from = self.next;
        let window = Window {
            from,
            to,
            calls: self.calls(episode, from, to).await?,
            lines: self.lines(episode, from, to).await?,
            levels: self.levels(episode, to).await?,
            last,
        };
        self.next = to;
        for payload in self.scribe.write(window) {
            if send {
                self.offer(payload).await;
            }
        }
        Ok(())
    }

    async fn offer(&self, payload: Payload) {
        self.hub.sender.offer(payload, self.hub.overflow).await;
    }

    /// Follows requests of users through the components.
    async fn calls<F: Fleet>(
        &self,
        episode: &Episode<F>,
        from: Tick,
        to: Tick,
    ) -> Result<Vec<Call>, FleetError> {
        let mut calls = Vec::new();
        for tick in (from.0..to.0).map(Tick) {
            let wanted = demand(episode.scenario(), tick);
            let noise = self.noise.index(tick.0 as u64);
            for n in 0..self.number(&wanted, noise) {
                let draw = noise.index(n);
                let Some(class) = chosen(&wanted, draw.unit(1)) else { break };
                let hop = episode.hop(class.at(), tick, draw.bits(0));
                let reply = episode.fleet().request(&hop).await?;
                let trace = mesh::trace::trace_id(hop.request);
                let request = Request { tick, offset_s: draw.unit(2), trace, class };
                calls.extend(Call::of(self.scribe.scene(), &request, &reply));
            }
        }
        Ok(calls)
    }

    /// How many requests of a tick are followed.
    fn number(&self, wanted: &[f64], noise: Noise) -> u64 {
        match self.hub.sample {
            Sample::PerSecond(number) => u64::from(number),
            Sample::Share(share) => {
                let mean = share * wanted.iter().sum::<f64>();
                mean as u64 + u64::from(noise.unit(-1) < mean.fract())
            }
        }
    }

    async fn lines<F: Fleet>(
        &self,
        episode: &Episode<F>,
        from: Tick,
        to: Tick,
    ) -> Result<Vec<Line>, FleetError> {
        let mut lines = Vec::new();
        if !self.hub.sender.wants(Signal::Logs) {
            return Ok(lines);
        }
        let (severity, contains, limit) = (Severity::Info, String::new(), u32::MAX);
        let query = Query::Logs { from, to, severity, contains, limit };
        for instance in episode.scenario().topology.ids() {
            let Answer::Logs(read) = episode.fleet().read(instance, &query).await? else {
                continue;
            };
            lines.extend(read.into_iter().map(|line| Line {
                instance,
                tick: line.tick,
                severity: line.severity,
                replica: line.replica,
                message: line.message,
                trace: if line.trace == 0 { 0 } else { mesh::trace::trace_id(line.trace) },
            }));
        }
        Ok(lines)
    }

    /// All signals in the tick before `to`, as monitoring shows them.
    async fn levels<F: Fleet>(
        &self,
        episode: &Episode<F>,
        to: Tick,
    ) -> Result<Vec<Level>, FleetError> {
        let mut levels = Vec::new();
        if !self.hub.sender.wants(Signal::Metrics) {
            return Ok(levels);
        }
        let query = Query::Metrics { signals: Vec::new(), from: to.plus(-1), to, every: 1 };
        for instance in episode.scenario().topology.ids() {
            let answer = episode.fleet().read(instance, &query).await?;
            levels.extend(latest(instance, answer));
        }
        Ok(levels)
    }
}

fn latest(instance: InstanceId, answer: Answer) -> Vec<Level> {
    let Answer::Metrics { series, units, .. } = answer else { return Vec::new() };
    let level = |(signal, points): (String, Vec<Option<f64>>)| {
        // Where telemetry is missing there is no point.
        let value = points.last().copied().flatten()?;
        let unit = units.get(&signal).cloned().unwrap_or_default();
        Some(Level { instance, signal, unit, value })
    };
    series.into_iter().filter_map(level).collect()
}

/// Requests per second that users want of each class in a tick, but for its jitter.
fn demand(scenario: &Scenario, tick: Tick) -> Vec<f64> {
    let workload = &scenario.workload;
    let mut wanted = vec![0.0; scenario.topology.classes.len()];
    for demand in &workload.demand {
        let bursts = workload.bursts.iter().filter(|burst| burst.from <= tick && tick < burst.to);
        let factor: f64 = bursts.map(|burst| burst.factor[demand.class.at()]).product();
        wanted[demand.class.at()] += demand.rate * factor;
    }
    wanted
}

/// A class, as often as users want it.
fn chosen(wanted: &[f64], unit: f64) -> Option<ClassId> {
    let mut left = unit * wanted.iter().sum::<f64>();
    for (class, rate) in wanted.iter().enumerate() {
        left -= rate;
        if left < 0.0 {
            return Some(ClassId(class as u8));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_numbers_or_shares() {
        for (text, expected) in [
            ("0", Some(Sample::PerSecond(0))),
            ("25", Some(Sample::PerSecond(25))),
            ("0.5%", Some(Sample::Share(0.005))),
            ("100%", Some(Sample::Share(1.0))),
            ("101%", None),
            ("1001", None),
            ("0.5", None),
            ("-1", None),
            ("", None),
        ] {
            let sample = text.parse::<Sample>();
            assert_eq!(sample.clone().ok(), expected, "{text}");
            if let Err(error) = sample {
                assert!(error.contains("0% to 100%"), "{error}");
            }
        }
    }

    #[test]
    fn classes_are_chosen_as_often_as_users_want_them() {
        let wanted = [30.0, 0.0, 10.0];
        let class = |unit| chosen(&wanted, unit).map(|class| class.0);
        assert_eq!(class(0.0), Some(0));
        assert_eq!(class(0.7), Some(0));
        assert_eq!(class(0.76), Some(2));
        assert_eq!(class(0.999), Some(2));
        assert_eq!(chosen(&[0.0, 0.0], 0.5), None);
    }
}
