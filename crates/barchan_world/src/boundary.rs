use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::sdf_grid::SdfGrid;
use glam::Vec3;

/// Boundary of a body for guides, in the body's frame.
#[derive(Clone, Debug)]
pub enum Boundary {
    /// Its distance on a grid.
    Field(Arc<SdfGrid>),
    /// Its distance itself: for solids without an end, which no grid covers.
    Exact(Arc<dyn Shape>),
    /// Particles on its surface.
    Particles {
        /// Centers [m].
        positions: Arc<[Vec3]>,
        /// Outward unit normals [-].
        normals: Arc<[Vec3]>,
        /// Radius of each [m].
        radius: f32,
    },
}
