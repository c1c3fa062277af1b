//! Keeps worker threads awake during a frame.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Longest wait for the workers to start. Loops follow each other faster than either of these times.
const START_TIMEOUT: Duration = Duration::from_micros(100);
/// Longest time that a worker polls without finding a task.
const IDLE_TIMEOUT: Duration = Duration::from_micros(500);

/// Runs `work` on a thread of the pool while the other workers poll for tasks. Otherwise they would fall asleep between
/// two loops, and waking them takes longer than many loops do.
pub(crate) fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let watch = Watch::default();
    rayon::scope(|scope| {
        let (own, watch) = (rayon::current_thread_index(), &watch);
        scope.spawn_broadcast(move |_, thread| {
            if own != Some(thread.index()) {
                watch.poll();
            }
        });
        watch.begin(rayon::current_num_threads() - 1);
        let _end = End(watch);
        work()
    })
}

/// State shared by the polling workers.
#[derive(Default)]
struct Watch {
    started: AtomicUsize,
    has_begun: AtomicBool,
    is_over: AtomicBool,
}

impl Watch {
    /// Waits for `others` workers to start, but not long: they may be busy.
    fn begin(&self, others: usize) {
        let start = Instant::now();
        while self.started.load(SeqCst) < others && start.elapsed() < START_TIMEOUT {
            std::hint::spin_loop();
        }
        self.has_begun.store(true, SeqCst);
    }

    /// Executes tasks until `work` is done or there has been none for a while.
    fn poll(&self) {
        self.started.fetch_add(1, SeqCst);
        // A late thread may have been stolen from inside `work`; waiting here would deadlock.
        if self.has_begun.load(SeqCst) {
            return;
        }
        let mut last = Instant::now();
        while !self.is_over.load(SeqCst) && last.elapsed() < IDLE_TIMEOUT {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => last = Instant::now(),
                // Leaves the core to other programs.
                _ => std::thread::yield_now(),
            }
        }
    }
}

/// Stops the polling when dropped, also on a panic.
struct End<'a>(&'a Watch);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// A sum over many small loops within a loop, so that threads wait for each other inside them.
    fn sum(n: u64) -> u64 {
        let row = |k: u64| (0..n).into_par_iter().map(|j| j * k).sum::<u64>() / n.max(1);
        (0..n).into_par_iter().map(|k| 2 * row(k) + k).sum()
    }

    #[test]
    fn work_within_work_comes_to_its_end_for_any_number_of_threads() {
        let expected = sum(60);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..300 {
                assert_eq!(pool.install(|| awake(|| sum(60))), expected);
            }
            // Several calls at a time.
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| (0..100).for_each(|_| assert_eq!(pool.install(|| awake(|| sum(60))), expected)));
                }
            });
        }
    }

    #[test]
    fn a_panic_goes_through() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let work = || pool.install(|| awake(|| panic!("meant to")));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(outcome.is_err());
    }
}
