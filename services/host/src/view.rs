//! What somebody sees who is logged in to a host.

use crate::layout;
use crate::machine::HostMachine;
use crate::process::{DAEMONS, Unit};
use crate::signals::{CPU, MEMORY};
use machine::Past;
use model::{
    DiskView, FileView, HostView, ProcessState, ProcessView, SocketView, UnitState, UnitView,
};

impl HostMachine {
    pub(crate) fn view(&self, past: &Past<'_>) -> HostView {
        let row = past.history.row(past.now.plus(-1));
        let disk = &self.state.disk;
        HostView {
            name: self.name.clone(),
            now: past.now,
            skew_s: self.state.skew_s,
            cpu_cores: self.cpu,
            cpu_used: row[CPU] * self.cpu,
            memory: self.memory,
            memory_used: row[MEMORY] * self.memory,
            disk: DiskView {
                capacity: disk.capacity,
                used: disk.used(),
                inodes: disk.inodes,
                inodes_used: disk.inodes_used(),
            },
            files: self.file_views(),
            processes: self.process_views(),
            sockets: self.socket_views(),
            units: self.unit_views(),
        }
    }

    fn file_views(&self) -> Vec<FileView> {
        let disk = &self.state.disk;
        let named = disk.files.iter().map(|(path, file)| (path, file, None));
        let orphans = disk.orphans.iter().map(|o| (&o.path, &o.file, Some(o.generation)));
        named
            .chain(orphans)
            .map(|(path, file, orphan)| {
                let mut handles = Vec::new();
                if file.writer != 0 {
                    handles.push(file.writer);
                }
                let unit = file.unit.and_then(|at| self.state.units.get(at as usize));
                handles.extend(unit.filter(|u| u.running > 0).map(Unit::pid));
                FileView {
                    path: path.clone(),
                    size: file.size,
                    inodes: file.inodes,
                    owner: file.owner.clone(),
                    mode: file.mode,
                    modified: file.modified,
                    content: file.content.clone(),
                    handles,
                    deleted: orphan.is_some(),
                }
            })
            .collect()
    }

    fn process_views(&self) -> Vec<ProcessView> {
        let init = ProcessView {
            pid: 1,
            user: "root".into(),
            memory: 1.2e7,
            command: "/sbin/init".into(),
            started: crate::disk::LONG_AGO,
            ..ProcessView::default()
        };
        let mut all = vec![init];
        for daemon in self.state.daemons.iter().filter(|d| d.pid != 0) {
            let (unit, _, _, command) = DAEMONS[daemon.which];
            all.push(ProcessView {
                pid: daemon.pid,
                parent: 1,
                user: "root".into(),
                memory: 8e6,
                command: command.into(),
                started: daemon.since,
                unit: unit.into(),
                ..ProcessView::default()
            });
        }
        for (unit, tenant) in self.state.units.iter().zip(&self.tenants) {
            if unit.running == 0 {
                continue;
            }
            let busy = unit.cpu_cores >= 0.5;
            all.push(ProcessView {
                pid: unit.pid(),
                parent: 1,
                user: layout::user(tenant).into(),
                state: state_of(unit.paused, false, busy),
                cpu_cores: unit.cpu_cores,
                memory: unit.memory * f64::from(unit.running),
                command: layout::command(tenant),
                started: unit.started,
                unit: layout::unit_name(tenant),
            });
        }
        for stray in &self.state.strays {
            all.push(ProcessView {
                pid: stray.pid,
                parent: if stray.zombie_of == 0 { 1 } else { stray.zombie_of },
                user: "root".into(),
                state: state_of(stray.paused, stray.zombie_of != 0, stray.cpu_cores >= 0.5),
                cpu_cores: stray.cpu_cores,
                memory: stray.memory,
                command: stray.command.clone(),
                started: stray.started,
                unit: String::new(),
            });
        }
        all.sort_by_key(|p| p.pid);
        all
    }

    fn socket_views(&self) -> Vec<SocketView> {
        let mut all: Vec<SocketView> = self
            .state
            .daemons
            .iter()
            .filter(|d| d.pid != 0 && DAEMONS[d.which].2 != 0)
            .map(|d| SocketView { port: DAEMONS[d.which].2, pid: d.pid })
            .collect();
        for (unit, port) in self.state.units.iter().zip(layout::ports(&self.tenants)) {
            if unit.squatter != 0 {
                all.push(SocketView { port, pid: unit.squatter });
            } else if unit.running > 0 {
                all.push(SocketView { port, pid: unit.pid() });
            }
        }
        all.sort_by_key(|s| s.port);
        all
    }

    fn unit_views(&self) -> Vec<UnitView> {
        let ports = layout::ports(&self.tenants);
        let mut all = Vec::new();
        for ((unit, tenant), port) in self.state.units.iter().zip(&self.tenants).zip(ports) {
            let state = match (unit.running, unit.booting, unit.stopped) {
                (_, _, true) if unit.reason.is_empty() => UnitState::Inactive,
                (_, _, true) => UnitState::Failed,
                (0, 0, _) => UnitState::Inactive,
                (0, _, _) => UnitState::Activating,
                _ => UnitState::Active,
            };
            all.push(UnitView {
                name: layout::unit_name(tenant),
                instance: Some(tenant.instance),
                group: tenant.group,
                state,
                since: unit.since,
                pid: if unit.running > 0 { unit.pid() } else { 0 },
                running: unit.running,
                exits: unit.exits,
                reason: unit.reason.clone(),
                port,
                command: layout::command(tenant),
            });
        }
        for daemon in &self.state.daemons {
            let (name, _, port, command) = DAEMONS[daemon.which];
            let up = daemon.pid != 0;
            all.push(UnitView {
                name: name.into(),
                state: if up { UnitState::Active } else { UnitState::Inactive },
                since: daemon.since,
                pid: daemon.pid,
                running: u32::from(up),
                port,
                command: command.into(),
                ..UnitView::default()
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

fn state_of(paused: bool, zombie: bool, busy: bool) -> ProcessState {
    match (zombie, paused, busy) {
        (true, ..) => ProcessState::Zombie,
        (_, true, _) => ProcessState::Stopped,
        (.., true) => ProcessState::Running,
        _ => ProcessState::Sleeping,
    }
}
