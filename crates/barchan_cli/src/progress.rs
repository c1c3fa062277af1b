//! A bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how much of a long work is done.
pub struct Progress {
    what: &'static str,
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
}

const STEPS: u64 = 1000;
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    pub fn new(what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %  {elapsed} (left {eta})")
                .expect("a valid template")
                .progress_chars("=> ");
            ProgressBar::new(STEPS).with_style(style).with_message(what)
        });
        Self {
            what,
            bar,
            last_line: Mutex::new(Instant::now()),
        }
    }

    /// `share` of the work is done, 0 to 1.
    pub fn tell(&self, share: f64) {
        if let Some(bar) = &self.bar {
            bar.set_position((share * STEPS as f64) as u64);
        } else if let Ok(mut last) = self.last_line.try_lock()
            && last.elapsed() > LINE_EVERY
        {
            *last = Instant::now();
            tell!("{}: {:.0} %", self.what, 100.0 * share);
        }
    }
}

impl Progress {
    /// Something that is worth a line of its own.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => tell!("{line}"),
        }
    }

    /// A frame is done.
    pub fn tell_frame(&self, now: &barchan::running::Progress) {
        if let Some(bar) = &self.bar {
            let barchan::running::Progress { guides, grains, .. } = now;
            bar.set_message(format!(
                "frame {}/{}, {guides} guides {:.1} ms, {grains} grains {:.1} ms",
                now.frame, now.frames, now.guide_ms, now.grain_ms
            ));
        }
        self.tell(now.frame as f64 / now.frames.max(1) as f64);
    }

    /// Part `done` of `all` begins, which is called `what`.
    pub fn tell_part(&self, what: &str, done: usize, all: usize) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{what} ({} of {all})", done + 1)),
            None => tell!("{} of {all}: {what}", done + 1),
        }
        self.tell(done as f64 / all.max(1) as f64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
