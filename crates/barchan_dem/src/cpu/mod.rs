//! Loops. Every chunk of spheres sums the forces on its own spheres: no value is written by two threads, and every sum
//! has a fixed order.

pub(crate) mod block;
pub(crate) mod cells;
pub(crate) mod contacts;
pub(crate) mod forces;
pub(crate) mod motion;
pub(crate) mod near;
pub(crate) mod particles;
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
