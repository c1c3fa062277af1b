use std::sync::Arc;

use barchan_geometry::{Shape, sdf_grid::SdfGrid};
use glam::Vec3;

/// What guides see of a body, in the body's frame.
#[derive(Clone, Debug)]
pub enum Boundary {
    /// Its distance on a grid.
    Field(Arc<SdfGrid>),
    /// Its shape itself.
    Exact(Arc<dyn Shape>),
    /// Particles on its surface.
    Particles {
        /// Centres [m].
        positions: Arc<[Vec3]>,
        /// Outward unit normals [-].
        normals: Arc<[Vec3]>,
        /// Radius of each [m].
        radius: f32,
    },
}
