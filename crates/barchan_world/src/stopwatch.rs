//! Timing of stages.

use std::time::Instant;

/// Seconds spent in each stage of a frame.
#[derive(Debug, Default)]
pub struct Stopwatch {
    stages: Vec<(&'static str, f64)>,
    running: Option<(usize, Instant)>,
}

impl Stopwatch {
    /// Ends the running stage and starts another.
    pub fn enter(&mut self, name: &'static str) {
        self.stop();
        let place = self.stages.iter().position(|stage| stage.0 == name);
        let place = place.unwrap_or_else(|| {
            self.stages.push((name, 0.0));
            self.stages.len() - 1
        });
        self.running = Some((place, Instant::now()));
    }

    fn stop(&mut self) {
        if let Some((place, since)) = self.running.take() {
            self.stages[place].1 += since.elapsed().as_secs_f64();
        }
    }

    /// Returns the stages since the last call, and the seconds spent in each.
    pub fn take(&mut self) -> Vec<(&'static str, f64)> {
        self.stop();
        let stages = self.stages.clone();
        self.stages.iter_mut().for_each(|stage| stage.1 = 0.0);
        stages
    }
}
