//! Criteria of rest, for sleeping.

use glam::Vec3;

/// A guide that stays within this distance, as a fraction of its spacing [-], for this time [s], is at rest: resting
/// sand jitters about its position.
const REST_DISTANCE: f32 = 0.1;
const REST_TIME: f32 = 0.5;
/// Speed above which a guide keeps all others awake, as a fraction of √(g d) [-]: a fall by a fifth of the spacing
/// exceeds it.
const WAKE_SPEED: f32 = 0.6;
/// Share of the guides that must be at rest [-]: on the surface, which bears no load, some always jitter.
const RESTING_SHARE: f32 = 0.85;

/// Speed below which a guide may sleep alone, in units of √(g d) [-], and the net acceleration that wakes it, in units of g [-].
/// [Ihmsen13] has no values.
const SINGLE_SPEED: f32 = 0.02;
const SINGLE_ACCELERATION: f32 = 0.3;

/// Returns true if a guide of `spacing` [m] that moves at `speed` [m/s] with a net acceleration of `acceleration` [m/s²] is
/// not moved, [Ihmsen13] section 3.3.
pub(crate) fn stays(speed: f32, acceleration: f32, spacing: f32, gravity: f32) -> bool {
    speed < SINGLE_SPEED * (gravity * spacing).sqrt() && acceleration < SINGLE_ACCELERATION * gravity
}

/// Recent motion of a guide.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Calm {
    /// Time since it last moved noticeably [s].
    pub time: f32,
    /// Displacement in that time [m].
    pub way: Vec3,
}

impl Calm {
    /// After a step of `step` [s] on which it went `way` [m], for a guide of `spacing` [m].
    pub(crate) fn after(self, way: Vec3, step: f32, spacing: f32) -> Self {
        let way = self.way + way;
        if way.length() > REST_DISTANCE * spacing {
            return Self::default();
        }
        let time = (self.time + step).min(2.0 * REST_TIME);
        Self { time, way }
    }

    /// Returns true if the guide is at rest.
    pub(crate) fn is_calm(self) -> bool {
        self.time >= REST_TIME
    }
}

/// Returns true if a guide of `spacing` [m] at `speed` [m/s] keeps others awake under `gravity` [m/s²].
pub(crate) fn is_fast(speed: f32, spacing: f32, gravity: f32) -> bool {
    speed > WAKE_SPEED * (gravity * spacing).sqrt()
}

/// Returns true if `calm` guides at rest out of `all` are enough to sleep.
pub(crate) fn are_most(calm: usize, all: usize) -> bool {
    calm as f32 >= RESTING_SHARE * all as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a guide of 4 cm that moves by `way` in each step of 2 ms is at rest after a second.
    fn calms(way: impl Fn(u32) -> Vec3) -> bool {
        let calm = (0..500).fold(Calm::default(), |calm, n| calm.after(way(n), 2e-3, 0.04));
        calm.is_calm()
    }

    #[test]
    fn a_guide_stays_if_it_is_slow_and_nothing_pulls_it() {
        assert!(stays(0.01, 1.0, 0.04, 9.81));
        assert!(!stays(0.02, 1.0, 0.04, 9.81), "it moves");
        assert!(!stays(0.0, 9.81, 0.04, 9.81), "it begins to fall");
    }

    #[test]
    fn a_guide_that_trembles_is_calm_and_one_that_creeps_is_not() {
        assert!(calms(|_| Vec3::ZERO));
        assert!(calms(|n| if n % 2 == 0 { Vec3::X * 1e-4 } else { Vec3::X * -1e-4 }));
        assert!(!calms(|_| Vec3::Y * 2e-5), "10 mm/s");
        assert!(!is_fast(0.3, 0.04, 9.81) && is_fast(0.5, 0.04, 9.81));
    }
}
