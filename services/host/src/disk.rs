//! The file system of a host: files by path, growing ones, and inodes. One fact, one owner: a
//! database has no disk of its own.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One file or folder of small files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct File {
    /// Bytes.
    pub(crate) size: f64,
    /// Inodes it uses.
    pub(crate) inodes: f64,
    /// Bytes per second that something appends while that process lives.
    pub(crate) growth: f64,
    /// Files per second that something creates in it.
    pub(crate) files_growth: f64,
    /// Process that writes it, 0 for none.
    pub(crate) writer: u32,
    /// Removing it destroys data that somebody needs.
    pub(crate) precious: bool,
}

/// The file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Disk {
    pub(crate) capacity: f64,
    pub(crate) inodes: f64,
    pub(crate) files: BTreeMap<String, File>,
}

impl Disk {
    pub(crate) fn used(&self) -> f64 {
        self.files.values().map(|f| f.size).sum::<f64>().min(self.capacity)
    }

    pub(crate) fn inodes_used(&self) -> f64 {
        self.files.values().map(|f| f.inodes).sum::<f64>().min(self.inodes)
    }

    pub(crate) fn free(&self) -> f64 {
        (self.capacity - self.used()).max(0.0)
    }

    pub(crate) fn inodes_free(&self) -> f64 {
        (self.inodes - self.inodes_used()).max(0.0)
    }

    /// Appends `bytes` to `path`, as far as they fit.
    pub(crate) fn append(&mut self, path: &str, bytes: f64) {
        let bytes = bytes.clamp(0.0, self.free());
        if bytes > 0.0
            && let Some(file) = self.files.get_mut(path)
        {
            file.size += bytes;
        }
    }

    /// Everything that grows does so for `delta_s`, in path order.
    pub(crate) fn grow(&mut self, delta_s: f64) {
        let (mut free, mut inodes) = (self.free(), self.inodes_free());
        for file in self.files.values_mut().filter(|f| f.writer != 0) {
            let bytes = (file.growth * delta_s).min(free);
            let files = (file.files_growth * delta_s).min(inodes);
            file.size += bytes + files * 512.0_f64.min(free);
            file.inodes += files;
            free = (free - bytes).max(0.0);
            inodes -= files;
        }
    }

    /// Paths of the file called `path`, or of all files in the folder of that name.
    pub(crate) fn under(&self, path: &str) -> Vec<String> {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mine = self.files.keys().filter(|p| *p == path || p.starts_with(&folder));
        mine.cloned().collect()
    }

    /// The writer `pid` is gone: its files stay, and stop growing.
    pub(crate) fn writer_died(&mut self, pid: u32) {
        for file in self.files.values_mut().filter(|f| f.writer == pid) {
            file.writer = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_means_the_files_in_it() {
        let mut disk = Disk { capacity: 100.0, inodes: 10.0, files: BTreeMap::new() };
        for path in ["/var/log/a.log", "/var/log/b.log", "/var/logs", "/var/lib/db"] {
            disk.files.insert(path.into(), File::default());
        }
        assert_eq!(disk.under("/var/log"), ["/var/log/a.log", "/var/log/b.log"]);
        assert_eq!(disk.under("/var/log/"), ["/var/log/a.log", "/var/log/b.log"]);
        assert_eq!(disk.under("/var/lib/db"), ["/var/lib/db"]);
        assert!(disk.under("/tmp").is_empty());
    }

    #[test]
    fn a_growing_file_fills_the_disk_and_no_more() {
        let mut disk = Disk { capacity: 100.0, inodes: 10.0, files: BTreeMap::new() };
        let debug = File { size: 10.0, growth: 40.0, writer: 7, ..File::default() };
        disk.files.insert("/var/log/debug.log".into(), debug);
        disk.grow(1.0);
        assert_eq!(disk.free(), 50.0);
        disk.grow(10.0);
        assert_eq!((disk.free(), disk.used()), (0.0, 100.0));
        disk.writer_died(7);
        disk.files.get_mut("/var/log/debug.log").unwrap().size = 0.0;
        disk.grow(10.0);
        assert_eq!(disk.used(), 0.0);
    }
}
