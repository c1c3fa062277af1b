//! Stable counting sort of points by a 32-bit key, in parallel and without allocation once warm.
//!
//! Two levels: input slices are first dealt into a few hundred buckets of neighboring keys, then each bucket is
//! counted and dealt on its own, inside the cache. Both levels are stable, so the result is that of one sequential
//! counting sort whatever the number of threads.

use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Points of a bucket [-], on average: 16 bytes each, so that a bucket fits in the level-1 cache.
const BUCKET_POINTS: usize = 1024;
/// More open buckets than this [-] would thrash the level-1 cache and its address translation.
const MAX_BUCKETS: usize = 1024;
/// Points of an input slice [-], at least.
const SLICE_POINTS: usize = 8192;
/// Vector loads may run over the end of a column by this many elements [-].
pub(crate) const PAD: usize = 16;

/// Points in key order, one column per coordinate, each padded by [`PAD`].
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) z: Vec<f32>,
    /// Index of the point in the input.
    pub(crate) id: Vec<u32>,
    /// Points of key `k` are `bounds[k]..bounds[k + 1]`.
    pub(crate) bounds: Vec<u32>,
}

/// Buffers of the sort.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    keys: Vec<u32>,
    counts: Vec<u32>,
    dealt: Vec<Dealt>,
}

/// A point in its bucket. Atomic, since slices of the input write to places that only the counts know to be disjoint;
/// relaxed stores and loads are plain ones on every machine we build for.
#[derive(Debug, Default)]
struct Dealt {
    xy: AtomicU64,
    z_id: AtomicU64,
    key: AtomicU32,
}

impl Dealt {
    fn set(&self, p: Vec3, id: u32, key: u32) {
        self.xy.store(pack(p.x.to_bits(), p.y.to_bits()), Relaxed);
        self.z_id.store(pack(p.z.to_bits(), id), Relaxed);
        self.key.store(key, Relaxed);
    }
}

fn pack(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Sorter {
    /// Sorts `points` into `columns` by `key`, which lies in `0..key_count`; `place` gives the position to store.
    pub(crate) fn sort(
        &mut self,
        points: &[Vec3],
        key_count: usize,
        place: impl Fn(Vec3) -> Vec3 + Sync,
        key: impl Fn(Vec3) -> u32 + Sync,
        columns: &mut Columns,
    ) {
        let n = points.len();
        let wanted = (n / BUCKET_POINTS).clamp(1, MAX_BUCKETS);
        let shift = key_count.div_ceil(wanted).next_power_of_two().trailing_zeros();
        let buckets = key_count.div_ceil(1 << shift);
        let slices = n.div_ceil(SLICE_POINTS).clamp(1, 4 * rayon::current_num_threads());
        let slice = n.div_ceil(slices).max(1);

        self.keys.resize(n, 0);
        self.counts.clear();
        self.counts.resize(slices * buckets, 0);
        if self.dealt.len() < n {
            self.dealt.resize_with(n, Dealt::default);
        }
        columns.resize(n, key_count);

        points
            .par_chunks(slice)
            .zip(self.keys.par_chunks_mut(slice))
            .zip(self.counts.par_chunks_mut(buckets))
            .for_each(|((points, keys), counts)| {
                for (p, k) in points.iter().zip(keys) {
                    *k = key(place(*p));
                    counts[(*k >> shift) as usize] += 1;
                }
            });
        exclusive_sums(&mut self.counts, buckets);
        let dealt = &self.dealt[..n];
        points
            .par_chunks(slice)
            .zip(self.keys.par_chunks(slice))
            .zip(self.counts.par_chunks_mut(buckets))
            .enumerate()
            .for_each(|(s, ((points, keys), next))| {
                let first = (s * slice) as u32;
                for ((id, p), &k) in (first..).zip(points).zip(keys) {
                    let at = &mut next[(k >> shift) as usize];
                    dealt[*at as usize].set(place(*p), id, k);
                    *at += 1;
                }
            });

        // The last slice's counters have run to the ends of the buckets.
        let ends = &self.counts[(slices - 1) * buckets..];
        Task {
            dealt,
            ends,
            shift,
            first_bucket: 0,
            first_point: 0,
        }
        .run(Out {
            x: &mut columns.x[..n],
            y: &mut columns.y[..n],
            z: &mut columns.z[..n],
            id: &mut columns.id[..n],
            ends: &mut columns.bounds[1..],
        });
    }
}

impl Columns {
    fn resize(&mut self, n: usize, key_count: usize) {
        for column in [&mut self.x, &mut self.y, &mut self.z] {
            column.resize(n + PAD, 0.0);
        }
        self.id.resize(n + PAD, 0);
        self.bounds.resize(key_count + 1, 0);
        self.bounds[0] = 0;
    }

    pub(crate) fn position(&self, slot: usize) -> Vec3 {
        Vec3::new(self.x[slot], self.y[slot], self.z[slot])
    }
}

/// Counts per slice and bucket become first places: bucket by bucket, and slice by slice within a bucket.
fn exclusive_sums(counts: &mut [u32], buckets: usize) {
    let mut sum = 0;
    for b in 0..buckets {
        for count in counts[b..].iter_mut().step_by(buckets) {
            sum += std::mem::replace(count, sum);
        }
    }
}

/// Some consecutive buckets, still to be sorted.
struct Task<'a> {
    dealt: &'a [Dealt],
    /// Last place + 1 of each bucket, counted over all points.
    ends: &'a [u32],
    shift: u32,
    first_bucket: usize,
    first_point: u32,
}

/// Destination of the points and the bounds of those buckets.
struct Out<'a> {
    x: &'a mut [f32],
    y: &'a mut [f32],
    z: &'a mut [f32],
    id: &'a mut [u32],
    ends: &'a mut [u32],
}

impl Task<'_> {
    fn run(self, out: Out<'_>) {
        if self.ends.len() == 1 {
            return self.sort_bucket(out);
        }
        let half = self.ends.len() / 2;
        let middle = self.ends[half - 1];
        let points = (middle - self.first_point) as usize;
        let (dealt_low, dealt_high) = self.dealt.split_at(points);
        let (ends_low, ends_high) = self.ends.split_at(half);
        let (low, high) = out.split(points, half << self.shift);
        let low_task = Task {
            dealt: dealt_low,
            ends: ends_low,
            ..self
        };
        let first_bucket = self.first_bucket + half;
        let high_task = Task {
            dealt: dealt_high,
            ends: ends_high,
            first_bucket,
            first_point: middle,
            ..self
        };
        rayon::join(|| low_task.run(low), || high_task.run(high));
    }

    fn sort_bucket(self, out: Out<'_>) {
        let first_key = (self.first_bucket << self.shift) as u32;
        out.ends.fill(0);
        for point in self.dealt {
            out.ends[(point.key.load(Relaxed) - first_key) as usize] += 1;
        }
        let mut sum = self.first_point;
        for end in out.ends.iter_mut() {
            sum += std::mem::replace(end, sum);
        }
        // Each counter starts at the first index of its key and stops at its end, as `bounds` requires.
        for point in self.dealt {
            let end = &mut out.ends[(point.key.load(Relaxed) - first_key) as usize];
            let at = (*end - self.first_point) as usize;
            *end += 1;
            let (xy, z_id) = (point.xy.load(Relaxed), point.z_id.load(Relaxed));
            out.x[at] = f32::from_bits(xy as u32);
            out.y[at] = f32::from_bits((xy >> 32) as u32);
            out.z[at] = f32::from_bits(z_id as u32);
            out.id[at] = (z_id >> 32) as u32;
        }
    }
}

impl<'a> Out<'a> {
    fn split(self, points: usize, keys: usize) -> (Self, Self) {
        let (x, x_high) = self.x.split_at_mut(points);
        let (y, y_high) = self.y.split_at_mut(points);
        let (z, z_high) = self.z.split_at_mut(points);
        let (id, id_high) = self.id.split_at_mut(points);
        let (ends, ends_high) = self.ends.split_at_mut(keys);
        (
            Self { x, y, z, id, ends },
            Self {
                x: x_high,
                y: y_high,
                z: z_high,
                id: id_high,
                ends: ends_high,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_input_order() {
        let points: Vec<Vec3> = (0..40_000u32)
            .map(|i| Vec3::splat((i.wrapping_mul(2_654_435_761) >> 20) as f32))
            .collect();
        let (mut sorter, mut columns) = (Sorter::default(), Columns::default());
        sorter.sort(&points, 4096, |p| p, |p| p.x as u32, &mut columns);
        let mut expected: Vec<u32> = (0..40_000).collect();
        expected.sort_by_key(|&i| points[i as usize].x as u32);
        assert_eq!(&columns.id[..40_000], expected);
        for k in 0..4096 {
            for slot in columns.bounds[k]..columns.bounds[k + 1] {
                assert_eq!(columns.x[slot as usize], k as f32);
            }
        }
        assert_eq!(columns.bounds[4096], 40_000);
    }
}
