//! The same work on many things, on a few threads; the results are in the order of the things.

use crate::console;
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// This many threads, or one per processor.
pub fn threads(asked: Option<usize>) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(processors).max(1)
}

/// A bar on stderr, where a person reads it.
pub fn progress(count: usize, noun: &str) -> ProgressBar {
    if !console::is_watched() || count < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let style =
        ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {noun}, {{eta}} left"));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Does `work` on each of `things`.
///
/// # Errors
/// Where the work panicked: a defect of this program.
pub fn each<T: Sync, R: Send>(
    things: &[T],
    threads: usize,
    noun: &str,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let (next, bar) = (AtomicUsize::new(0), progress(things.len(), noun));
    let slots: Vec<Mutex<Option<R>>> = things.iter().map(|_| Mutex::new(None)).collect();
    let take = || {
        while let Some((thing, slot)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            things.get(at).zip(slots.get(at))
        } {
            let result = work(thing);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            bar.inc(1);
        }
    };
    let whole = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.min(things.len())).map(|_| scope.spawn(take)).collect();
        running.into_iter().all(|thread| thread.join().is_ok())
    });
    bar.finish_and_clear();
    let results = slots.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner));
    match results.collect::<Option<Vec<R>>>().filter(|_| whole) {
        Some(results) => Ok(results),
        None => Err(Failure::failed("a defect of this program ended the work")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_threads() {
        let things: Vec<u64> = (0..50).collect();
        for threads in [1, 4, 100] {
            let squares = each(&things, threads, "things", |n| n * n).unwrap();
            assert_eq!(squares, things.iter().map(|n| n * n).collect::<Vec<_>>());
        }
        assert!(each(&[1, 2], 2, "things", |n| assert!(*n < 2)).is_err());
    }
}
