//! Ctrl-C: stops the program at once while it builds, and after the current frame later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::progress::{Progress, Shared};

/// Exit code of work that was stopped before it had a result.
const NOTHING_DONE: i32 = 1;

/// Handles Ctrl-C from its creation on.
pub struct Interrupt {
    flags: Arc<Flags>,
}

#[derive(Default)]
struct Flags {
    has_frames: AtomicBool,
    is_requested: AtomicBool,
}

impl Interrupt {
    pub fn listen(progress: &Progress) -> Result<Self, Failure> {
        let flags = Arc::new(Flags::default());
        let (seen, shown) = (flags.clone(), progress.shared());
        ctrlc::set_handler(move || seen.interrupt(&shown))
            .map_err(|reason| Failure::run(format!("cannot listen for Ctrl-C: {reason}")))?;
        Ok(Self { flags })
    }

    /// Makes Ctrl-C wait for the end of a frame from now on.
    pub fn begin_frames(&self) {
        self.flags.has_frames.store(true, Ordering::Relaxed);
    }

    /// Returns true once the work should stop.
    pub fn is_requested(&self) -> bool {
        self.flags.is_requested.load(Ordering::Relaxed)
    }
}

impl Flags {
    fn interrupt(&self, shown: &Shared) {
        let is_first = !self.is_requested.swap(true, Ordering::Relaxed);
        // Before the first frame there is nothing to finish, and settling may take long.
        if !self.has_frames.load(Ordering::Relaxed) {
            shown.clear();
            let phase = shown.phase().unwrap_or("reading the scene");
            tell!("stopped while {phase}, before the first frame");
            std::process::exit(NOTHING_DONE);
        }
        if is_first {
            shown.say("stopping after the current frame; press Ctrl-C again to stop at once");
        } else {
            shown.clear();
            tell!("stopped at once; finished frames are kept");
            std::process::exit(NOTHING_DONE);
        }
    }
}
