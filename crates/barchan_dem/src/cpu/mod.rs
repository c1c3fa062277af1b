//! The loops. Every chunk of spheres sums what acts on its own spheres, so nothing is written by two, and the sums have one order.

pub(crate) mod block;
pub(crate) mod cells;
pub(crate) mod contacts;
pub(crate) mod forces;
pub(crate) mod grains;
pub(crate) mod motion;
pub(crate) mod near;
pub(crate) mod past;
pub(crate) mod rkf45;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod share;
pub(crate) mod simd;
pub(crate) mod surface;
pub(crate) mod walls;

/// Spheres of a chunk [-]. A pair in one chunk is computed once, one across two chunks twice; the larger a chunk the fewer those are.
pub(crate) const CHUNK: usize = 1024;
