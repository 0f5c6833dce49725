//! The machine of a host: each round it takes the needs of everything on it and grants what it
//! has; it kills what outgrows it and restarts what died.

use crate::disk::{self, Disk, File};
use crate::layout;
use crate::process::{DAEMONS, Daemon, Stray, Unit};
use crate::signals::{CPU, DISK, EVENT, EXITS, INODES, MEMORY, SKEW};
use machine::{Cx, Machine, Past, SnapshotError, decode, encode};
use model::{
    Answer, Code, Digest, Face, FileContent, Grant, Hop, HopReply, Inbox, LeverPull, LogLine, Need,
    Next, Order, Outbox, ParamError, Query, Refusal, Setup, Severity, Tenant, Tick,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of the lock file of a database.
const LOCK_FILE: f64 = 4096.0;
/// What it says that cannot write it.
const NO_ROOM: &str = "could not write lock file: No space left on device";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) disk: Disk,
    pub(crate) units: Vec<Unit>,
    pub(crate) strays: Vec<Stray>,
    pub(crate) daemons: Vec<Daemon>,
    pub(crate) skew_s: f64,
    next_pid: u32,
    /// Bytes of data that people needed and an operator removed.
    pub(crate) data_lost: f64,
    exits: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct HostMachine {
    pub(crate) name: String,
    pub(crate) cpu: f64,
    pub(crate) memory: f64,
    pub(crate) tenants: Vec<Tenant>,
    /// Where each tenant keeps its data.
    paths: Vec<String>,
    pub(crate) state: State,
}

impl HostMachine {
    pub(crate) fn create(setup: &Setup) -> Result<HostMachine, ParamError> {
        let params = &setup.spec.params;
        let capacity = params.number("disk");
        let used = params.number("disk_used");
        if used > capacity {
            let message = format!("is {used}; expected at most `disk`, {capacity}");
            return Err(ParamError { name: "disk_used".into(), message });
        }
        let files = layout::files(used, &setup.tenants);
        let disk = Disk::new(capacity, params.number("inodes"), files);
        let unit = |(at, t): (usize, &Tenant)| Unit::up(at, t.replicas, Tick(-1_000_000));
        let state = State {
            disk,
            units: setup.tenants.iter().enumerate().map(unit).collect(),
            strays: Vec::new(),
            daemons: (0..DAEMONS.len())
                .map(|which| Daemon { which, pid: DAEMONS[which].1, since: disk::LONG_AGO })
                .collect(),
            skew_s: 0.0,
            next_pid: 4200,
            data_lost: 0.0,
            exits: 0,
        };
        Ok(HostMachine {
            name: setup.spec.name.clone(),
            cpu: params.number("cpu"),
            memory: params.number("memory"),
            paths: setup.tenants.iter().map(layout::data_path).collect(),
            tenants: setup.tenants.clone(),
            state,
        })
    }

    pub(crate) fn unit_name(&self, at: usize) -> String {
        format!("{}/{}", self.tenants[at].name, self.tenants[at].group_name)
    }

    /// Positions of the units that `instance` and `group` name.
    pub(crate) fn matching(&self, instance: &str, group: &str) -> Vec<usize> {
        let of = |t: &Tenant| t.name == instance && (group.is_empty() || t.group_name == group);
        (0..self.tenants.len()).filter(|at| of(&self.tenants[*at])).collect()
    }

    pub(crate) fn unit_called(&self, unit: &str) -> Vec<usize> {
        let (instance, group) = unit.split_once('/').unwrap_or((unit, ""));
        self.matching(instance, group)
    }

    fn stray(
        &mut self,
        now: Tick,
        pull: &LeverPull,
        command: &str,
        cpu_cores: f64,
        memory: f64,
    ) -> u32 {
        self.state.next_pid = self.state.next_pid.max(pull.args.number("pid") as u32);
        let pid = self.next_pid();
        self.state.strays.push(Stray {
            pid,
            pull: pull.id,
            command: command.to_string(),
            cpu_cores,
            memory,
            started: now,
            paused: false,
            zombie_of: 0,
        });
        pid
    }

    pub(crate) fn next_pid(&mut self) -> u32 {
        self.state.next_pid += 7;
        self.state.next_pid - 7
    }

    pub(crate) fn end_stray(&mut self, pid: u32) {
        // With its parent gone, an ended child is asked for its exit code by process 1.
        self.state.strays.retain(|s| s.pid != pid && s.zombie_of != pid);
        self.state.disk.writer_died(pid);
        for unit in self.state.units.iter_mut().filter(|u| u.squatter == pid) {
            unit.squatter = 0;
        }
    }

    fn need(&self, inbox: &Inbox, at: usize) -> Need {
        let t = &self.tenants[at];
        let idle = Need::idle(t.instance, t.group, t.replicas);
        inbox.needs.get(at).copied().unwrap_or(idle)
    }

    /// Exits, memory limits, starts; then the number of processes follows what is needed.
    fn run_processes(&mut self, cx: &mut Cx<'_>, inbox: &Inbox) {
        let now = cx.tick();
        for at in 0..self.tenants.len() {
            let need = self.need(inbox, at);
            let tenant = &self.tenants[at];
            let limit = if tenant.memory_limit > 0.0 { tenant.memory_limit } else { self.memory };
            let full = self.no_room(at);
            let unit = &mut self.state.units[at];
            (unit.cpu_cores, unit.memory) = (need.cpu_cores, need.memory);
            let starts = unit.running == 0 && unit.booting > 0 && now >= unit.ready;
            let down = if starts && full {
                Some(NO_ROOM.to_string())
            } else if unit.running == 0 {
                None
            } else if need.memory > limit {
                Some("out of memory".to_string())
            } else if need.exit_code != 0 {
                Some(format!("exit code {}", need.exit_code))
            } else {
                None
            };
            if let Some(reason) = down {
                unit.exited(now, need.replicas, tenant.boot_s, &reason);
                self.state.exits += 1;
                let exits = f64::from(self.state.exits);
                let name = self.unit_name(at);
                cx.emit(EXITS, exits, format!("{name}: process ended, {reason}"));
            } else if unit.settle(now, &need, tenant) {
                let generation = f64::from(unit.generation);
                cx.emit(EVENT, generation, format!("{}: process started", self.unit_name(at)));
            }
        }
        self.kill_for_memory(cx, inbox);
    }

    /// A database does not start on a full disk: it cannot even write its lock file.
    pub(crate) fn no_room(&self, at: usize) -> bool {
        let disk = &self.state.disk;
        self.tenants[at].kind == "db" && (disk.free() < LOCK_FILE || disk.inodes_free() < 1.0)
    }

    /// Over the host's own memory the largest process group goes, as an out-of-memory killer does.
    fn kill_for_memory(&mut self, cx: &mut Cx<'_>, inbox: &Inbox) {
        if self.memory_used(inbox) <= self.memory {
            return;
        }
        let held =
            |at: usize| self.need(inbox, at).memory * f64::from(self.state.units[at].running);
        let largest = (0..self.tenants.len())
            .fold(None, |best, at| if held(at) > best.map_or(0.0, held) { Some(at) } else { best });
        if let Some(at) = largest {
            let (need, name) = (self.need(inbox, at), self.unit_name(at));
            let boot_s = self.tenants[at].boot_s;
            let reason = "killed, host out of memory";
            self.state.units[at].exited(cx.tick(), need.replicas, boot_s, reason);
            self.state.exits += 1;
            let exits = f64::from(self.state.exits);
            cx.emit(EXITS, exits, format!("{name}: process {reason}"));
        }
    }

    fn memory_used(&self, inbox: &Inbox) -> f64 {
        let strays: f64 = self.state.strays.iter().map(|s| s.memory).sum();
        (0..self.tenants.len()).fold(strays, |sum, at| {
            sum + self.need(inbox, at).memory * f64::from(self.state.units[at].running)
        })
    }

    fn write_files(&mut self, now: Tick, delta_s: f64, inbox: &Inbox) {
        for at in 0..self.tenants.len() {
            let need = self.need(inbox, at);
            if need.disk_write > 0.0 {
                self.state.disk.append(&self.paths[at], need.disk_write * delta_s);
            }
        }
        let strays = &self.state.strays;
        let paused = |pid: u32| strays.iter().any(|s| s.pid == pid && s.paused);
        self.state.disk.grow(now, delta_s, paused);
        let units = &self.state.units;
        self.state.disk.close_orphans(|unit| units[unit as usize].generation);
    }

    pub(crate) fn down(&mut self, cx: &mut Cx<'_>, at: usize, reason: &str) {
        let unit = &mut self.state.units[at];
        unit.stop(cx.tick(), reason);
        self.state.exits += 1;
        let text = format!("{}: process ended, {reason}", self.unit_name(at));
        cx.emit(EXITS, f64::from(self.state.exits), text);
    }

    /// Takes the processes of a unit down and starts them again, if what they need is there.
    pub(crate) fn start(&mut self, cx: &mut Cx<'_>, at: usize, how: &str) {
        let (replicas, boot_s) = (self.tenants[at].replicas, self.tenants[at].boot_s);
        if !self.state.disk.exists(&self.paths[at]) {
            self.down(cx, at, "its files are missing");
            return;
        }
        if self.no_room(at) {
            self.down(cx, at, NO_ROOM);
            return;
        }
        let unit = &mut self.state.units[at];
        unit.restart(cx.tick(), replicas.max(unit.running), boot_s, 0);
        let generation = f64::from(unit.generation);
        let text = format!("{}: {how}", self.unit_name(at));
        cx.emit(EVENT, generation, text);
    }

    pub(crate) fn kill(&mut self, cx: &mut Cx<'_>, pid: u32) {
        if let Some(stray) = self.state.strays.iter().find(|s| s.pid == pid) {
            let text = format!("killed process {pid} ({})", stray.command);
            self.end_stray(pid);
            cx.emit(EVENT, f64::from(pid), text);
        } else if let Some(at) =
            (0..self.tenants.len()).find(|at| self.state.units[*at].pid() == pid)
        {
            let (replicas, boot_s) = (self.tenants[at].replicas, self.tenants[at].boot_s);
            self.state.units[at].exited(cx.tick(), replicas, boot_s, "killed by an operator");
            let text = format!("{}: process killed by an operator", self.unit_name(at));
            cx.emit(EVENT, f64::from(pid), text);
        }
    }

    /// A unit's process dies, and a stray one has its port before it comes back.
    fn squat(&mut self, cx: &mut Cx<'_>, pull: &LeverPull, at: usize) {
        let command = pull.args.text("command");
        let pid = self.stray(cx.tick(), pull, command, 0.0, 3e7);
        if pull.args.flag("zombie") {
            // It holds nothing: a decoy for those who kill what `ps` marks.
            let child = self.stray(cx.tick(), pull, command, 0.0, 0.0);
            if let Some(s) = self.state.strays.iter_mut().find(|s| s.pid == child) {
                s.zombie_of = pid;
            }
        }
        self.state.units[at].squatter = pid;
        let (boot_s, replicas) = (self.tenants[at].boot_s, self.tenants[at].replicas);
        self.state.units[at].exited(cx.tick(), replicas, boot_s, "exit code 1");
        let text = format!("{}: process ended, exit code 1", self.unit_name(at));
        cx.emit(EXITS, f64::from(self.state.exits), text);
    }

    fn free_disk(&mut self, cx: &mut Cx<'_>, path: &str) {
        for path in self.state.disk.under(path) {
            let Some(file) = self.state.disk.files.get_mut(&path) else { continue };
            let (size, precious) = (file.size, file.precious);
            (file.size, file.inodes) = (0.0, 1.0);
            let text = format!("removed {path}, {:.1} GiB freed", size / 1_073_741_824.0);
            cx.emit(EVENT, size, text);
            if precious {
                self.state.data_lost += size;
                self.wreck(cx, &path);
            }
        }
    }

    /// What needed the files at `path` ends and cannot start again.
    pub(crate) fn wreck(&mut self, cx: &mut Cx<'_>, path: &str) {
        for at in 0..self.tenants.len() {
            if path == "/usr" || path == layout::data_path(&self.tenants[at]) {
                self.state.units[at].wrecked = true;
                self.down(cx, at, "its files are missing");
            }
        }
    }

    fn status(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        for (at, unit) in self.state.units.iter().enumerate() {
            let state = match (unit.running, unit.booting, unit.stopped) {
                (_, _, true) => format!("failed ({})", unit.reason),
                (0, 0, _) => "inactive".to_string(),
                (0, _, _) if unit.exits > 0 => format!("activating, last exit: {}", unit.reason),
                (0, _, _) => "activating".to_string(),
                (up, _, _) if unit.squatter != 0 => {
                    format!("degraded, {up} running, cannot bind its port: address in use")
                }
                (up, 0, _) => format!("active, {up} running"),
                (up, more, _) => format!("active, {up} running, {more} starting"),
            };
            let name = format!("unit {}", self.unit_name(at));
            facts.insert(name, format!("{state}, pid {}, {} exits", unit.pid(), unit.exits));
        }
        for stray in &self.state.strays {
            let (cores, mib) = (stray.cpu_cores, stray.memory / 1_048_576.0);
            let text = format!("{}, {cores:.1} cores, {mib:.0} MiB", stray.command);
            facts.insert(format!("process {}", stray.pid), text);
        }
        for (path, file) in &self.state.disk.files {
            let gib = file.size / 1_073_741_824.0;
            let writer = if file.writer == 0 {
                String::new()
            } else {
                format!(", written by process {}", file.writer)
            };
            let text = format!("{gib:.2} GiB, {:.0} inodes{writer}", file.inodes);
            facts.insert(format!("file {path}"), text);
        }
        let disk = &self.state.disk;
        facts.insert("disk".into(), percent(disk.used(), disk.capacity));
        facts.insert("inodes".into(), percent(disk.inodes_used(), disk.inodes));
        facts.insert("clock offset".into(), format!("{:.3} s", self.state.skew_s));
        facts
    }

    fn logs(&self, past: &Past<'_>, query: &Query) -> Vec<LogLine> {
        let Query::Logs { from, to, severity, contains, limit } = query else {
            return Vec::new();
        };
        let line = |c: &telemetry::Change| LogLine {
            tick: c.tick,
            severity: if c.key == EXITS { Severity::Error } else { Severity::Info },
            replica: self.name.clone(),
            message: c.note.clone(),
            trace: 0,
        };
        let lines: Vec<_> = past
            .history
            .changes()
            .iter()
            .filter(|c| !c.note.is_empty() && c.tick >= *from && c.tick < *to)
            .map(line)
            .filter(|l| l.severity >= *severity && l.message.contains(contains.as_str()))
            .collect();
        lines[lines.len().saturating_sub(*limit as usize)..].to_vec()
    }
}

fn percent(used: f64, all: f64) -> String {
    format!("{:.1} % used", 100.0 * used / all.max(1.0))
}

impl Machine for HostMachine {
    fn round(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox) {
        self.run_processes(cx, inbox);
        self.write_files(cx.tick(), cx.delta_s(), inbox);
        let asked: f64 = (0..self.tenants.len()).map(|at| self.need(inbox, at).cpu_cores).sum();
        let stray: f64 = self.state.strays.iter().map(|s| s.cpu_cores).sum();
        let cpu = (self.cpu / (asked + stray).max(1e-9)).min(1.0);
        let base = Grant {
            cpu,
            memory_limit: self.memory,
            disk_free: self.state.disk.free(),
            inodes_free: self.state.disk.inodes_free(),
            skew_s: self.state.skew_s,
            ..Grant::ample(model::InstanceId(0), 0, 0)
        };
        out.grants.clear();
        out.grants
            .extend(self.state.units.iter().zip(&self.tenants).map(|(u, t)| u.grant(t, &base)));
        let disk = &self.state.disk;
        out.row[CPU] = ((asked + stray) / self.cpu).min(1.0);
        out.row[MEMORY] = (self.memory_used(inbox) / self.memory).min(1.0);
        out.row[DISK] = disk.used() / disk.capacity.max(1.0);
        out.row[INODES] = disk.inodes_used() / disk.inodes.max(1.0);
    }

    fn accepts(&self, order: &Order) -> Result<(), Refusal> {
        let args = &order.args;
        let found = match order.verb.as_str() {
            "restart_process" => {
                !self.matching(args.text("instance"), args.text("group")).is_empty()
            }
            "start_unit" => !self.unit_called(args.text("unit")).is_empty(),
            "kill_process" => {
                let pid = args.number("pid") as u32;
                self.state.strays.iter().any(|s| s.pid == pid)
                    || self.state.units.iter().any(|u| u.pid() == pid)
            }
            "free_disk" => !self.state.disk.under(args.text("path")).is_empty(),
            _ => return self.accepts_terminal(order),
        };
        let what = match order.verb.as_str() {
            "restart_process" | "start_unit" => "unit",
            "kill_process" => "process",
            _ => "file",
        };
        let none = || Refusal::because(format!("no such {what} on {}; see its status", self.name));
        if found { Ok(()) } else { Err(none()) }
    }

    fn operate(&mut self, cx: &mut Cx<'_>, order: &Order) {
        let args = &order.args;
        match order.verb.as_str() {
            "restart_process" => {
                for at in self.matching(args.text("instance"), args.text("group")) {
                    self.start(cx, at, "restarted by an operator");
                }
            }
            "start_unit" => {
                for at in self.unit_called(args.text("unit")) {
                    if self.state.units[at].stopped || self.state.units[at].running == 0 {
                        self.start(cx, at, "started by an operator");
                    }
                }
            }
            "kill_process" => self.kill(cx, args.number("pid") as u32),
            "free_disk" => self.free_disk(cx, args.text("path")),
            _ => self.obey_terminal(cx, order),
        }
    }

    fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        let args = &pull.args;
        let path = args.text("path").to_string();
        let now = cx.tick();
        match pull.lever.as_str() {
            "host.clock_skew" => {
                self.state.skew_s = args.number("seconds");
                cx.emit(SKEW, self.state.skew_s, "");
            }
            "host.cpu_hog" => {
                self.stray(now, pull, "backup --compress /var", args.number("cores"), 1e8);
            }
            "host.memory_pressure" => {
                self.stray(now, pull, "report-builder --all", 0.1, args.number("size"));
            }
            "host.disk_fill" => {
                let (rate, size) = (args.number("rate"), args.number("size"));
                let pid = match rate {
                    0.0 => 0,
                    _ => self.stray(now, pull, &format!("tee -a {path}"), 0.05, 1e7),
                };
                let room = self.state.disk.free();
                let of = self.matching(args.text("instance"), "").first().copied();
                let file = self.state.disk.files.entry(path).or_default();
                (file.writer, file.growth, file.modified) = (pid, rate, now);
                file.size += size.min(room);
                file.inodes = file.inodes.max(1.0);
                if let Some(at) = of {
                    let instance = self.tenants[at].instance;
                    let since = disk::LONG_AGO;
                    file.content = FileContent::View { instance, face: Face::Log, since };
                }
            }
            "host.inode_leak" => {
                let pid = self.stray(now, pull, &format!("session-writer {path}"), 0.05, 1e7);
                let folder = File { inodes: 0.0, mode: 0o755, ..File::default() };
                let folder = File { content: FileContent::Folder, ..folder };
                let file = self.state.disk.files.entry(path).or_insert(folder);
                (file.writer, file.files_growth) = (pid, args.number("rate"));
            }
            _ => {
                let squats = pull.lever == "host.port_squat";
                for at in self.matching(args.text("instance"), args.text("group")) {
                    if squats {
                        self.squat(cx, pull, at);
                    } else if self.no_room(at) {
                        self.down(cx, at, NO_ROOM);
                    } else {
                        self.down(cx, at, "signal 11, start limit hit");
                    }
                }
            }
        }
    }

    fn clear(&mut self, cx: &mut Cx<'_>, pull: &LeverPull) {
        let mine: Vec<_> =
            self.state.strays.iter().filter(|s| s.pull == pull.id).map(|s| s.pid).collect();
        for pid in mine {
            self.end_stray(pid);
        }
        if pull.lever == "host.clock_skew" {
            self.state.skew_s = 0.0;
            cx.emit(SKEW, 0.0, "");
        }
    }

    fn read(&self, past: &Past<'_>, query: &Query) -> Answer {
        match query {
            Query::Logs { .. } => Answer::Logs(self.logs(past, query)),
            Query::Config => Answer::Facts(BTreeMap::from([
                ("cpu".into(), format!("{} cores", self.cpu)),
                ("memory".into(), format!("{:.0} MiB", self.memory / 1_048_576.0)),
            ])),
            Query::Host => Answer::Host(Box::new(self.view(past))),
            _ => Answer::Facts(self.status()),
        }
    }

    fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        let disk = &self.state.disk;
        facts.insert("disk_free_bytes".into(), disk.free());
        facts.insert("inodes_free".into(), disk.inodes_free());
        facts.insert("data_lost_bytes".into(), self.state.data_lost);
        facts.insert("strays".into(), self.state.strays.len() as f64);
        facts.insert("process_exits".into(), f64::from(self.state.exits));
        let down = self.state.units.iter().filter(|u| u.running == 0).count();
        facts.insert("units_down".into(), down as f64);
    }

    fn plan(&self, _past: &Past<'_>, hop: &Hop, _replies: &[HopReply]) -> Next {
        Next::Settle(HopReply {
            code: Code::Ok,
            latency_s: 0.000_2_f64.min(hop.deadline_s),
            message: String::new(),
            spans: Vec::new(),
        })
    }

    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        encode("host", &self.state)
    }

    fn digest(&self) -> Result<Digest, SnapshotError> {
        machine::digest("host", &self.state)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.state = decode("host", bytes)?;
        Ok(())
    }

    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
