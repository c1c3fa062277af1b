//! Polyhedra: convex ones and their Booleans.

mod cells;
mod outline;

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::TriMesh;
use super::edges::Edges;
use crate::Aabb;
use cells::Cells;
use outline::Outline;

/// Distance from a face, relative to the solid's size, below which points lie on it [-].
const ON_FACE: f64 = 1e-10;
/// The same relative to the magnitude of the coordinates [-]: the rounding of planes far from the origin.
const ROUNDING: f64 = 1e-14;
/// Sizes [m] whose squares and quotients can be computed.
const SIZES: std::ops::Range<f64> = 1e-60..1e60;

/// Largest total number of faces of all parts.
const MAX_FACES: usize = 20_000;
/// Largest number of triangles of a mesh to be tested: each is compared with all vertices.
const MAX_TRIANGLES: usize = 4096;
/// Largest distance of a face's triangles from its plane relative to the solid's size [-]: files have coordinates in
/// single precision.
const FACE_TOLERANCE: f64 = 1e-6;
/// Smallest and largest number of sides of the polyhedron of a round solid.
const MIN_SIDES: f64 = 16.0;
const MAX_SIDES: f64 = 256.0;

/// A plane n·x = d; the solid lies where n·x is smaller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal n [-].
    pub normal: DVec3,
    /// Distance d of the plane from the origin along its normal [m].
    pub offset: f64,
}

impl Face {
    /// Returns the signed distance of `p` from the plane [m], positive before it.
    fn height(&self, p: DVec3) -> f64 {
        self.normal.dot(p) - self.offset
    }
}

/// A Boolean of convex polyhedra.
#[derive(Clone, Debug, PartialEq)]
pub enum FlatSolid {
    /// The points behind all faces.
    Convex {
        /// The faces.
        faces: Vec<Face>,
        /// A box [m] around the solid.
        bounds: Aabb,
    },
    /// The points in any part.
    Union(Vec<FlatSolid>),
    /// The points in all parts.
    Intersect(Vec<FlatSolid>),
    /// The points in the first part and in no other.
    Subtract(Vec<FlatSolid>),
}

impl FlatSolid {
    /// Creates a frustum about z with flat sides, at most `tolerance` [m] inside the round one with these `radii` [m]
    /// at the bottom and at the top, `half_height` [m] below and above the origin. Its edges lie on the round one.
    /// `None` if that takes too many sides.
    pub(crate) fn frustum(radii: [f64; 2], half_height: f64, tolerance: f64) -> Option<Self> {
        let most = radii[0].max(radii[1]);
        // A chord of the angle 2a lies r (1 - cos a) ≈ r a²/2 inside the circle.
        let sides = (PI / (2.0 * tolerance / most).sqrt()).ceil();
        if sides.is_nan() || sides > MAX_SIDES {
            return None;
        }
        // All quarters are equal, so that the frustum is as wide as the round one.
        let sides = 4 * ((sides.max(MIN_SIDES) / 4.0).ceil() as u32);
        let half_angle = PI / f64::from(sides);
        let [bottom, top] = radii.map(|radius| radius * half_angle.cos());
        let slope = DVec2::new(2.0 * half_height, bottom - top).normalize();
        let side = |k: u32| {
            let (sin, cos) = (f64::from(2 * k + 1) * half_angle).sin_cos();
            Face {
                normal: DVec3::new(slope.x * cos, slope.x * sin, slope.y),
                offset: slope.dot(DVec2::new(bottom, -half_height)),
            }
        };
        let ends = [DVec3::NEG_Z, DVec3::Z].map(|normal| Face {
            normal,
            offset: half_height,
        });
        let corner = DVec3::new(most, most, half_height);
        Some(Self::Convex {
            faces: ends.into_iter().chain((0..sides).map(side)).collect(),
            bounds: Aabb::new(-corner, corner),
        })
    }

    /// Returns the convex solid inside a closed mesh; `None` if the mesh is not convex or has too many triangles.
    pub(super) fn convex(mesh: &TriMesh, bounds: Aabb) -> Option<Self> {
        let is_closed = || Edges::of(&mesh.triangles).count().closed;
        if mesh.triangles.is_empty() || mesh.triangles.len() > MAX_TRIANGLES || !bounds.is_finite() || !is_closed() {
            return None;
        }
        let tolerance = FACE_TOLERANCE * bounds.size().max_element();
        let mut faces: Vec<Face> = Vec::new();
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            let lies_on = |face: &Face| [a, b, c].iter().all(|&p| face.height(p).abs() <= tolerance);
            if faces.iter().any(lies_on) {
                continue;
            }
            let normal = (b - a).cross(c - a).try_normalize()?;
            let face = Face {
                normal,
                offset: normal.dot(a),
            };
            if mesh.vertices.iter().any(|&p| face.height(p) > tolerance) {
                return None;
            }
            faces.push(face);
        }
        Some(Self::Convex { faces, bounds })
    }

    /// Replaces every face and every box.
    #[must_use]
    pub fn map(self, face: &impl Fn(Face) -> Face, bounds: &impl Fn(Aabb) -> Aabb) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(|part| part.map(face, bounds)).collect();
        match self {
            Self::Convex { faces, bounds: own } => Self::Convex {
                faces: faces.into_iter().map(face).collect(),
                bounds: bounds(own),
            },
            Self::Union(parts) => Self::Union(all(parts)),
            Self::Intersect(parts) => Self::Intersect(all(parts)),
            Self::Subtract(parts) => Self::Subtract(all(parts)),
        }
    }

    /// Returns the number of faces of all parts.
    fn count(&self) -> usize {
        match self {
            Self::Convex { faces, .. } => faces.len(),
            Self::Union(parts) | Self::Intersect(parts) | Self::Subtract(parts) => parts.iter().map(Self::count).sum(),
        }
    }

    /// Returns the surface of the solid, which must lie within `bounds` [m]: closed, facing outward, with a vertex at
    /// every corner. Empty if the solid is. `None` if the solid has too many faces, or if nearly coincident faces
    /// cannot be distinguished.
    ///
    /// Space is divided into convex cells by the planes of one convex part after another, each only where it decides.
    /// Cells share vertices and facets, so the facets between inside and outside form a closed surface regardless of
    /// rounding.
    pub fn surface(&self, bounds: &Aabb) -> Option<TriMesh> {
        if bounds.is_empty() || bounds.size().min_element() == 0.0 {
            return Some(TriMesh::default());
        }
        let (center, size) = (bounds.center(), bounds.size().max_element());
        if !(SIZES.contains(&size) && center.is_finite() && self.count() <= MAX_FACES) {
            return None;
        }
        let tolerance = ON_FACE * size + ROUNDING * center.abs().max_element();
        let centered = self.clone().map(
            &|face| Face {
                offset: -face.height(center),
                ..face
            },
            &|bounds| Aabb::new(bounds.min - center, bounds.max - center),
        );
        // No face coincides with the sides of this box.
        let domain = Aabb::new(bounds.min - center, bounds.max - center).grown(0.5 * size);
        let (mut cells, whole) = Cells::new(&domain, tolerance);
        let [inside, _] = cells.divide(&centered, vec![whole])?;
        let (vertices, polygons) = cells.boundary(inside);
        let mut mesh = Outline::new(vertices, polygons, tolerance).triangles();
        mesh.vertices.iter_mut().for_each(|p| *p += center);
        Some(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{clean, mass_properties};

    fn face(normal: DVec3, offset: f64) -> Face {
        Face {
            normal: normal.normalize(),
            offset,
        }
    }

    fn cube() -> Vec<Face> {
        let sides = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        sides.map(|normal| face(normal, 1.0)).collect()
    }

    fn surface(faces: &[Face]) -> TriMesh {
        let bounds = Aabb::new(DVec3::splat(-1.0), DVec3::ONE);
        let faces = faces.to_vec();
        FlatSolid::Convex { faces, bounds }.surface(&bounds).unwrap()
    }

    fn solid(faces: &[Face]) -> (TriMesh, f64) {
        let mesh = surface(faces);
        let report = clean(&mesh).unwrap().report;
        assert!(report.is_watertight() && report.warnings().is_empty(), "{report:?}");
        let volume = mass_properties(&mesh).volume;
        (mesh, volume)
    }

    #[test]
    fn a_cube_without_a_corner_without_an_edge_and_cut_through_corners() {
        let corner = DVec3::ONE;
        // Parts cut off: a pyramid with legs 1 and height 1/√3, then a wedge with legs 1 and length 2.
        let cases = [
            (face(corner, 2.0 / 3f64.sqrt()), 8.0 - 1.0 / 6.0),
            (face(DVec3::new(1.0, 1.0, 0.0), 1.0 / 2f64.sqrt()), 8.0 - 1.0),
            // Through three corners of the cube, and through four.
            (face(corner, 1.0 / 3f64.sqrt()), 8.0 - 8.0 / 6.0),
            (face(DVec3::new(1.0, 1.0, 0.0), 0.0), 4.0),
            // Through the center: a hexagon.
            (face(corner, 0.0), 4.0),
            // Along a side, and past the solid.
            (face(DVec3::X, 1.0), 8.0),
            (face(corner, 2.0), 8.0),
        ];
        for (cut, volume) in cases {
            let faces = [cube(), vec![cut]].concat();
            let (mesh, found) = solid(&faces);
            assert!((found - volume).abs() < 1e-12, "{cut:?}: {found}");
            let before = |p: &DVec3| {
                faces
                    .iter()
                    .map(|f| f.normal.dot(*p) - f.offset)
                    .fold(f64::MIN, f64::max)
            };
            assert!(mesh.vertices.iter().all(|p| before(p).abs() < 1e-12), "{cut:?}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_cube_behind_a_plane_beyond_it() {
        let faces = [cube(), vec![face(DVec3::X, -2.0)]].concat();
        let mesh = surface(&faces);
        assert_eq!(mesh, TriMesh::default());
    }
}
