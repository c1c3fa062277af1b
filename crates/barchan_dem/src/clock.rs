use std::time::Instant;

/// Seconds spent in each stage.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    stages: Vec<(&'static str, f64)>,
    running: Option<(usize, Instant)>,
}

impl Clock {
    /// Ends the running stage and starts another.
    pub(crate) fn enter(&mut self, name: &'static str) {
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

    /// The stages since the last time.
    pub(crate) fn take(&mut self) -> Vec<(&'static str, f64)> {
        self.stop();
        let stages = self.stages.clone();
        self.stages.iter_mut().for_each(|stage| stage.1 = 0.0);
        stages
    }
}
