//! Loops over columns: contiguous chunks of guides for the threads, every sum in a fixed order.

pub(crate) mod bodies;
pub(crate) mod guides;
pub(crate) mod memory;
pub(crate) mod pairs;
pub(crate) mod solve;
pub(crate) mod surface;
pub(crate) mod walls;

/// Guides of a chunk [-], the unit of parallel work.
pub(crate) const CHUNK: usize = 256;

/// Calls `work` with each part of `slice` that `bounds` (places of the first of each part, and the end) cut it into.
pub(crate) fn for_each_part<T: Send>(slice: &mut [T], bounds: &[u32], work: &(impl Fn(usize, &mut [T]) + Sync)) {
    fn split<T: Send>(slice: &mut [T], bounds: &[u32], first: usize, work: &(impl Fn(usize, &mut [T]) + Sync)) {
        let parts = bounds.len() - 1;
        if parts <= 1 {
            return work(first, slice);
        }
        let half = parts / 2;
        let (low, high) = slice.split_at_mut((bounds[half] - bounds[0]) as usize);
        rayon::join(
            || split(low, &bounds[..=half], first, work),
            || split(high, &bounds[half..], first + half, work),
        );
    }
    if bounds.len() > 1 {
        split(slice, bounds, 0, work);
    }
}
