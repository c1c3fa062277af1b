//! Loops over columns: contiguous chunks of guides for the threads, every sum in a fixed order.

pub(crate) mod bodies;
pub(crate) mod cohesion;
pub(crate) mod columns;
pub(crate) mod cover;
pub(crate) mod discrete;
pub(crate) mod drag;
pub(crate) mod friction;
pub(crate) mod map;
pub(crate) mod memory;
pub(crate) mod moisture;
pub(crate) mod near;
pub(crate) mod pairs;
pub(crate) mod pressure;
pub(crate) mod simd;
pub(crate) mod surface;
pub(crate) mod viscosity;
pub(crate) mod walls;

/// Guides of a chunk [-], the unit of parallel work.
pub(crate) const CHUNK: usize = 256;
