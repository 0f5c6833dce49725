//! The history of one instance: one packed row a tick and a list of changes, kept for the whole
//! episode and never downsampled. Full chunks are shared between forks, so a fork is cheap.

use model::{COLUMNS_MAX, Digest, Digester, Tick};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::column::unpack;

/// One packed row.
pub type Row = [u16; COLUMNS_MAX];

const CHUNK_ROWS: usize = 64;

/// A value that changed by an order, lever, grant or breaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub tick: Tick,
    /// What, in the numbering of the kind.
    pub key: u16,
    /// Its value from then on.
    pub value: f64,
    /// A sentence for the list of changes that monitoring shows; empty: not shown there.
    pub note: String,
}

/// Values of all changed keys at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Levels(BTreeMap<u16, f64>);

impl Levels {
    /// The value of `key`, or `default` where it never changed.
    pub fn get(&self, key: u16, default: f64) -> f64 {
        self.0.get(&key).copied().unwrap_or(default)
    }

    /// Takes a change over.
    pub fn apply(&mut self, change: &Change) {
        self.0.insert(change.key, change.value);
    }
}

/// 64 rows by column. In a calm world most columns do not move for a minute: such a one is kept as
/// a single value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Chunk {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Column {
    Constant(u16),
    Moving(Box<[u16]>),
}

impl Chunk {
    /// From rows of `width` codes one after another.
    fn new(rows: &[u16], width: usize) -> Chunk {
        let column = |at: usize| {
            let codes: Box<[u16]> = rows.iter().skip(at).step_by(width).copied().collect();
            let constant = codes.windows(2).all(|pair| pair[0] == pair[1]);
            if constant { Column::Constant(codes[0]) } else { Column::Moving(codes) }
        };
        Chunk { columns: (0..width).map(column).collect() }
    }

    fn code(&self, row: usize, column: usize) -> u16 {
        match &self.columns[column] {
            Column::Constant(code) => *code,
            Column::Moving(codes) => codes[row],
        }
    }
}

/// Rows and changes of one instance since its first tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    start: Tick,
    width: usize,
    full: Vec<Arc<Chunk>>,
    open: Vec<u16>,
    changes: Vec<Change>,
    rolling: Digester,
}

impl History {
    /// An empty history of `width` columns whose first row is for `start`.
    pub fn new(start: Tick, width: usize) -> History {
        let width = width.clamp(1, COLUMNS_MAX);
        let open = Vec::with_capacity(CHUNK_ROWS * width);
        let (full, changes) = (Vec::new(), Vec::new());
        History { start, width, full, open, changes, rolling: Digester::default() }
    }

    /// The first tick after the last row.
    pub fn end(&self) -> Tick {
        let rows = self.full.len() * CHUNK_ROWS + self.open.len() / self.width;
        self.start.plus(rows as i64)
    }

    /// The first tick.
    pub fn start(&self) -> Tick {
        self.start
    }

    /// Appends the row of tick [`History::end`] and the changes that happened in it.
    pub fn push(&mut self, row: &Row, changes: &[Change]) {
        for code in &row[..self.width] {
            self.open.push(*code);
        }
        for four in row.chunks(4) {
            let word = four.iter().fold(0u64, |word, code| word << 16 | u64::from(*code));
            self.rolling.word(word);
        }
        for change in changes {
            self.rolling.word(change.tick.0 as u64);
            self.rolling.word(u64::from(change.key));
            self.rolling.float(change.value);
            self.rolling.bytes(change.note.as_bytes());
        }
        self.changes.extend_from_slice(changes);
        if self.open.len() == CHUNK_ROWS * self.width {
            self.full.push(Arc::new(Chunk::new(&self.open, self.width)));
            self.open.clear();
        }
    }

    /// The row of `tick`, unpacked; before the first row all zeros, after the last the last one.
    pub fn row(&self, tick: Tick) -> [f64; COLUMNS_MAX] {
        let mut row = [0.0; COLUMNS_MAX];
        let last = self.end().plus(-1);
        if last < self.start || tick < self.start {
            return row;
        }
        let at = tick.min(last).since(self.start) as usize;
        let within = at % CHUNK_ROWS;
        let chunk = self.full.get(at / CHUNK_ROWS);
        for (column, value) in row.iter_mut().enumerate().take(self.width) {
            let open = || self.open[within * self.width + column];
            *value = unpack(chunk.map_or_else(open, |chunk| chunk.code(within, column)));
        }
        row
    }

    /// All changes, oldest first.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The value of `key` at the end of `tick`, or `default`.
    pub fn level(&self, key: u16, tick: Tick, default: f64) -> f64 {
        let known = self.changes.partition_point(|c| c.tick <= tick);
        let found = self.changes[..known].iter().rev().find(|c| c.key == key);
        found.map_or(default, |c| c.value)
    }

    /// The values of all keys at the end of `tick`.
    pub fn levels(&self, tick: Tick) -> Levels {
        let mut levels = Levels::default();
        self.changes.iter().take_while(|c| c.tick <= tick).for_each(|c| levels.apply(c));
        levels
    }

    /// Digest of everything ever pushed; its cost does not grow with the episode.
    pub fn digest(&self) -> Digest {
        self.rolling.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::pack;

    fn filled(rows: usize) -> History {
        let mut history = History::new(Tick(-10), 2);
        for at in 0..rows {
            let mut row = [0; COLUMNS_MAX];
            row[0] = pack(at as f64);
            row[1] = pack(0.5);
            let note = String::new();
            let change = Change { tick: Tick(at as i64 - 10), key: 3, value: at as f64, note };
            let changes = if at % 50 == 7 { vec![change] } else { vec![] };
            history.push(&row, &changes);
        }
        history
    }

    #[test]
    fn rows_and_levels_come_back_across_chunks() {
        let history = filled(200);
        assert_eq!(history.end(), Tick(190));
        assert_eq!(history.row(Tick(-10))[..3], [0.0, 0.5, 0.0]);
        assert_eq!(history.row(Tick(120))[0], 130.0);
        assert_eq!(history.row(Tick(500))[0], unpack(pack(199.0)));
        assert_eq!(history.row(Tick(-11))[1], 0.0);
        assert_eq!(history.level(3, Tick(-4), -1.0), -1.0);
        assert_eq!(history.level(3, Tick(-3), -1.0), 7.0);
        assert_eq!(history.level(3, Tick(99), -1.0), 107.0);
        assert_eq!(history.levels(Tick(46)).get(3, 0.0), 7.0);
    }

    #[test]
    fn the_digest_depends_on_every_row_and_change() {
        let (a, mut b) = (filled(100), filled(100));
        assert_eq!(a.digest(), b.digest());
        b.push(&[0; COLUMNS_MAX], &[]);
        assert_ne!(a.digest(), b.digest());
        let mut c = filled(99);
        let mut row = [0; COLUMNS_MAX];
        row[0] = pack(99.0);
        row[1] = pack(0.25);
        c.push(&row, &[]);
        assert_ne!(a.digest(), c.digest());
    }
}
