//! How long parts of a step take.

use std::time::Instant;

/// Times stages.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    stages: Vec<(&'static str, f64)>,
    now: Option<(usize, Instant)>,
}

impl Clock {
    /// Ends the stage before and begins `stage`, which may have been entered before.
    pub fn enter(&mut self, stage: &'static str) {
        let now = Instant::now();
        if let Some((k, start)) = self.now {
            self.stages[k].1 += (now - start).as_secs_f64();
        }
        let k = self.stages.iter().position(|s| s.0 == stage).unwrap_or_else(|| {
            self.stages.push((stage, 0.0));
            self.stages.len() - 1
        });
        self.now = Some((k, now));
    }

    /// Stages and the seconds each took.
    pub fn take(mut self) -> Vec<(&'static str, f64)> {
        self.enter("end");
        self.stages.retain(|s| s.0 != "end");
        self.stages
    }
}
