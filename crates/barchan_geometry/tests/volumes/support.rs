//! Small meshes and exact shapes to test against.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use barchan_geometry::{Aabb, Shape, TriMesh, random::Stream};
use glam::{DMat3, DVec2, DVec3};

pub fn cuboid(bounds: Aabb) -> TriMesh {
    let triangles = [
        [0, 2, 3],
        [0, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
    ];
    TriMesh {
        vertices: bounds.corners().to_vec(),
        triangles: triangles.to_vec(),
    }
}

/// A torus about z: `around` by `across` quads.
pub fn torus_mesh(major: f64, minor: f64, around: u32, across: u32) -> TriMesh {
    let vertex = |i: u32, j: u32| {
        let (u, v) = (
            TAU * f64::from(i) / f64::from(around),
            TAU * f64::from(j) / f64::from(across),
        );
        let ring = major + minor * v.cos();
        DVec3::new(ring * u.cos(), ring * u.sin(), minor * v.sin())
    };
    let number = |i: u32, j: u32| (i % around) * across + j % across;
    let quads = || (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    TriMesh {
        vertices: quads().map(|(i, j)| vertex(i, j)).collect(),
        triangles: quads()
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect(),
    }
}

/// A sphere of 20 * 4^`divisions` triangles with its corners on the sphere.
pub fn icosphere(radius: f64, divisions: u32) -> TriMesh {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut vertices: Vec<DVec3> = Vec::new();
    for (s, t) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        vertices.push(DVec3::new(0.0, s, t * golden));
        vertices.push(DVec3::new(s, t * golden, 0.0));
        vertices.push(DVec3::new(t * golden, 0.0, s));
    }
    let mut triangles = Vec::new();
    for a in 0..12u32 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let [p, q, r] = [a, b, c].map(|v| vertices[v as usize]);
                let near = |s: DVec3, t: DVec3| (s.distance(t) - 2.0).abs() < 1e-6;
                if near(p, q) && near(q, r) && near(r, p) {
                    let outward = (q - p).cross(r - p).dot(p) > 0.0;
                    triangles.push(if outward { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    for _ in 0..divisions {
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                vertices.push(0.5 * (vertices[a as usize] + vertices[b as usize]));
                vertices.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
        vertices.iter_mut().for_each(|v| *v = v.normalize());
    }
    vertices.iter_mut().for_each(|v| *v = radius * v.normalize());
    TriMesh { vertices, triangles }
}

/// Both meshes as one, sharing nothing.
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

/// `count` points, uniform in `bounds`.
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

/// A box about the origin, turned by `rotation`.
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
