use glam::DVec3;

use super::bvh::{Bvh, Closest};
use super::edges::Edges;
use super::exposed::exposed_surface;
use super::filled::{Filled, filled};
use super::flat::FlatSolid;
use super::winding::Clusters;
use crate::{Aabb, Shape, TriMesh};

/// The solid that a triangle mesh encloses.
///
/// The distance to the closest point of the triangles is exact. Inside is where the winding number exceeds one half,
/// and never outside the bounds: correct everywhere for a watertight mesh, and a plausible guess for one with holes,
/// where the distance jumps between its two signs across the hole.
///
/// Closed parts that overlap form their union, and the walls inside it are not part of the surface. They are
/// removed triangle by triangle; triangles that an intersection cuts are first divided, down to 1/128 of the bounds'
/// diagonal. Strips of inner wall of that width remain along the intersection, and there the distance inside is too
/// small in magnitude (still within the contract of [`Shape`]). Walls that one connected part folds into itself remain,
/// too.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    mesh: TriMesh,
    bounds: Aabb,
    all: Bvh,
    clusters: Clusters,
    /// The triangles without the inner walls, if there are any.
    exposed: Option<Bvh>,
}

impl MeshSolid {
    /// Creates the solid inside `mesh`. Triangles with corners that are not finite are ignored; an empty mesh is an
    /// empty solid.
    ///
    /// # Panics
    /// If a triangle refers to a vertex that does not exist.
    pub fn new(mesh: TriMesh) -> Self {
        let all = Bvh::new((0..).zip(&mesh.triangles).map(|(n, _)| (mesh.corners(n as usize), n)));
        let clusters = Clusters::new(&all);
        let mut solid = Self {
            bounds: finite_bounds(&mesh),
            mesh,
            all,
            clusters,
            exposed: None,
        };
        solid.exposed = exposed_surface(&solid).map(|pieces| Bvh::new(pieces.into_iter()));
        solid
    }

    /// Returns the mesh as given.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Returns the point of the surface closest to `p` [m]; `None` if the mesh is empty or `p` is not finite.
    pub fn closest_point(&self, p: DVec3) -> Option<Closest> {
        self.surface().closest(p, f64::INFINITY)
    }

    /// Returns the winding number of the mesh around `p` [m], within 0.1 [-].
    pub fn winding_number(&self, p: DVec3) -> f64 {
        self.clusters.winding_number(&self.all, p)
    }

    /// Returns mass properties of the space inside, and overlaps of the shells, if the mesh is closed: every edge is
    /// used equally often in both directions. `None` also if triangles intersect so often that it would take too long.
    pub fn filled(&self) -> Option<Filled> {
        Edges::of(&self.mesh.triangles)
            .count()
            .closed
            .then(|| filled(&self.mesh, &self.all, &self.clusters))?
    }

    /// Returns true if the box of triangle `t` overlaps the box of another for which `matters` returns true.
    pub(super) fn meets_box_of(&self, t: usize, matters: impl Fn(usize) -> bool) -> bool {
        self.all.any_box_meets(&Aabb::of_points(self.mesh.corners(t)), matters)
    }

    fn surface(&self) -> &Bvh {
        self.exposed.as_ref().unwrap_or(&self.all)
    }

    fn face_normal(&self, triangle: usize) -> DVec3 {
        let [a, b, c] = self.mesh.corners(triangle);
        (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::Z)
    }
}

impl Shape for MeshSolid {
    fn distance(&self, p: DVec3) -> f64 {
        let distance = self.distance_within(p, f64::INFINITY);
        if self.is_inside(p) { -distance } else { distance }
    }

    fn distance_within(&self, p: DVec3, limit: f64) -> f64 {
        self.surface().distance(p, limit)
    }

    fn is_inside(&self, p: DVec3) -> bool {
        self.bounds.contains(p) && self.winding_number(p) > 0.5
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        self.distance_and_normal(p).1
    }

    fn distance_and_normal(&self, p: DVec3) -> (f64, DVec3) {
        let Some(closest) = self.closest_point(p) else {
            return (f64::INFINITY, DVec3::Z);
        };
        let sign = if self.is_inside(p) { -1.0 } else { 1.0 };
        // On the surface the direction is rounding noise.
        let noise = 1e-12 * (self.bounds.size().max_element() + p.abs().max_element());
        let normal = if closest.distance <= noise {
            self.face_normal(closest.triangle)
        } else {
            (sign * (p - closest.point)).try_normalize().unwrap_or(DVec3::Z)
        };
        (sign * closest.distance, normal)
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn flat_solid(&self, _tolerance: f64) -> Option<FlatSolid> {
        FlatSolid::convex(&self.mesh, self.bounds)
    }
}

fn finite_bounds(mesh: &TriMesh) -> Aabb {
    let triangles = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
    Aabb::of_points(triangles.filter(|c| c.iter().all(|p| p.is_finite())).flatten())
}
