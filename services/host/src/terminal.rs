//! Orders that come from a terminal: signals, units, files, the clock. Each is one thing that a
//! program does; which of them a command line means is known to the terminal alone.

use crate::machine::HostMachine;
use crate::process::DAEMONS;
use crate::signals::{EVENT, SKEW};
use machine::Cx;
use model::{Order, Refusal};

const NO_SPACE: &str = "No space left on device";

impl HostMachine {
    fn generation(&self) -> impl Fn(u32) -> u32 + use<> {
        let all: Vec<u32> = self.state.units.iter().map(|u| u.generation).collect();
        move |unit| all.get(unit as usize).copied().unwrap_or(0)
    }

    fn daemon_called(&self, unit: &str) -> Option<usize> {
        self.state.daemons.iter().position(|d| DAEMONS[d.which].0 == unit)
    }

    /// Positions of the units that a terminal calls `unit`.
    fn units_named(&self, unit: &str) -> Vec<usize> {
        let of = |t: &model::Tenant| crate::layout::unit_name(t) == unit;
        (0..self.tenants.len()).filter(|at| of(&self.tenants[*at])).collect()
    }

    fn has_process(&self, pid: u32) -> bool {
        self.state.strays.iter().any(|s| s.pid == pid)
            || self.state.units.iter().any(|u| u.running > 0 && u.pid() == pid)
            || self.state.daemons.iter().any(|d| d.pid == pid)
            || pid == 1
    }

    pub(crate) fn accepts_terminal(&self, order: &Order) -> Result<(), Refusal> {
        let args = &order.args;
        let disk = &self.state.disk;
        let refuse = |what: &str| Err(Refusal::because(what));
        let (free, inodes) = (disk.free(), disk.inodes_free());
        let new = |path: &str| !disk.files.contains_key(path);
        match order.verb.as_str() {
            "signal" if !self.has_process(args.number("pid") as u32) => refuse("No such process"),
            "unit" => {
                let unit = args.text("unit");
                if self.units_named(unit).is_empty() && self.daemon_called(unit).is_none() {
                    return refuse("Unit not found");
                }
                Ok(())
            }
            "unlink" | "set_mode" if new(args.text("path")) => refuse("No such file or directory"),
            "rename" if !disk.exists(args.text("from")) => refuse("No such file or directory"),
            "copy" | "compress" if new(args.text("from")) => refuse("No such file or directory"),
            "truncate" | "make_folder" if new(args.text("path")) && inodes < 1.0 => {
                refuse(NO_SPACE)
            }
            "write" => {
                let (path, text) = (args.text("path"), args.text("text"));
                let room = match disk.files.get(path) {
                    Some(file) if !args.flag("append") => free + file.size,
                    _ => free,
                };
                let fits = text.len() as f64 <= room && !(new(path) && inodes < 1.0);
                if fits { Ok(()) } else { refuse(NO_SPACE) }
            }
            "compress" if disk.compressed_size(args.text("from")) > free => refuse(NO_SPACE),
            "copy" if new(args.text("to")) && inodes < 1.0 => refuse(NO_SPACE),
            _ => Ok(()),
        }
    }

    pub(crate) fn obey_terminal(&mut self, cx: &mut Cx<'_>, order: &Order) {
        let args = &order.args;
        let (now, generation) = (cx.tick(), self.generation());
        let path = args.text("path");
        let (from, to) = (args.text("from"), args.text("to"));
        match order.verb.as_str() {
            "signal" => self.signal(cx, args.number("pid") as u32, args.text("signal")),
            "unit" => self.change_unit(cx, args.text("unit"), args.text("change")),
            "unlink" => {
                if let Some(file) = self.state.disk.unlink(path, generation) {
                    self.gone(cx, path, file.size, file.precious);
                }
            }
            "truncate" => {
                let before = self.state.disk.files.get(path).cloned();
                self.state.disk.truncate(now, path, args.number("size"));
                if let Some(file) = before {
                    let cut = (file.size - args.number("size")).max(0.0);
                    self.gone(cx, path, cut, file.precious && cut > 0.0);
                }
            }
            "write" => {
                let lost =
                    self.state.disk.files.get(path).map_or(0.0, |f| {
                        if f.precious && !args.flag("append") { f.size } else { 0.0 }
                    });
                self.state.disk.write(now, path, args.text("text"), args.flag("append"));
                self.gone(cx, path, lost, lost > 0.0);
            }
            "make_folder" => {
                let folder = crate::disk::File {
                    mode: 0o755,
                    modified: now,
                    content: model::FileContent::Folder,
                    ..crate::disk::File::default()
                };
                self.state.disk.files.entry(path.into()).or_insert(folder);
            }
            "rename" => self.state.disk.rename(from, to, generation),
            "copy" => self.state.disk.copy(now, from, to, 1.0),
            "compress" => {
                self.state.disk.compress(now, from, to);
                if let Some(file) = self.state.disk.unlink(from, generation) {
                    self.gone(cx, from, file.size, file.precious);
                }
            }
            "set_mode" => {
                if let Some(file) = self.state.disk.files.get_mut(path) {
                    if args.has("mode") {
                        file.mode = args.number("mode") as u32;
                    }
                    if !args.text("owner").is_empty() {
                        file.owner = args.text("owner").into();
                    }
                }
            }
            _ => {
                self.state.skew_s = args.number("offset");
                cx.emit(SKEW, self.state.skew_s, "clock stepped by an operator");
            }
        }
    }

    /// `bytes` of `path` are gone by an operator's hand.
    fn gone(&mut self, cx: &mut Cx<'_>, path: &str, bytes: f64, precious: bool) {
        if bytes > 1_048_576.0 {
            let text = format!("removed {path}, {:.1} GiB", bytes / 1_073_741_824.0);
            cx.emit(EVENT, bytes, text);
        }
        if precious {
            self.state.data_lost += bytes;
            self.wreck(cx, path);
        }
    }

    fn signal(&mut self, cx: &mut Cx<'_>, pid: u32, signal: &str) {
        let pause = match signal {
            "STOP" => Some(true),
            "CONT" => Some(false),
            _ => None,
        };
        if let Some(daemon) = self.state.daemons.iter().position(|d| d.pid == pid && pid != 0) {
            if pause.is_none() && !RELOADS.contains(&signal) {
                // Its unit starts it again at once.
                let pid = self.next_pid();
                self.state.daemons[daemon].pid = pid;
                self.state.daemons[daemon].since = cx.tick();
            }
            return;
        }
        if let Some(stray) = self.state.strays.iter_mut().find(|s| s.pid == pid) {
            match pause {
                // It has ended already: no signal ends it again, none frees its number.
                _ if stray.zombie_of != 0 => {}
                Some(pause) => stray.paused = pause,
                // Stopped processes take other signals when they go on; this one ends them.
                None if stray.paused && signal != "KILL" => {}
                None => self.kill(cx, pid),
            }
            return;
        }
        let units = &mut self.state.units;
        let Some(at) = units.iter().position(|u| u.running > 0 && u.pid() == pid) else { return };
        match pause {
            Some(pause) => units[at].paused = pause,
            None if units[at].paused && signal != "KILL" => {}
            None if RELOADS.contains(&signal) => {
                let text = format!("{}: signal {signal} received", self.unit_name(at));
                cx.emit(EVENT, f64::from(pid), text);
            }
            None => self.kill(cx, pid),
        }
    }

    fn change_unit(&mut self, cx: &mut Cx<'_>, unit: &str, change: &str) {
        if let Some(daemon) = self.daemon_called(unit) {
            let up = self.state.daemons[daemon].pid != 0;
            let pid = match change {
                "stop" => 0,
                "restart" => self.next_pid(),
                "start" if !up => self.next_pid(),
                _ => self.state.daemons[daemon].pid,
            };
            if pid != self.state.daemons[daemon].pid {
                self.state.daemons[daemon].since = cx.tick();
            }
            self.state.daemons[daemon].pid = pid;
            return;
        }
        for at in self.units_named(unit) {
            // What starts already is not started again; what waits for its next try is.
            let (unit, boot_s) = (&self.state.units[at], self.tenants[at].boot_s.max(1.0));
            let starts = unit.booting > 0 && unit.ready.since(cx.tick()) as f64 <= boot_s;
            let up = unit.running > 0 || starts && !unit.stopped;
            match change {
                "stop" => {
                    self.state.units[at].stop(cx.tick(), "");
                    let text = format!("{}: stopped by an operator", self.unit_name(at));
                    cx.emit(EVENT, 0.0, text);
                }
                "restart" => self.start(cx, at, "restarted by an operator"),
                "start" if !up => self.start(cx, at, "started by an operator"),
                _ => {}
            }
        }
    }
}

/// Signals on which a server reads its files again and lives on.
const RELOADS: &[&str] = &["HUP", "USR1", "USR2"];
