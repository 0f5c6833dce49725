//! A number that tells one life of a process from another. It serves detection only and never
//! enters a record, so it may come from the clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use model::Digester;

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// A number that no other call, here or in another process, gets.
pub fn draw() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut digester = Digester::default();
    digester.word(u64::from(std::process::id()));
    digester.word(now.as_secs());
    digester.word(u64::from(now.subsec_nanos()));
    digester.word(DRAWN.fetch_add(1, Ordering::Relaxed));
    digester.finish().0
}
