//! Contact with bodies.

use glam::Vec3;

/// Change of velocity [m/s] of what moves at `relative` [m/s] to a wall of unit normal `normal` and friction `friction` [-]. It comes no nearer than by
/// `approach` [m/s], and its sliding is slowed by Coulomb's law.
#[inline]
pub(crate) fn held(relative: Vec3, normal: Vec3, friction: f32, approach: f32) -> Vec3 {
    let stopped = -approach - relative.dot(normal);
    if stopped <= 0.0 {
        return Vec3::ZERO;
    }
    let sliding = relative - relative.dot(normal) * normal;
    let speed = sliding.length();
    let kept = (1.0 - friction * stopped / speed.max(f32::MIN_POSITIVE)).max(0.0);
    stopped * normal + (kept - 1.0) * sliding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_approaches_is_stopped_and_slowed_by_its_impulse_times_friction() {
        let change = held(Vec3::new(2.0, 0.0, -1.0), Vec3::Z, 0.5, 0.0);
        assert!(change.distance(Vec3::new(-0.5, 0.0, 1.0)) < 1e-6, "{change}");
        let stuck = held(Vec3::new(0.3, 0.0, -1.0), Vec3::Z, 0.5, 0.0);
        assert!(stuck.distance(Vec3::new(-0.3, 0.0, 1.0)) < 1e-6, "{stuck}");
        assert_eq!(held(Vec3::new(2.0, 0.0, 0.1), Vec3::Z, 0.5, 0.0), Vec3::ZERO);
        assert_eq!(held(Vec3::new(2.0, 0.0, -0.1), Vec3::Z, 0.5, 0.2), Vec3::ZERO);
    }
}
