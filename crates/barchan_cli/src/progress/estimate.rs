//! Estimates the time left from the speed of the last seconds.

use std::collections::VecDeque;

/// Length of the window that the speed is taken from [s].
const WINDOW: f64 = 5.0;
/// Shortest time from which a speed is estimated [s].
const MIN_TIME: f64 = 1.0;
/// Fewest samples from which a speed is estimated.
const MIN_SAMPLES: usize = 3;
/// Number of samples from which on the longest gap between two of them is ignored.
const SAMPLES_WITH_STALL: usize = 6;
/// Smallest time between two samples [s].
const SAMPLE_INTERVAL: f64 = 0.05;

/// Samples of the completed share over time. The second sample starts the clock, so that a slow first frame does not
/// count.
#[derive(Default)]
pub struct Estimate {
    /// Time [s] and completed share [-], oldest first.
    samples: VecDeque<(f64, f64)>,
    /// The latest sample, stored or not.
    latest: (f64, f64),
    has_begun: bool,
}

impl Estimate {
    /// Records that `share` of the work, 0 to 1, is done at time `now` [s].
    pub fn note(&mut self, now: f64, share: f64) {
        self.latest = (now, share);
        if !std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        if self.samples.back().is_some_and(|last| now - last.0 < SAMPLE_INTERVAL) {
            return;
        }
        self.samples.push_back((now, share));
        // After a stall longer than the window, enough samples remain to recognize it.
        while self.samples.len() > SAMPLES_WITH_STALL && now - self.samples[1].0 >= WINDOW {
            self.samples.pop_front();
        }
    }

    /// Returns the time left [s]; `None` while there are too few samples.
    pub fn left(&self) -> Option<f64> {
        let (start, before) = *self.samples.front()?;
        let (now, share) = self.latest;
        let (mut spent, mut done) = (now - start, share - before);
        // A single stall, such as a full disk buffer, does not affect the estimate.
        if self.samples.len() >= SAMPLES_WITH_STALL {
            let steps = self.samples.iter().zip(self.samples.iter().skip(1));
            let steps = steps.map(|(a, b)| (b.0 - a.0, b.1 - a.1));
            let (longest, its_share) = steps.fold((0.0, 0.0), |most, step| if step.0 > most.0 { step } else { most });
            (spent, done) = (spent - longest, done - its_share);
        }
        let is_known = self.samples.len() >= MIN_SAMPLES && spent >= MIN_TIME && done > 0.0;
        is_known.then(|| (1.0 - share).max(0.0) * spent / done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records a sample after each of `frames`, which take `seconds(k)` each.
    fn after(frames: u32, of: u32, seconds: impl Fn(u32) -> f64) -> Option<f64> {
        let mut estimate = Estimate::default();
        let mut now = 0.0;
        estimate.note(now, 0.0);
        for k in 0..frames {
            now += seconds(k);
            estimate.note(now, f64::from(k + 1) / f64::from(of));
        }
        estimate.left()
    }

    #[test]
    fn a_steady_pace_is_met_exactly() {
        for seconds in [0.001, 0.1, 3.0, 100.0_f64] {
            let frames = (3.0 / seconds).max(4.0) as u32;
            let left = after(frames, 10_000, |_| seconds).unwrap();
            let expected = f64::from(10_000 - frames) * seconds;
            assert!((left - expected).abs() < 1e-6 * expected, "{left} s, not {expected} s");
        }
    }

    #[test]
    fn a_slow_first_frame_does_not_count() {
        assert_eq!(after(1, 60, |_| 22.0), None);
        assert_eq!(after(2, 60, |_| 22.0), None);
        let left = after(20, 60, |k| if k == 0 { 22.0 } else { 0.1 }).unwrap();
        assert!((left - 4.0).abs() < 1e-6, "{left} s");
    }

    #[test]
    fn a_change_of_pace_is_followed_within_seconds() {
        // 300 frames of 0.1 s, then frames of 0.5 s: after 12 of these, only they count.
        let left = after(312, 1000, |k| if k < 300 { 0.1 } else { 0.5 }).unwrap();
        assert!((left - 688.0 * 0.5).abs() < 1.0, "{left} s");
    }

    #[test]
    fn a_single_stall_does_not_count() {
        let left = after(60, 100, |k| if k == 50 { 30.0 } else { 0.2 }).unwrap();
        assert!((left - 40.0 * 0.2).abs() < 1e-6, "{left} s");
    }

    #[test]
    fn a_stall_longer_than_the_window_does_not_count() {
        for frames in 40..44 {
            let left = after(frames, 1080, |k| if k == 38 { 20.0 } else { 0.3 }).unwrap();
            let expected = f64::from(1080 - frames) * 0.3;
            assert!((left / expected - 1.0).abs() < 0.1, "{left} s, not {expected} s");
        }
    }

    #[test]
    fn nothing_is_told_before_a_second_or_when_nothing_moves() {
        assert_eq!(after(100, 1000, |_| 0.001), None);
        assert_eq!(Estimate::default().left(), None);
        let mut estimate = Estimate::default();
        (0..9).for_each(|k| estimate.note(f64::from(k), 0.3));
        assert_eq!(estimate.left(), None);
    }
}
