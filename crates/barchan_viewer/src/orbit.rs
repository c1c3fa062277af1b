//! A camera on a sphere around its target.

use barchan::Viewpoint;
use glam::{DVec2, DVec3};

/// Largest elevation [rad]: the up direction is undefined straight above the target.
const MAX_ELEVATION: f64 = 1.55;
/// Rotation per point of the screen in a drag [rad].
const TURN_PER_POINT: f64 = 0.006;

/// Viewpoint of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Point in the center of the view [m].
    pub target: DVec3,
    /// Distance from the target [m].
    pub distance: f64,
    /// Rotation about z [rad]; 0 looks from +x.
    pub azimuth: f64,
    /// Angle above the horizon [rad].
    pub elevation: f64,
    /// Vertical field of view [rad].
    pub fov: f64,
}

impl Orbit {
    /// Creates the orbit of a camera at `position` that looks at `target` [m].
    pub fn of_view(position: DVec3, target: DVec3, fov: f64) -> Self {
        let offset = position - target;
        let distance = offset.length().max(1e-6);
        Self {
            target,
            distance,
            azimuth: offset.y.atan2(offset.x),
            elevation: (offset.z / distance)
                .clamp(-1.0, 1.0)
                .asin()
                .clamp(-MAX_ELEVATION, MAX_ELEVATION),
            fov,
        }
    }

    /// Returns the position of the camera [m].
    pub fn position(&self) -> DVec3 {
        let (sin, cos) = self.azimuth.sin_cos();
        let (up, across) = self.elevation.sin_cos();
        self.target + self.distance * DVec3::new(across * cos, across * sin, up)
    }

    /// Orbits around the target, by a drag of `by` [points].
    pub fn turn(&mut self, by: DVec2) {
        self.azimuth -= TURN_PER_POINT * by.x;
        self.elevation = (self.elevation + TURN_PER_POINT * by.y).clamp(-MAX_ELEVATION, MAX_ELEVATION);
    }

    /// Moves the target with the mouse, by a drag of `by` [points] in a view of `height` [points].
    pub fn pan(&mut self, by: DVec2, height: f64) {
        let scale = 2.0 * self.distance * (0.5 * self.fov).tan() / height.max(1.0);
        let forward = (self.target - self.position()).normalize();
        let right = forward.cross(DVec3::Z).normalize();
        self.target += scale * (by.y * right.cross(forward) - by.x * right);
    }

    /// Scales the distance to the target by `factor` [-].
    pub fn zoom(&mut self, factor: f64) {
        self.distance = (self.distance / factor).clamp(1e-3, 1e6);
    }

    /// Walks by `by`: right, forward and up [m].
    pub fn walk(&mut self, by: DVec3) {
        let ahead = (self.target - self.position()).with_z(0.0).normalize();
        self.target += by.x * ahead.cross(DVec3::Z) + by.y * ahead + by.z * DVec3::Z;
    }

    /// Returns origin [m] and direction of the ray through a point of the picture: `at` runs from -1 to 1 to the right
    /// and up, `aspect` is width / height.
    pub fn ray(&self, at: DVec2, aspect: f64) -> (DVec3, DVec3) {
        let origin = self.position();
        let forward = (self.target - origin).normalize();
        let right = forward.cross(DVec3::Z).normalize();
        let half = (0.5 * self.fov).tan();
        let direction = forward + half * (aspect * at.x * right + at.y * right.cross(forward));
        (origin, direction.normalize())
    }

    /// Converts to the viewpoint of a picture.
    pub fn viewpoint(&self) -> Viewpoint {
        Viewpoint {
            camera: None,
            position: Some(self.position()),
            target: Some(self.target),
            fov: Some(self.fov),
            framing: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orbit() -> Orbit {
        Orbit::of_view(DVec3::new(1.0, -3.0, 2.0), DVec3::new(0.0, 0.0, 0.5), 0.7)
    }

    #[test]
    fn an_orbit_goes_through_the_camera_it_was_made_of() {
        assert!(orbit().position().abs_diff_eq(DVec3::new(1.0, -3.0, 2.0), 1e-12));
    }

    #[test]
    fn turning_keeps_the_distance_and_never_turns_over() {
        let mut moved = orbit();
        moved.turn(DVec2::new(300.0, 5000.0));
        assert!((moved.position().distance(moved.target) - orbit().distance).abs() < 1e-9);
        assert!(moved.elevation < std::f64::consts::FRAC_PI_2);
    }

    #[test]
    fn panning_moves_what_is_under_the_mouse_with_it() {
        let mut moved = orbit();
        moved.pan(DVec2::new(0.0, 100.0), 400.0);
        // Dragging down by a quarter of the view raises the camera by a quarter of the visible height at the target.
        let seen = 2.0 * orbit().distance * 0.35f64.tan();
        let by = moved.target - orbit().target;
        assert!((by.length() - 0.25 * seen).abs() < 1e-9 && by.z > 0.0, "{by}");
    }

    #[test]
    fn walking_ahead_stays_level_and_zooming_keeps_the_target() {
        let mut moved = orbit();
        moved.walk(DVec3::new(0.0, 1.0, 0.0));
        assert!((moved.position().z - 2.0).abs() < 1e-12 && moved.position().y > -3.0);
        let mut near = orbit();
        near.zoom(2.0);
        assert_eq!((near.target, near.distance), (orbit().target, orbit().distance / 2.0));
    }
    #[test]
    fn rays_go_through_the_target_and_along_the_edges_of_the_view() {
        let orbit = orbit();
        let (origin, middle) = orbit.ray(DVec2::ZERO, 1.5);
        assert!((origin + orbit.distance * middle).abs_diff_eq(orbit.target, 1e-12));
        let (_, top) = orbit.ray(DVec2::new(0.0, 1.0), 1.5);
        assert!((top.angle_between(middle) - 0.35).abs() < 1e-9 && top.z > middle.z);
        let (_, right) = orbit.ray(DVec2::new(1.0, 0.0), 1.5);
        assert!((right.angle_between(middle).tan() - 1.5 * 0.35f64.tan()).abs() < 1e-9);
        assert!(right.dot(middle.cross(DVec3::Z)) > 0.0);
    }
}
