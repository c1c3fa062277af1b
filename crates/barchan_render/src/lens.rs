//! Projects points and spheres onto an image: seen from a camera, or along the light of the sun.
//!
//! Lens frame: x right, y down, z forward, from the eye [m]. A pixel has four samples ("lanes").

use crate::grain::Ellipsoid;
use crate::{Camera, Error, hash};
use glam::{DVec3, Vec2, Vec3, Vec4};

/// Sample positions in a pixel of the camera, from its upper left corner [px]: no two share a row or a column, so that
/// nearly horizontal or vertical edges have four steps.
const ROTATED: [Vec4; 2] = [
    Vec4::new(0.375, 0.875, 0.125, 0.625),
    Vec4::new(0.125, 0.375, 0.625, 0.875),
];
/// Sample positions in a pixel of the sun [px]: 2 x 2 texels.
const REGULAR: [Vec4; 2] = [Vec4::new(0.25, 0.75, 0.25, 0.75), Vec4::new(0.25, 0.25, 0.75, 0.75)];

/// Radius from which a grain is drawn in its own shape [smallest radii]: the thinnest ones then hit every lane too.
pub(crate) const SHAPED_FROM: f32 = 1.5;

/// A sphere, or a grain of equal volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    /// Center [m].
    pub center: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// Stable id.
    pub id: u32,
    /// Largest half axis of such grains relative to the radius [-]; 1 for a sphere.
    pub stretch: f32,
}

/// A perspective camera, or parallel light.
#[derive(Clone, Debug)]
pub(crate) struct Lens {
    pub origin: Vec3,
    pub right: Vec3,
    pub down: Vec3,
    pub forward: Vec3,
    /// Size of a pixel [m]; in perspective at a distance of 1 m.
    pub scale: f32,
    /// Intersection of the axis with the image [px].
    pub middle: Vec2,
    /// Width and height [px].
    pub size: [usize; 2],
    /// Rays diverge from the origin; otherwise they are parallel.
    pub perspective: bool,
    /// Smallest visible depth [m].
    pub near: f32,
    /// Samples of a pixel: x, y [px].
    pub lanes: [Vec4; 2],
    /// Smallest radius that hits each lane at least once, wherever the sphere is [px].
    pub least_radius: f32,
}

/// A part of the image [px].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub min: Vec2,
    pub max: Vec2,
    /// Smallest depth there [m].
    pub nearest: f32,
}

impl Lens {
    /// Creates the lens of a camera for an image of `width` x `height` [px].
    pub fn of_camera(camera: &Camera, width: u32, height: u32) -> Result<Self, Error> {
        let (position, target) = (camera.position, camera.target);
        let wrong = Error::Camera { position, target };
        let sight = target - position;
        let Some(forward) = sight
            .try_normalize()
            .filter(|_| position.is_finite() && target.is_finite())
        else {
            return Err(wrong);
        };
        let fov = camera.vertical_fov;
        if !(fov > 0.0 && fov < std::f32::consts::PI) {
            return Err(Error::FieldOfView { fov });
        }
        let (right, down) = across(forward, camera.up);
        Ok(Self {
            origin: position,
            right,
            down,
            forward,
            scale: 2.0 * (0.5 * fov).tan() / height as f32,
            middle: 0.5 * Vec2::new(width as f32, height as f32),
            size: [width as usize, height as usize],
            perspective: true,
            near: 1e-4 * sight.length(),
            lanes: ROTATED,
            least_radius: std::f32::consts::FRAC_1_SQRT_2,
        })
    }

    /// Creates the lens of light along `forward`, on an image of `size` [px] of `pixel` [m], whose center sees the ray
    /// through `through`.
    pub fn of_light(forward: Vec3, through: Vec3, pixel: f32, size: [usize; 2]) -> Self {
        let (right, down) = across(forward, Vec3::Z);
        Self {
            origin: through,
            right,
            down,
            forward,
            scale: pixel,
            middle: 0.5 * Vec2::new(size[0] as f32, size[1] as f32),
            size,
            perspective: false,
            near: f32::NEG_INFINITY,
            lanes: REGULAR,
            least_radius: 0.5 * std::f32::consts::FRAC_1_SQRT_2,
        }
    }

    /// Transforms a point to the lens frame [m].
    pub fn local(&self, point: Vec3) -> Vec3 {
        let p = point - self.origin;
        Vec3::new(p.dot(self.right), p.dot(self.down), p.dot(self.forward))
    }

    /// Transforms a direction from the lens frame to the frame of the picture.
    pub fn outward(&self, direction: Vec3) -> Vec3 {
        direction.x * self.right + direction.y * self.down + direction.z * self.forward
    }

    /// Returns the ray through a point of the image [px], in the frame of the picture; its depth is 1.
    pub fn ray(&self, place: Vec2) -> Vec3 {
        self.outward(((place - self.middle) * self.scale).extend(1.0))
    }

    /// Projects a point of the lens frame onto the image [px].
    pub fn project(&self, local: Vec3) -> Vec2 {
        let depth = if self.perspective { local.z } else { 1.0 };
        self.middle + local.truncate() / (depth * self.scale)
    }

    /// Projects a ball, if any of it is visible. One around the camera is not.
    pub fn see(&self, ball: &Ball) -> Option<Sphere> {
        self.see_shape(ball).map(|seen| seen.0)
    }

    /// Projects a ball, and returns the shape in which it is drawn.
    pub fn see_shape(&self, ball: &Ball) -> Option<(Sphere, Ellipsoid)> {
        let (c, radius) = (self.local(ball.center), ball.radius);
        if !self.perspective || self.is_far(c.z, ball) {
            let shape = self.drawn_shape(c.z, ball);
            return self.far(c, ball, &shape).map(|far| (Sphere::Far(far), shape));
        }
        // Near the plane of the camera there are no bounds on the image: use those of the view pyramid.
        let half = self.middle * self.scale;
        let outside = |side: f32, half: f32| side.abs() - half * c.z > radius * (1.0 + half * half).sqrt();
        let hidden = c.z + radius <= self.near || outside(c.x, half.x) || outside(c.y, half.y);
        let inside = c.length_squared() <= radius * radius;
        let near = NearSphere {
            center: c.as_dvec3(),
            radius: f64::from(radius),
            scale: self.scale,
            middle: self.middle,
            bounds: Bounds {
                min: Vec2::ZERO,
                max: 2.0 * self.middle,
                nearest: self.near,
            },
        };
        (!hidden && !inside).then_some((Sphere::Near(near), Ellipsoid::BALL))
    }

    /// Returns true if a ball at `depth` [m] lies entirely in front of the eye.
    fn is_far(&self, depth: f32, ball: &Ball) -> bool {
        depth > 1.001 * ball.stretch * ball.radius + self.near
    }

    /// Returns the shape in which a ball at `depth` [m] is drawn: a sphere beside the eye or where it is small.
    fn drawn_shape(&self, depth: f32, ball: &Ball) -> Ellipsoid {
        let is_far = !self.perspective || self.is_far(depth, ball);
        if is_far && ball.stretch > 1.0 && ball.radius > SHAPED_FROM * self.least_radius(depth) {
            Ellipsoid::of_grain(ball.id, ball.stretch)
        } else {
            Ellipsoid::BALL
        }
    }

    /// Returns the smallest depth of a ball as it is drawn [m].
    pub fn nearest(&self, ball: &Ball) -> f32 {
        let depth = (ball.center - self.origin).dot(self.forward);
        let reach = ball.radius * self.drawn_shape(depth, ball).support(self.forward).length();
        depth - reach.max(self.least_radius(depth))
    }

    /// Returns the smallest radius that is drawn at a depth [m].
    fn least_radius(&self, depth: f32) -> f32 {
        self.least_radius * self.scale * if self.perspective { depth } else { 1.0 }
    }

    /// Projects a ball that lies entirely in front of the eye.
    ///
    /// The vectors are taken to the frame in which an ellipsoid is a sphere. With c = z a there and the ray d = a + u,
    /// the distance of the center from the ray is |c x d| / |d|, and c x d = z a x u: no difference of large numbers,
    /// however small and far the sphere is.
    fn far(&self, c: Vec3, ball: &Ball, shape: &Ellipsoid) -> Option<FarSphere> {
        let s = self.scale;
        let least = self.least_radius(c.z);
        let drawn = ball.radius.max(least);
        let bounds = self.far_bounds(c, drawn, shape);
        let end = 2.0 * self.middle;
        if bounds.max.cmple(Vec2::ZERO).any() || bounds.min.cmpge(end).any() || bounds.min.is_nan() {
            return None;
        }
        let [right, down, forward] = [self.right, self.down, self.forward].map(|axis| shape.flatten(axis));
        let (x, y) = (s * right, s * down);
        let (axis, m) = if self.perspective {
            (right * (c.x / c.z) + down * (c.y / c.z) + forward, c.z)
        } else {
            (forward, 1.0)
        };
        let (across_x, across_y) = (m * axis.cross(x), m * axis.cross(y));
        let squares = |a: Vec3, b: Vec3| [a.length_squared(), 2.0 * a.dot(b), b.length_squared()];
        let along = [axis.dot(x), axis.dot(y)];
        Some(FarSphere {
            center: self.project(c),
            depth: c.z,
            squared_radius: drawn * drawn * kept_lanes(ball.radius / least, ball.id),
            distance: squares(across_x, across_y),
            // Parallel rays start on a plane through the center instead of at the eye.
            front: along.map(|a| if self.perspective { c.z * a } else { -a }),
            axis: axis.length_squared(),
            along: if self.perspective { along } else { [0.0; 2] },
            spread: if self.perspective { squares(x, y) } else { [0.0; 3] },
            bounds,
        })
    }

    /// Returns the bounds of an ellipsoid on the image. The planes x = m z through the eye that touch it, with normals n
    /// and half widths w(n): (n c)² = |r w(n)|², a quadratic equation for m.
    fn far_bounds(&self, c: Vec3, radius: f32, shape: &Ellipsoid) -> Bounds {
        let forward = radius * shape.support(self.forward);
        let reach = |side: f32, axis: Vec3| {
            let across = radius * shape.support(axis);
            if !self.perspective {
                return (side - across.length(), side + across.length());
            }
            let middle = side * c.z - across.dot(forward);
            let spread = (c.z * across - side * forward).length_squared() - across.cross(forward).length_squared();
            let below = c.z * c.z - forward.length_squared();
            let spread = spread.max(0.0).sqrt();
            ((middle - spread) / below, (middle + spread) / below)
        };
        let (x, y) = (reach(c.x, self.right), reach(c.y, self.down));
        Bounds {
            min: self.middle + Vec2::new(x.0, y.0) / self.scale,
            max: self.middle + Vec2::new(x.1, y.1) / self.scale,
            nearest: c.z - forward.length(),
        }
    }
}

/// Returns right and down for a view along `forward` with `up` upward; uses another up if that is parallel to the view.
fn across(forward: Vec3, up: Vec3) -> (Vec3, Vec3) {
    let right = forward.cross(up.normalize_or_zero());
    let right = if right.length_squared() > 1e-8 {
        right
    } else {
        forward.any_orthogonal_vector()
    };
    let right = right.normalize();
    (right, forward.cross(right))
}

/// Returns 1 for the lanes in which a sphere is drawn, -1 for the others. A sphere below the smallest radius is drawn
/// with that radius in fewer lanes, so that it keeps its share of the image, but in at least one. `size`: radius /
/// smallest radius [-].
fn kept_lanes(size: f32, id: u32) -> Vec4 {
    if size >= 1.0 {
        return Vec4::ONE;
    }
    let noise = hash::bits(id);
    let kept = (4.0 * size * size + hash::byte(noise, 0)).clamp(1.0, 4.0) as u32;
    let lane = |k: u32| if (k + (noise >> 8)) % 4 < kept { 1.0 } else { -1.0 };
    Vec4::new(lane(0), lane(1), lane(2), lane(3))
}

/// A sphere on the image.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sphere {
    /// Entirely in front of the eye: nearly all of them.
    Far(FarSphere),
    /// Beside the eye.
    Near(NearSphere),
}

impl Sphere {
    pub fn bounds(&self) -> Bounds {
        match self {
            Self::Far(sphere) => sphere.bounds,
            Self::Near(sphere) => sphere.bounds,
        }
    }

    /// Returns the depth of its front at a point that it covers, of its center elsewhere [m].
    pub fn front(&self, place: Vec2) -> f32 {
        let mut whole = *self;
        if let Self::Far(sphere) = &mut whole {
            sphere.squared_radius = sphere.squared_radius.abs();
        }
        let depth = whole.depth(Vec4::splat(place.x), Vec4::splat(place.y)).x;
        match self {
            Self::Far(sphere) if depth == f32::INFINITY => sphere.depth,
            Self::Near(sphere) if depth == f32::INFINITY => sphere.center.z as f32,
            _ => depth,
        }
    }

    /// Returns the depth of its front at four points [px]; infinite where it does not cover them [m].
    pub fn depth(&self, x: Vec4, y: Vec4) -> Vec4 {
        match self {
            Self::Far(sphere) => sphere.depth(x, y),
            Self::Near(sphere) => sphere.depth(x, y),
        }
    }
}

/// Forms in the offset from the center's image [px], in the frame in which an ellipsoid is a sphere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarSphere {
    center: Vec2,
    depth: f32,
    /// Negative in lanes that are not drawn [m²].
    squared_radius: Vec4,
    /// |c x d|²: coefficients of dx², dx dy, dy² [m²].
    distance: [f32; 3],
    /// Coefficients of dx, dy in c d [m].
    front: [f32; 2],
    /// Coefficients of dx, dy in |d|²/2.
    along: [f32; 2],
    /// |d|² at the center.
    axis: f32,
    /// Coefficients of dx², dx dy, dy² in |d|².
    spread: [f32; 3],
    pub bounds: Bounds,
}

impl FarSphere {
    /// See [`Sphere::depth`].
    #[inline(always)]
    pub fn depth(&self, x: Vec4, y: Vec4) -> Vec4 {
        let (dx, dy) = (x - self.center.x, y - self.center.y);
        let squares = [dx * dx, dx * dy, dy * dy];
        let form = |k: [f32; 3]| k[0] * squares[0] + k[1] * squares[1] + k[2] * squares[2];
        let square = self.axis + 2.0 * (self.along[0] * dx + self.along[1] * dy) + form(self.spread);
        let inside = self.squared_radius * square - form(self.distance);
        let half = Vec4::from_array(inside.max(Vec4::ZERO).to_array().map(f32::sqrt));
        let front = self.front[0] * dx + self.front[1] * dy;
        let depth = (self.depth * self.axis + front - half) / square;
        Vec4::select(inside.cmpge(Vec4::ZERO), depth, Vec4::INFINITY)
    }
}

/// The quadratic equation of the ray, solved in double precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearSphere {
    center: DVec3,
    radius: f64,
    scale: f32,
    middle: Vec2,
    bounds: Bounds,
}

impl NearSphere {
    fn depth(&self, x: Vec4, y: Vec4) -> Vec4 {
        let lane = |k: usize| {
            let ray = ((Vec2::new(x[k], y[k]) - self.middle) * self.scale)
                .extend(1.0)
                .as_dvec3();
            let (square, along) = (ray.length_squared(), ray.dot(self.center));
            let inside = self.radius.powi(2) * square - self.center.cross(ray).length_squared();
            let depth = (along - inside.sqrt()) / square;
            if depth > 0.0 { depth as f32 } else { f32::INFINITY }
        };
        Vec4::new(lane(0), lane(1), lane(2), lane(3))
    }
}
