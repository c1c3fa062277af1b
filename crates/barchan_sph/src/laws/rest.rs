//! When sand is at rest.

use glam::Vec3;

/// A guide that stays within this distance, of its spacing [-], for this time [s], is calm: resting sand trembles about where it is.
const NEAR: f32 = 0.1;
const CALM_TIME: f32 = 0.5;
/// A guide faster than this, of √(g d) [-], keeps all awake: what falls by a fifth of its spacing is.
const FAST: f32 = 0.6;
/// Part of all guides that must be calm [-]: on the surface, where nothing presses, some are always restless.
const MOST: f32 = 0.85;

/// How a guide has been of late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Calm {
    /// How long it has hardly moved [s].
    pub time: f32,
    /// How far it has come meanwhile [m].
    pub way: Vec3,
}

impl Calm {
    /// After a step of `step` [s] on which it went `way` [m], for a guide of `spacing` [m].
    pub(crate) fn after(self, way: Vec3, step: f32, spacing: f32) -> Self {
        let way = self.way + way;
        if way.length() > NEAR * spacing {
            return Self::default();
        }
        let time = (self.time + step).min(2.0 * CALM_TIME);
        Self { time, way }
    }

    /// Whether it is at rest.
    pub(crate) fn is_calm(self) -> bool {
        self.time >= CALM_TIME
    }
}

/// Whether a guide of `spacing` [m] at `speed` [m/s] keeps others awake, under `gravity` [m/s²].
pub(crate) fn is_fast(speed: f32, spacing: f32, gravity: f32) -> bool {
    speed > FAST * (gravity * spacing).sqrt()
}

/// Whether `calm` of `all` guides are enough to rest.
pub(crate) fn are_most(calm: usize, all: usize) -> bool {
    calm as f32 >= MOST * all as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a guide of 4 cm that goes by `way` in a step of 2 ms is calm after a second.
    fn calms(way: impl Fn(u32) -> Vec3) -> bool {
        let calm = (0..500).fold(Calm::default(), |calm, n| calm.after(way(n), 2e-3, 0.04));
        calm.is_calm()
    }

    #[test]
    fn a_guide_that_trembles_is_calm_and_one_that_creeps_is_not() {
        assert!(calms(|_| Vec3::ZERO));
        assert!(calms(|n| if n % 2 == 0 { Vec3::X * 1e-4 } else { Vec3::X * -1e-4 }));
        assert!(!calms(|_| Vec3::Y * 2e-5), "10 mm/s");
        assert!(!is_fast(0.3, 0.04, 9.81) && is_fast(0.5, 0.04, 9.81));
    }
}
