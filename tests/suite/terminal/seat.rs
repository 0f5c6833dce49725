//! A seat at the terminal of one host in an embedded episode.

use crate::common::run;
use action::Action;
use episode::Episode;
use fleet::{EmbeddedFleet, Fleet};
use model::{Answer, EpisodeId, HostView, Params, Query};
use scenario::{Library, Scenario};
use std::sync::Arc;

/// What a line came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) out: String,
    pub(super) err: String,
    pub(super) code: i64,
}

/// Somebody at a terminal.
pub(super) struct Seat {
    pub(super) episode: Episode<EmbeddedFleet>,
    host: String,
}

/// The shipped scenario called `name`, of a dialect or not.
pub(super) fn scenario(name: &str) -> Arc<Scenario> {
    match scenario::load(&Library::shipped(), name, &fleet::kinds()) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => panic!("{error}"),
    }
}

impl Seat {
    pub(super) fn new(scenario: &Arc<Scenario>, host: &str) -> Seat {
        let kinds = fleet::kinds();
        let fleet = EmbeddedFleet::new(kinds);
        let id = EpisodeId(1);
        let mut episode = Episode::prepare(fleet, kinds, scenario.clone(), id, 3, 1).unwrap();
        run(episode.begin()).unwrap();
        Seat { episode, host: host.into() }
    }

    /// Another seat in a copy of the same world.
    pub(super) fn fork(&self) -> Seat {
        Seat { episode: self.episode.fork(), host: self.host.clone() }
    }

    /// Runs a line.
    pub(super) fn line(&mut self, line: &str) -> Said {
        let args = Params::default().with("host", self.host.as_str()).with("command", line);
        let action = Action::new("shell", &args).expect("fits");
        let reply = run(self.episode.step(&action)).unwrap();
        let result = reply.observation.result.expect("a result");
        let data = result.data.expect("what was printed");
        let text = |key: &str| data[key].as_str().unwrap().to_string();
        let code = data["exit_code"].as_i64().unwrap();
        assert_eq!(result.ok, code == 0, "{line}");
        Said { out: text("stdout"), err: text("stderr"), code }
    }

    /// Standard output of a line that has to succeed without a complaint.
    #[track_caller]
    pub(super) fn ok(&mut self, line: &str) -> String {
        let said = self.line(line);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{line}: {}", said.out);
        said.out
    }

    /// Standard error of a line that has to fail like this.
    #[track_caller]
    pub(super) fn fails(&mut self, line: &str, code: i64) -> String {
        let said = self.line(line);
        assert_eq!(said.code, code, "{line}: {}{}", said.out, said.err);
        said.err
    }

    pub(super) fn wait(&mut self, seconds: u32) {
        let params = Params::default().with("seconds", f64::from(seconds));
        run(self.episode.step(&Action::new("wait", &params).unwrap())).unwrap();
    }

    /// The truth about the host.
    pub(super) fn view(&self) -> HostView {
        let id = self.episode.scenario().topology.instance(&self.host).expect("a host");
        match run(self.episode.fleet().read(id, &Query::Host)).unwrap() {
            Answer::Host(view) => *view,
            other => panic!("{other:?}"),
        }
    }

    /// Whether a unit runs.
    pub(super) fn runs(&self, unit: &str) -> bool {
        self.view().units.iter().any(|u| u.name == unit && u.running > 0)
    }

    /// Share of the disk in use.
    pub(super) fn used(&self) -> f64 {
        let disk = self.view().disk;
        disk.used / disk.capacity
    }

    /// Whether users are served: once all has settled, nobody is missed.
    pub(super) fn serves(&mut self) -> bool {
        self.wait(30);
        let before = self.episode.impact();
        self.wait(30);
        self.episode.impact() - before < 100_000
    }
}
