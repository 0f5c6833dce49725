//! What machine the figures are from.

use std::fs;

/// One line: processor, cores, memory, system, build.
pub(super) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "processor".into());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(String::new(), |kib| format!(", {:.0} GiB", kib / 1_048_576.0));
    let build = if cfg!(debug_assertions) { "debug build" } else { "release build" };
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{processor}, {cores} cores{memory}, {os} {arch}, {build}")
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// Load of the machine over the last minute, where the system tells it.
pub(super) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Resident memory of this process, bytes, where the system tells it.
pub(super) fn resident() -> Option<f64> {
    let text = field("/proc/self/status", "VmRSS")?;
    let kib: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1024.0 * kib)
}

/// Processor time of all threads of a process, seconds, where the system tells it.
pub(super) fn cpu(process: u32) -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e9)
}
