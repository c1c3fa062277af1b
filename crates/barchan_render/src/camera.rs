//! Cameras.

use barchan_geometry::Aabb;
use glam::{DVec2, DVec3, Vec3};

/// Direction from the target to the camera: over the front right corner, 22 degrees above the horizon.
const VIEWPOINT: DVec3 = DVec3::new(0.5, -1.0, 0.45);
/// Largest share of the image that framed bounds fill [-].
const FILL: f64 = 0.88;

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position [m].
    pub position: Vec3,
    /// Point in the center of the view [m].
    pub target: Vec3,
    /// Up direction of the image; need not be perpendicular to the view [-].
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
    /// Returns the nearest camera, at a fixed angle, that shows all of `bounds` inside an image of width / height =
    /// `aspect` with a margin. Bounds that are empty or not finite count as a unit box.
    pub fn framing(bounds: &Aabb, aspect: f32) -> Self {
        let usual = Self::default();
        let mut framing = Framing::new(aspect, usual.vertical_fov);
        framing.add_bounds(bounds);
        let [position, target] = framing.view().map(DVec3::as_vec3);
        Self {
            position,
            target,
            ..usual
        }
    }
}

/// The nearest view, at a fixed angle, that shows every sphere added to it with a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Largest |x / depth| and |y / depth| inside the margin [-].
    slope: DVec2,
    /// Largest x - slope depth and y - slope depth of the added spheres, from the origin [m].
    high: DVec2,
    /// Largest -x - slope depth and -y - slope depth [m].
    low: DVec2,
    /// Smallest and largest depth [m].
    depth: [f64; 2],
    /// Right, up and forward.
    axes: [DVec3; 3],
}

impl Framing {
    /// Creates an empty framing for an image of width / height = `aspect` and a vertical field of view of `fov` [rad].
    pub fn new(aspect: f32, fov: f32) -> Self {
        let usable = aspect.is_finite() && aspect > 0.0;
        let aspect = if usable { f64::from(aspect) } else { 1.0 };
        Self {
            slope: FILL * (0.5 * f64::from(fov)).tan() * DVec2::new(aspect, 1.0),
            high: DVec2::NEG_INFINITY,
            low: DVec2::NEG_INFINITY,
            depth: [f64::INFINITY, f64::NEG_INFINITY],
            axes: axes(),
        }
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.depth[0] > self.depth[1]
    }

    /// Adds a sphere: center and radius [m]. One that is not finite is ignored.
    pub fn add(&mut self, center: DVec3, radius: f64) {
        if !(center.is_finite() && radius.is_finite()) {
            return;
        }
        let [right, up, forward] = self.axes;
        let side = DVec2::new(center.dot(right), center.dot(up));
        let depth = center.dot(forward);
        // Distance from a plane x = slope depth, times its normal's length.
        let reach = radius * (DVec2::ONE + self.slope * self.slope).map(f64::sqrt);
        self.high = self.high.max(side - self.slope * depth + reach);
        self.low = self.low.max(-side - self.slope * depth + reach);
        self.depth = [self.depth[0].min(depth - radius), self.depth[1].max(depth + radius)];
    }

    /// Adds a box; a unit box for one that is empty or not finite.
    pub fn add_bounds(&mut self, bounds: &Aabb) {
        let unit = Aabb::new(DVec3::splat(-0.5), DVec3::splat(0.5));
        let usable = !bounds.is_empty() && bounds.is_finite();
        let bounds = if usable { *bounds } else { unit };
        let around = bounds.size().max_element() <= 0.0;
        let bounds = if around { bounds.grown(0.5) } else { bounds };
        bounds.corners().iter().for_each(|&corner| self.add(corner, 0.0));
    }

    /// Adds the contents of `other`, made for the same image.
    pub fn join(mut self, other: &Self) -> Self {
        self.high = self.high.max(other.high);
        self.low = self.low.max(other.low);
        self.depth = [self.depth[0].min(other.depth[0]), self.depth[1].max(other.depth[1])];
        self
    }

    /// Returns position and target of the camera [m].
    pub fn view(&self) -> [DVec3; 2] {
        if self.is_empty() {
            let mut unit = *self;
            unit.add_bounds(&Aabb::of_points([]));
            return unit.view();
        }
        let [right, up, forward] = self.axes;
        // A point at (x, y, z) is inside for a camera at (s, t, -d) if |x - s| <= slope (z + d): `high` and `low` bound
        // s and d from both sides.
        let shift = 0.5 * (self.high - self.low);
        let back = (0.5 * (self.high + self.low) / self.slope).max_element();
        let middle = 0.5 * (self.depth[0] + self.depth[1]);
        // A point is viewed from nearby, not from within.
        let back = if back + middle > 0.0 { back } else { 1.0 - middle };
        let axis = shift.x * right + shift.y * up;
        [axis - back * forward, axis + middle * forward]
    }
}

/// Returns right, up and forward of a framing camera.
fn axes() -> [DVec3; 3] {
    let forward = -VIEWPOINT.normalize();
    let right = forward.cross(DVec3::Z).normalize();
    [right, right.cross(forward), forward]
}
