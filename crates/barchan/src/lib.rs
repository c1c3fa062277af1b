//! barchan simulates granular material in high resolution; this crate is what a library user depends on.
pub use {barchan_geometry as geometry, barchan_io as io, barchan_neighbors as neighbors, barchan_scene as scene};
