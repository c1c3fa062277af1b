//! Long work without the interpreter's lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::failed;

/// Stack of a working thread [bytes], as that of a program.
const STACK: usize = 8 << 20;
/// Time between two looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Tells long work that it should stop, and the interpreter how it goes.
#[derive(Clone)]
pub struct Control<E> {
    is_stopped: Arc<AtomicBool>,
    events: mpsc::Sender<E>,
}

impl<E> Control<E> {
    /// Returns true once the work should stop.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Passes an event to the interpreter's thread.
    pub fn send(&self, event: E) {
        // Nobody listens after an interrupt.
        let _ = self.events.send(event);
    }
}

/// Reaction of work to an interrupt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The interpreter goes on at once; the thread ends by itself, its result is lost.
    Abandoned,
    /// The interpreter waits until the work has stopped, at most a frame.
    Awaited,
}

/// Does `work` on a thread of its own, so that Ctrl-C is noticed meanwhile. `heed` receives its events. An interrupt, or
/// an error of `heed`, stops the work and is returned.
pub fn interruptible<E: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    ending: Ending,
    heed: &mut dyn FnMut(E) -> PyResult<()>,
    work: impl FnOnce(&Control<E>) -> T + Send + 'static,
) -> PyResult<T> {
    let (events, received) = mpsc::channel();
    let is_stopped = Arc::new(AtomicBool::new(false));
    let control = Control {
        is_stopped: is_stopped.clone(),
        events,
    };
    let thread = thread::Builder::new().name("barchan".to_owned()).stack_size(STACK);
    let thread = thread.spawn(move || work(&control)).map_err(failed)?;
    // `Receiver` may be used by one thread at a time, and only this one has it.
    let received = std::sync::Mutex::new(received);
    loop {
        let event = py.detach(|| match received.lock() {
            Ok(received) => received.recv_timeout(POLL),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        let heeded = match event {
            Ok(event) => heed(event),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Err(error) = heeded.and_then(|()| py.check_signals()) {
            is_stopped.store(true, Ordering::Relaxed);
            if ending == Ending::Awaited {
                // The interrupt is what to report, not how the work ended.
                let _ = py.detach(|| thread.join());
            }
            return Err(error);
        }
    }
    py.detach(|| thread.join())
        .map_err(|panic| failed(format!("internal error: {}", panic_text(&*panic))))
}

/// Ignores the events of work that has none.
pub fn quiet(_: ()) -> PyResult<()> {
    Ok(())
}

/// Returns the message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}
