//! The file system of a host: files by path, growing ones, inodes, and files without a path that
//! somebody still has open. One fact, one owner: a database has no disk of its own.

use model::{FileContent, Tick};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Share of its size that a compressed file has.
const COMPRESSED: f64 = 0.05;

/// Bytes of all texts that are kept; what is over is counted and means nothing to a reader.
const TEXTS_MAX: usize = 1 << 20;

/// One file or folder of small files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Position of the unit that has it open, if any.
    pub(crate) unit: Option<u32>,
    /// Removing it destroys data that somebody needs.
    pub(crate) precious: bool,
    pub(crate) owner: String,
    pub(crate) mode: u32,
    pub(crate) modified: Tick,
    pub(crate) content: FileContent,
}

impl Default for File {
    fn default() -> Self {
        File {
            size: 0.0,
            inodes: 1.0,
            growth: 0.0,
            files_growth: 0.0,
            writer: 0,
            unit: None,
            precious: false,
            owner: "root".into(),
            mode: 0o644,
            modified: LONG_AGO,
            content: FileContent::Opaque,
        }
    }
}

/// Before every episode.
pub(crate) const LONG_AGO: Tick = Tick(-86_400);

/// A file that was removed while it was open: it takes space until its last handle is closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Orphan {
    /// Where it was.
    pub(crate) path: String,
    /// Generation of the unit that has it open; a later one has closed it.
    pub(crate) generation: u32,
    pub(crate) file: File,
}

/// The file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Disk {
    pub(crate) capacity: f64,
    pub(crate) inodes: f64,
    pub(crate) files: BTreeMap<String, File>,
    pub(crate) orphans: Vec<Orphan>,
}

impl Disk {
    pub(crate) fn new(capacity: f64, inodes: f64, files: BTreeMap<String, File>) -> Disk {
        Disk { capacity, inodes, files, orphans: Vec::new() }
    }

    fn all(&self) -> impl Iterator<Item = &File> {
        self.files.values().chain(self.orphans.iter().map(|o| &o.file))
    }

    pub(crate) fn used(&self) -> f64 {
        self.all().map(|f| f.size).sum::<f64>().min(self.capacity)
    }

    pub(crate) fn inodes_used(&self) -> f64 {
        self.all().map(|f| f.inodes).sum::<f64>().min(self.inodes)
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

    /// Everything that grows does so for `delta_s`, in path order; `paused` writers wait.
    pub(crate) fn grow(&mut self, now: Tick, delta_s: f64, paused: impl Fn(u32) -> bool) {
        let (mut free, mut inodes) = (self.free(), self.inodes_free());
        let open = self.files.values_mut().chain(self.orphans.iter_mut().map(|o| &mut o.file));
        for file in open.filter(|f| f.writer != 0 && !paused(f.writer)) {
            let bytes = (file.growth * delta_s).min(free);
            let files = (file.files_growth * delta_s).min(inodes);
            file.size += bytes + files * 512.0_f64.min(free);
            file.inodes += files;
            file.modified = now;
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

    /// Whether `path` is a file, a folder or above one.
    pub(crate) fn exists(&self, path: &str) -> bool {
        path == "/" || !self.under(path).is_empty()
    }

    /// The writer `pid` is gone: its files stay, and stop growing; those without a path go.
    pub(crate) fn writer_died(&mut self, pid: u32) {
        for file in self.files.values_mut().filter(|f| f.writer == pid) {
            file.writer = 0;
        }
        self.orphans.retain(|o| o.file.writer != pid);
    }

    /// Forgets files without a path that no unit has open any more.
    pub(crate) fn close_orphans(&mut self, generation: impl Fn(u32) -> u32) {
        self.orphans.retain(|o| o.file.unit.is_none_or(|unit| generation(unit) == o.generation));
    }

    /// Takes `path` out of the tree. Somebody may have it open still: then its bytes stay.
    pub(crate) fn unlink(&mut self, path: &str, generation: impl Fn(u32) -> u32) -> Option<File> {
        let file = self.files.remove(path)?;
        if file.writer != 0 || (file.unit.is_some() && !file.precious) {
            let generation = file.unit.map_or(0, generation);
            let orphan = Orphan { path: path.into(), generation, file: file.clone() };
            self.orphans.push(orphan);
        }
        Some(file)
    }

    /// Cuts `path` to `size` bytes; a longer size makes a hole, which takes no space.
    pub(crate) fn truncate(&mut self, now: Tick, path: &str, size: f64) {
        let file = self.files.entry(path.into()).or_default();
        file.size = file.size.min(size);
        file.inodes = file.inodes.min(1.0);
        file.modified = now;
        match &mut file.content {
            FileContent::Text(text) => {
                let mut end = (size as usize).min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.truncate(end);
            }
            FileContent::View { since, .. } => *since = now,
            FileContent::Opaque if size == 0.0 => file.content = FileContent::Text(String::new()),
            FileContent::Opaque | FileContent::Folder => {}
        }
    }

    /// Writes `text` into `path`, which is made if it is not there.
    pub(crate) fn write(&mut self, now: Tick, path: &str, text: &str, append: bool) {
        if !append {
            self.truncate(now, path, 0.0);
        }
        let free = self.free();
        let room = self.texts() + text.len() <= TEXTS_MAX;
        let file = self.files.entry(path.into()).or_insert_with(|| File {
            content: FileContent::Text(String::new()),
            ..File::default()
        });
        file.size += (text.len() as f64).min(free);
        file.modified = now;
        match &mut file.content {
            FileContent::Text(old) if room => old.push_str(text),
            FileContent::Text(_) => file.content = FileContent::Opaque,
            _ => {}
        }
    }

    /// Bytes of all texts that are kept.
    fn texts(&self) -> usize {
        let length = |file: &File| match &file.content {
            FileContent::Text(text) => text.len(),
            _ => 0,
        };
        self.all().map(length).sum()
    }

    /// Moves a file, or all files of a folder; what was at `to` loses its path.
    pub(crate) fn rename(&mut self, from: &str, to: &str, generation: impl Fn(u32) -> u32) {
        for path in self.under(from) {
            let target = format!("{to}{}", &path[from.trim_end_matches('/').len()..]);
            self.unlink(&target, &generation);
            if let Some(file) = self.files.remove(&path) {
                self.files.insert(target, file);
            }
        }
    }

    /// Copies a file as far as there is room; nobody has the copy open.
    pub(crate) fn copy(&mut self, now: Tick, from: &str, to: &str, factor: f64) {
        let Some(source) = self.files.get(from).cloned() else { return };
        self.truncate(now, to, 0.0);
        let size = (source.size * factor).min(self.free());
        let kept = factor >= 1.0 && self.texts() + source.size as usize <= TEXTS_MAX;
        let content = match source.content {
            FileContent::Text(text) if kept => FileContent::Text(text),
            FileContent::View { .. } if factor >= 1.0 => source.content,
            _ => FileContent::Opaque,
        };
        let kept = File { size, content, mode: source.mode, modified: now, ..File::default() };
        let owner = self.files.get(to).map_or("root".into(), |f| f.owner.clone());
        self.files.insert(to.into(), File { owner, ..kept });
    }

    /// Puts a compressed copy beside `path`, under `to`, and removes `path`.
    pub(crate) fn compress(&mut self, now: Tick, from: &str, to: &str) {
        self.copy(now, from, to, COMPRESSED);
    }

    /// Bytes that compressing `path` takes at first.
    pub(crate) fn compressed_size(&self, path: &str) -> f64 {
        self.files.get(path).map_or(0.0, |f| f.size * COMPRESSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> Disk {
        Disk::new(100.0, 10.0, BTreeMap::new())
    }

    #[test]
    fn a_folder_means_the_files_in_it() {
        let mut disk = disk();
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
        let mut disk = disk();
        let debug = File { size: 10.0, growth: 40.0, writer: 7, ..File::default() };
        disk.files.insert("/var/log/debug.log".into(), debug);
        disk.grow(Tick(0), 1.0, |_| false);
        assert_eq!(disk.free(), 50.0);
        disk.grow(Tick(0), 10.0, |_| false);
        assert_eq!((disk.free(), disk.used()), (0.0, 100.0));
        disk.writer_died(7);
        disk.files.get_mut("/var/log/debug.log").unwrap().size = 0.0;
        disk.grow(Tick(0), 10.0, |_| false);
        assert_eq!(disk.used(), 0.0);
    }

    #[test]
    fn a_removed_file_keeps_its_space_until_nobody_has_it_open() {
        let mut disk = disk();
        let open = File { size: 40.0, writer: 7, ..File::default() };
        disk.files.insert("/a".into(), open);
        let unit = File { size: 30.0, unit: Some(2), ..File::default() };
        disk.files.insert("/b".into(), unit);
        disk.unlink("/a", |_| 0);
        disk.unlink("/b", |_| 5);
        assert_eq!((disk.used(), disk.files.len()), (70.0, 0));
        disk.writer_died(7);
        assert_eq!(disk.used(), 30.0);
        disk.close_orphans(|_| 5);
        assert_eq!(disk.used(), 30.0);
        disk.close_orphans(|_| 6);
        assert_eq!(disk.used(), 0.0);
    }

    #[test]
    fn emptying_an_open_file_frees_its_space_at_once() {
        let mut disk = disk();
        let open = File { size: 40.0, writer: 7, ..File::default() };
        disk.files.insert("/a".into(), open);
        disk.truncate(Tick(9), "/a", 0.0);
        assert_eq!((disk.used(), disk.files["/a"].writer), (0.0, 7));
    }

    #[test]
    fn moving_keeps_handles_and_copying_does_not() {
        let mut disk = disk();
        let open = File { size: 40.0, writer: 7, ..File::default() };
        disk.files.insert("/d/a".into(), open);
        disk.rename("/d", "/e", |_| 0);
        disk.copy(Tick(3), "/e/a", "/c", 1.0);
        assert_eq!((disk.files["/e/a"].writer, disk.files["/c"].writer), (7, 0));
        assert_eq!(disk.used(), 80.0);
        disk.copy(Tick(3), "/e/a", "/f", 1.0);
        assert_eq!(disk.files["/f"].size, 20.0, "as far as there is room");
    }
}
