//! Blocks of sixteen guides or candidates as columns, read by [`barchan_simd::Gather`]. Arithmetic is left to the compiler.

pub(crate) use barchan_simd::{Gather, block, block_mut, vectorized};

/// Guides or candidates of a block [-].
pub(crate) const LANES: usize = 16;
pub(crate) type Lane = [f32; LANES];
/// Fewest lanes of a part of a block [-].
pub(crate) const NARROWEST: usize = 8;
