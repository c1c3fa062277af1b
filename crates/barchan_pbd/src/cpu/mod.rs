//! Loops over columns: contiguous chunks of guides for the threads, every sum in a fixed order.

pub(crate) mod bodies;
pub(crate) mod contacts;
pub(crate) mod guides;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod scene;
pub(crate) mod seen;
pub(crate) mod simd;
pub(crate) mod sleep;
pub(crate) mod surface;
pub(crate) mod walls;

/// Guides of a chunk [-], the unit of parallel work; a power of two.
pub(crate) const CHUNK: usize = 256;

/// Reserves `len` entries [-] and some more. Grows without copying; old contents are discarded.
pub(crate) fn make_room<T>(column: &mut Vec<T>, len: usize) {
    if column.capacity() < len {
        // The old memory goes before the new comes.
        *column = Vec::new();
        column.reserve_exact(len + len / 4);
    }
}
