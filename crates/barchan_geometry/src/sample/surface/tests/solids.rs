//! Solids with exact distances, and their triangles.

use std::f64::consts::TAU;

use crate::{Aabb, Shape, TriMesh};
use glam::DVec3;

/// A box around the origin.
#[derive(Clone, Copy, Debug)]
pub struct Cuboid {
    /// Half the sides [m].
    pub half: DVec3,
}

impl Shape for Cuboid {
    fn distance(&self, p: DVec3) -> f64 {
        let q = p.abs() - self.half;
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let q = p.abs() - self.half;
        let outside = q.max(DVec3::ZERO);
        let sign = DVec3::ONE.copysign(p);
        if let Some(n) = outside.try_normalize() {
            return sign * n;
        }
        let axis = if q.x == q.max_element() {
            DVec3::X
        } else if q.y == q.max_element() {
            DVec3::Y
        } else {
            DVec3::Z
        };
        sign * axis
    }

    fn bounds(&self) -> Aabb {
        Aabb::new(-self.half, self.half)
    }
}

impl Cuboid {
    pub fn mesh(&self) -> TriMesh {
        // Bit a of k is the sign of corner k along axis a.
        let quads = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        TriMesh {
            vertices: self.bounds().corners().to_vec(),
            triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        }
    }
}

/// A torus around the z axis.
#[derive(Clone, Copy, Debug)]
pub struct Torus {
    /// Radius [m] of the circle in its middle.
    pub major: f64,
    /// Radius [m] of the tube.
    pub minor: f64,
}

impl Torus {
    fn core(&self, p: DVec3) -> DVec3 {
        self.major * DVec3::new(p.x, p.y, 0.0).normalize_or(DVec3::X)
    }

    /// Returns its surface in `n` times `n` patches.
    pub fn mesh(&self, n: u32) -> TriMesh {
        let angle = |k: u32| TAU * f64::from(k) / f64::from(n);
        let vertex = |k: u32| {
            let (u, v) = (angle(k / n), angle(k % n));
            let across = self.major + self.minor * v.cos();
            DVec3::new(across * u.cos(), across * u.sin(), self.minor * v.sin())
        };
        let at = |i: u32, j: u32| (i % n) * n + j % n;
        let patch = |k: u32| {
            let (i, j) = (k / n, k % n);
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        };
        TriMesh {
            vertices: (0..n * n).map(vertex).collect(),
            triangles: (0..n * n).flat_map(patch).collect(),
        }
    }
}

impl Shape for Torus {
    fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.core(p)) - self.minor
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        (p - self.core(p)).normalize_or(DVec3::Z)
    }

    fn bounds(&self) -> Aabb {
        let wide = self.major + self.minor;
        let corner = DVec3::new(wide, wide, self.minor);
        Aabb::new(-corner, corner)
    }
}
