//! Progress of long work: one line on a terminal, plain lines elsewhere.

mod estimate;
mod line;

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use barchan::Phase;
use console::Term;
use indicatif::{ProgressBar, ProgressStyle};

use estimate::Estimate;
pub use line::duration;
use line::{Line, compact};

/// Shows the progress of one task, and clears its line when dropped.
pub struct Progress(Arc<Shared>);

/// Part of a [`Progress`] that other threads may hold.
pub struct Shared {
    what: &'static str,
    bar: Option<ProgressBar>,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    estimate: Estimate,
    /// Time of the last plain line.
    last_line: Instant,
    phase: Option<&'static str>,
    is_drawn: bool,
}

/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Time between two turns of the activity mark.
const TICK: Duration = Duration::from_millis(200);
/// Columns of that mark and the space after it.
const MARK: usize = 2;
/// Assumed columns of a terminal that does not report its size.
const USUAL_WIDTH: usize = 80;

impl Progress {
    pub fn new(what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}")
                .expect("a valid template")
                .tick_chars("|/-\\ ");
            ProgressBar::new_spinner().with_style(style)
        });
        let start = Instant::now();
        Self(Arc::new(Shared {
            what,
            bar,
            start,
            state: Mutex::new(State {
                estimate: Estimate::default(),
                last_line: start,
                phase: None,
                is_drawn: false,
            }),
        }))
    }

    /// Discards the measured speed: the following work has another pace.
    pub fn change_pace(&self) {
        self.0.state().estimate = Estimate::default();
    }

    /// Shows that `share` of the work is done, 0 to 1.
    pub fn show_share(&self, share: f64) {
        self.0.show(
            Some(share),
            Line {
                head: format!("{} {:.0} %", self.0.what, (100.0 * share).floor()),
                ..Line::default()
            },
        );
    }

    /// Shows that `done` of `all` frames are done.
    pub fn show_frames(&self, done: u64, all: u64) {
        self.tell_frame_with(done, all, Vec::new());
    }

    /// Shows a finished frame.
    pub fn show_frame(&self, now: &barchan::running::Progress) {
        let mut counts = vec![(now.guides, "guides", now.guide_ms)];
        if now.grains > 0 {
            counts.push((now.grains, "grains", now.grain_ms));
        }
        let timed = counts.iter().map(|(count, what, ms)| {
            let decimals = usize::from(*ms < 9.95);
            format!("{} {what} {ms:.decimals$} ms", compact(*count))
        });
        let bare = counts
            .iter()
            .map(|(count, what, _)| format!("{} {what}", compact(*count)));
        let mut details = vec![bare.collect::<Vec<_>>().join(", ")];
        // Before the first frame there are no timings.
        if now.guide_ms > 0.0 {
            details.insert(0, timed.collect::<Vec<_>>().join(", "));
        }
        self.tell_frame_with(now.frame, now.frames, details);
    }

    fn tell_frame_with(&self, done: u64, all: u64, details: Vec<String>) {
        self.0.show(
            Some(done as f64 / all.max(1) as f64),
            Line {
                head: format!("frame {done}/{all}"),
                details,
                ..Line::default()
            },
        );
    }

    /// Shows a phase before the first frame.
    pub fn show_phase(&self, phase: Phase) {
        let is_new = {
            let mut state = self.0.state();
            state.phase.replace(phase.name()) != Some(phase.name())
        };
        // The first line of a phase is printed at once: the phase may take long.
        if is_new && self.0.bar.is_none() {
            return self.0.plain_line(&phase.to_string());
        }
        self.0.show(
            None,
            Line {
                head: phase.to_string(),
                ..Line::default()
            },
        );
    }

    /// Shows that part `done` of `all`, called `what`, begins.
    pub fn show_part(&self, what: &str, done: usize, all: usize) {
        let line = Line {
            head: format!("{} of {all}: {what}", done + 1),
            share: Some(done as f64 / all.max(1) as f64),
            ..Line::default()
        };
        match &self.0.bar {
            Some(bar) => self.0.draw(bar, &line),
            None => self.0.plain_line(&line.head),
        }
    }

    /// Shows on a terminal that a task without progress reports begins.
    pub fn begin(&self, what: &str) {
        if let Some(bar) = &self.0.bar {
            let head = what.to_owned();
            self.0.draw(
                bar,
                &Line {
                    head,
                    ..Line::default()
                },
            );
        }
    }

    /// Prints a separate line.
    pub fn say(&self, line: &str) {
        self.0.say(line);
    }

    /// Returns the part that an interrupt handler needs to clear the line.
    pub fn shared(&self) -> Arc<Shared> {
        self.0.clone()
    }
}

impl Shared {
    /// Prints a separate line.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell!("{line}")),
            None => tell!("{line}"),
        }
    }

    /// Clears the line on the terminal.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Returns the name of the current phase before the first frame.
    pub fn phase(&self) -> Option<&'static str> {
        self.state().phase
    }

    /// Shows `line`, with the bar and the time left if `share` of the work is done.
    fn show(&self, share: Option<f64>, mut line: Line) {
        let mut state = self.state();
        if let Some(share) = share {
            state.estimate.note(self.start.elapsed().as_secs_f64(), share);
            line.share = Some(share);
            line.left = state.estimate.left();
        }
        if let Some(bar) = &self.bar {
            drop(state);
            self.draw(bar, &line);
        } else if state.last_line.elapsed() > LINE_EVERY {
            drop(state);
            self.plain_line(&line.plain());
        }
    }

    fn draw(&self, bar: &ProgressBar, line: &Line) {
        bar.set_message(line.fit(self.width()));
        // From the first line on only, so that warnings may be printed before it.
        if !std::mem::replace(&mut self.state().is_drawn, true) {
            bar.enable_steady_tick(TICK);
        }
    }

    fn plain_line(&self, line: &str) {
        self.state().last_line = Instant::now();
        tell!("{line}");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the number of columns of a line: the last one stays free, because some terminals wrap there.
    fn width(&self) -> usize {
        let columns = Term::stderr().size_checked().map(|(_, columns)| usize::from(columns));
        columns.unwrap_or(USUAL_WIDTH).saturating_sub(MARK + 1)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.clear();
    }
}
