//! Where a picture is seen from.

use barchan_geometry::Aabb;
use glam::{DVec2, DVec3, Vec3};

/// From the target to the camera: over the front right corner, 22 degrees above the horizon.
const VIEWPOINT: DVec3 = DVec3::new(0.5, -1.0, 0.45);
/// Part of the image that framed bounds fill at most [-].
const FILL: f64 = 0.88;

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub position: Vec3,
    /// What it looks at [m].
    pub target: Vec3,
    /// What is up in the image; it need not be at right angles to the view [-].
    pub up: Vec3,
    /// Angle between the image's lower and upper edge [rad].
    pub vertical_fov: f32,
}

impl Default for Camera {
    /// Looks at the origin from 3 m.
    fn default() -> Self {
        Self {
            position: 3.0 * Vec3::new(0.42, -0.84, 0.35),
            target: Vec3::ZERO,
            up: Vec3::Z,
            vertical_fov: 0.6,
        }
    }
}

impl Camera {
    /// As near as it can be, from a pleasant angle, with all of `bounds` inside an image of width / height = `aspect`
    /// and a margin around it. Bounds that are empty or not finite count as a unit box.
    pub fn framing(bounds: &Aabb, aspect: f32) -> Self {
        let unit = Aabb::new(DVec3::splat(-0.5), DVec3::splat(0.5));
        let usable = !bounds.is_empty() && bounds.is_finite();
        let mut bounds = if usable { *bounds } else { unit };
        if bounds.size().max_element() <= 0.0 {
            bounds = bounds.grown(0.5);
        }
        let forward = -VIEWPOINT.normalize();
        let right = forward.cross(DVec3::Z).normalize();
        let up = right.cross(forward);
        let fov = Self::default().vertical_fov;
        let aspect = if aspect.is_finite() && aspect > 0.0 {
            f64::from(aspect)
        } else {
            1.0
        };
        let slope = FILL * (0.5 * f64::from(fov)).tan() * DVec2::new(aspect, 1.0);

        // A corner at (x, y, z) from the middle, seen by a camera at (s, t, -d), is inside if |x - s| <= slope (z + d):
        // the greatest of x - slope z and of -x - slope z bound s and d from both sides.
        let (mut high, mut low) = (DVec2::NEG_INFINITY, DVec2::NEG_INFINITY);
        for corner in bounds.corners() {
            let c = corner - bounds.center();
            let side = DVec2::new(c.dot(right), c.dot(up));
            high = high.max(side - slope * c.dot(forward));
            low = low.max(-side - slope * c.dot(forward));
        }
        let shift = 0.5 * (high - low);
        let distance = (0.5 * (high + low) / slope).max_element();
        let target = bounds.center() + shift.x * right + shift.y * up;
        Self {
            position: (target - distance * forward).as_vec3(),
            target: target.as_vec3(),
            up: Vec3::Z,
            vertical_fov: fov,
        }
    }
}
