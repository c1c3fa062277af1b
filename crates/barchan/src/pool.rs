//! Threads that work on a frame.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Does `work` on a thread of the pool, while the others look for their share of it without falling asleep: between two loops they would,
/// and waking them takes longer than many a loop does.
pub(crate) fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let is_done = AtomicBool::new(false);
    rayon::scope(|scope| {
        let (own, is_done) = (rayon::current_thread_index(), &is_done);
        scope.spawn_broadcast(move |_, thread| {
            while own != Some(thread.index()) && !is_done.load(Relaxed) {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    // Those of other programs may have something to do.
                    std::thread::yield_now();
                }
            }
        });
        let _done = Done(is_done);
        work()
    })
}

/// Tells so when it goes, come what may.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
