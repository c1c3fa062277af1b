//! Small meshes and exact shapes to test against.

use barchan_geometry::mesh::primitives;
use barchan_geometry::{Aabb, Shape, TriMesh, random::Stream};
use glam::{DMat3, DVec2, DVec3};

/// Returns the mesh of a box.
pub fn cuboid(bounds: Aabb) -> TriMesh {
    moved(primitives::cuboid(bounds.size()), bounds.center())
}

/// Joins both meshes without sharing vertices.
pub fn join(mut a: TriMesh, b: &TriMesh) -> TriMesh {
    let offset = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + offset)));
    a
}

pub fn moved(mut mesh: TriMesh, by: DVec3) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|v| *v += by);
    mesh
}

/// Returns `count` points, uniform in `bounds`.
pub fn points_in(bounds: Aabb, count: u64) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |n| bounds.min + bounds.size() * Stream::new(11, n).unit_cube())
}

#[derive(Debug)]
pub struct Sphere {
    pub center: DVec3,
    pub radius: f64,
}

impl Shape for Sphere {
    fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.center) - self.radius
    }
    fn bounds(&self) -> Aabb {
        Aabb::new(self.center, self.center).grown(self.radius)
    }
}

/// A box about the origin, rotated by `rotation`.
#[derive(Debug)]
pub struct Block {
    pub half: DVec3,
    pub rotation: DMat3,
}

impl Shape for Block {
    fn distance(&self, p: DVec3) -> f64 {
        let q = (self.rotation.transpose() * p).abs() - self.half;
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
    }
    fn bounds(&self) -> Aabb {
        Aabb::of_points(Aabb::new(-self.half, self.half).corners().map(|c| self.rotation * c))
    }
}

/// A torus about z.
#[derive(Debug)]
pub struct Torus {
    pub major: f64,
    pub minor: f64,
}

impl Shape for Torus {
    fn distance(&self, p: DVec3) -> f64 {
        DVec2::new(p.truncate().length() - self.major, p.z).length() - self.minor
    }
    fn bounds(&self) -> Aabb {
        let half = DVec3::new(self.major, self.major, 0.0) + self.minor;
        Aabb::new(-half, half)
    }
}
