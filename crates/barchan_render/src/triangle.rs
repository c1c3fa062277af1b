//! Triangles on an image, without clipping: linear forms in homogeneous pixel coordinates, [Olano97].

use crate::lens::{Bounds, Lens};
use glam::{DVec3, Vec2, Vec3, Vec4};

/// A triangle seen through a lens. Forms are evaluated at (x, y, 1) [px].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    /// Positive inside, one for each corner; proportional to the corner's weight.
    edges: [DVec3; 3],
    /// The depth [m], or its reciprocal in perspective.
    depth: DVec3,
    perspective: bool,
    pub bounds: Bounds,
}

impl Triangle {
    /// Returns `None` if the triangle is not visible, or seen edge-on.
    pub fn new(lens: &Lens, corners: [Vec3; 3]) -> Option<Self> {
        let local = corners.map(|corner| lens.local(corner));
        let bounds = bounds(lens, local)?;
        let [a, b, c] = local.map(|p| if lens.perspective { p } else { p.truncate().extend(1.0) }.as_dvec3());
        // Two triangles at an edge compute it with both signs of the same bits: no gap, no overlap.
        let edges = [b.cross(c), c.cross(a), a.cross(b)];
        let volume = a.dot(edges[0]);
        if volume == 0.0 || !volume.is_finite() {
            return None;
        }
        let [u, v, w] = edges;
        let depth = if lens.perspective {
            (u + v + w) / volume
        } else {
            let [i, j, k] = local.map(|p| f64::from(p.z));
            (i * u + j * v + k * w) / volume
        };
        Some(Self {
            edges: edges.map(|edge| pixels(lens, edge * volume.signum())),
            depth: pixels(lens, depth),
            perspective: lens.perspective,
            bounds,
        })
    }

    /// Converts to coordinates relative to `corner` [px], in single precision.
    pub fn at(&self, corner: Vec2) -> LocalTriangle {
        let shift = |f: DVec3| Vec3::new(f.x as f32, f.y as f32, f.dot(corner.extend(1.0).as_dvec3()) as f32);
        LocalTriangle {
            edges: self.edges.map(|edge| {
                let edge = shift(edge);
                // A sample on an edge belongs to exactly one of the two triangles.
                let owned = edge.x > 0.0 || (edge.x == 0.0 && edge.y > 0.0);
                (edge, if owned { 0.0 } else { f32::from_bits(1) })
            }),
            depth: shift(self.depth),
            perspective: self.perspective,
        }
    }

    /// Returns the barycentric weights at a point [px].
    pub fn weights(&self, place: Vec2) -> Vec3 {
        let at = place.extend(1.0).as_dvec3();
        let weights = DVec3::from_array(self.edges.map(|edge| edge.dot(at).max(0.0)));
        let sum = weights.element_sum();
        if sum > 0.0 {
            (weights / sum).as_vec3()
        } else {
            Vec3::splat(1.0 / 3.0)
        }
    }
}

/// A [`Triangle`] relative to the corner of a tile.
pub(crate) struct LocalTriangle {
    /// A form, and its smallest value inside.
    edges: [(Vec3, f32); 3],
    depth: Vec3,
    perspective: bool,
}

impl LocalTriangle {
    /// Returns the depth at four points [px]; infinite outside [m].
    #[inline(always)]
    pub fn depth(&self, x: Vec4, y: Vec4) -> Vec4 {
        let value = |form: Vec3| form.x * x + form.y * y + form.z;
        let within = |(form, least): (Vec3, f32)| value(form).cmpge(Vec4::splat(least));
        let inside = within(self.edges[0]) & within(self.edges[1]) & within(self.edges[2]);
        let depth = value(self.depth);
        let depth = if self.perspective { depth.recip() } else { depth };
        Vec4::select(inside, depth, Vec4::INFINITY)
    }
}

/// Converts a form of the lens frame to pixels.
fn pixels(lens: &Lens, form: DVec3) -> DVec3 {
    let (x, y) = (form.x * f64::from(lens.scale), form.y * f64::from(lens.scale));
    DVec3::new(
        x,
        y,
        form.z - x * f64::from(lens.middle.x) - y * f64::from(lens.middle.y),
    )
}

/// Returns the bounds of the triangle on the image, clipped at the near plane [px].
fn bounds(lens: &Lens, corners: [Vec3; 3]) -> Option<Bounds> {
    let mut bounds = Bounds {
        min: Vec2::INFINITY,
        max: Vec2::NEG_INFINITY,
        nearest: corners
            .iter()
            .fold(f32::INFINITY, |least, c| least.min(c.z))
            .max(lens.near),
    };
    let mut add = |local: Vec3| {
        let place = lens.project(local);
        bounds.min = bounds.min.min(place);
        bounds.max = bounds.max.max(place);
    };
    for k in 0..3 {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        if from.z >= lens.near {
            add(from);
        }
        if (from.z < lens.near) != (to.z < lens.near) {
            add(from.lerp(to, (lens.near - from.z) / (to.z - from.z)).with_z(lens.near));
        }
    }
    let end = 2.0 * lens.middle;
    let seen = bounds.max.cmpge(Vec2::ZERO).all() && bounds.min.cmple(end).all();
    seen.then_some(bounds)
}
