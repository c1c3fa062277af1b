//! Boundaries of bodies that are particles.

use std::sync::Arc;

use barchan_geometry::Aabb;
use barchan_neighbors::Grid;
use barchan_world::{Body, Boundary};
use glam::{DVec3, Vec3};

/// Particles on the surface of a body, in the body's frame, for contacts with guides.
#[derive(Clone, Debug)]
pub struct ParticleBoundary {
    positions: Arc<[Vec3]>,
    grid: Arc<Grid>,
    /// Radius of each particle [m].
    pub radius: f64,
    /// Box around the centers of the particles [m].
    pub bounds: Aabb,
}

impl ParticleBoundary {
    /// Creates the particles of `body`, if its boundary is particles; `reach` returns the distance of centers at which they are
    /// felt [m] for the radius of a particle [m].
    pub fn new(body: &Body, reach: impl FnOnce(f64) -> f64) -> Option<Self> {
        let Boundary::Particles { positions, radius, .. } = &body.boundary else {
            return None;
        };
        let radius = f64::from(*radius);
        let mut grid = Grid::new();
        grid.build(positions, reach(radius) as f32)
            .expect("boundary particles are finite");
        Some(Self {
            positions: positions.clone(),
            grid: Arc::new(grid),
            radius,
            bounds: Aabb::of_points(positions.iter().map(|p| p.as_dvec3())),
        })
    }

    /// Checks whether these are the particles of `body`.
    pub fn is_of(&self, body: &Body) -> bool {
        matches!(&body.boundary, Boundary::Particles { positions, .. } if Arc::ptr_eq(positions, &self.positions))
    }

    /// Visits the centers [m] of the particles within reach of `p` [m].
    #[inline]
    pub fn near(&self, p: DVec3, mut visit: impl FnMut(DVec3)) {
        self.grid
            .near(p.as_vec3(), |k, _| visit(self.positions[k as usize].as_dvec3()));
    }
}
