use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::sdf_grid::SdfGrid;
use glam::Vec3;

/// Boundary of a body for guides, in the body's frame.
#[derive(Clone, Debug)]
pub enum Boundary {
    /// Distance field on a grid.
    Field(Arc<SdfGrid>),
    /// Exact distance, for unbounded solids, which no grid covers.
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
