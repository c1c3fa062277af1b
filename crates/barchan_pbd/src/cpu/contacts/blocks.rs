//! Bounding spheres in the order of guides, which follow a space-filling curve, with a box around every sixteen spheres
//! and one around every sixteen boxes. The boxes answer overlap queries for few guides, and nothing has to be sorted
//! when some guides move.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

use super::simd::{Gather, LANES, block, vectorized};

/// Spheres as columns, and two levels of boxes. All are padded to whole boxes of the upper level.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Centers and radii [m]. Padding has no radius, so that nothing overlaps it, and the position of the last sphere.
    spheres: [Vec<f32>; 4],
    lower: Boxes,
    upper: Boxes,
}

/// Boxes as columns; those that pad them are nowhere.
#[derive(Debug, Default)]
struct Boxes {
    /// Bounds of centers, and the largest radius [m].
    low: [Vec<f32>; 3],
    high: [Vec<f32>; 3],
    largest: Vec<f32>,
    is_stale: Vec<bool>,
}

impl Boxes {
    fn reset(&mut self, count: usize) {
        for column in self.low.iter_mut().chain(&mut self.high) {
            column.clear();
            column.resize(count, 1e18);
        }
        self.largest.clear();
        self.largest.resize(count, 0.0);
        self.is_stale.clear();
        self.is_stale.resize(count, false);
    }
}

impl Blocks {
    /// Makes boxes of `count` spheres.
    pub(crate) fn build(&mut self, count: usize, sphere: impl Fn(usize) -> Vec4) {
        let upper = count.div_ceil(LANES * LANES);
        for (axis, column) in self.spheres.iter_mut().enumerate() {
            column.clear();
            column.extend((0..count).map(|i| sphere(i)[axis]));
            let padding = if axis < 3 { column.last().copied() } else { None };
            column.resize(upper * LANES * LANES, padding.unwrap_or(f32::NAN));
        }
        self.lower.reset(upper * LANES);
        self.upper.reset(upper.next_multiple_of(LANES));
        self.lower.is_stale.fill(true);
        self.upper.is_stale[..upper].fill(true);
        bound(self);
    }

    /// Sphere `i`.
    pub(crate) fn get(&self, i: usize) -> Vec4 {
        Vec4::from_array([0, 1, 2, 3].map(|axis| self.spheres[axis][i]))
    }

    /// Puts another sphere in the place of sphere `i`; it counts from the next [`bound`] on.
    pub(crate) fn set(&mut self, i: usize, sphere: Vec4) {
        (0..4).for_each(|axis| self.spheres[axis][i] = sphere[axis]);
        self.lower.is_stale[i / LANES] = true;
        self.upper.is_stale[i / (LANES * LANES)] = true;
    }
}

vectorized! {
    /// Makes boxes fit their spheres again.
    pub(crate) fn bound(blocks: &mut Blocks) = bound_with
}

#[inline(always)]
fn bound_with<S: Gather<W>, const W: usize>(_: S, blocks: &mut Blocks) {
    let Blocks { spheres, lower, upper } = blocks;
    for b in 0..upper.is_stale.len() {
        if !std::mem::take(&mut upper.is_stale[b]) {
            continue;
        }
        for k in LANES * b..LANES * (b + 1) {
            if std::mem::take(&mut lower.is_stale[k]) {
                for axis in 0..3 {
                    lower.low[axis][k] = least(block(&spheres[axis], LANES * k));
                    lower.high[axis][k] = greatest(block(&spheres[axis], LANES * k));
                }
                lower.largest[k] = greatest(block(&spheres[3], LANES * k));
            }
        }
        for axis in 0..3 {
            upper.low[axis][b] = least(block(&lower.low[axis], LANES * b));
            upper.high[axis][b] = greatest(block(&lower.high[axis], LANES * b));
        }
        upper.largest[b] = greatest(block(&lower.largest, LANES * b));
    }
}

/// Least of sixteen values; what is not a number does not count.
#[inline(always)]
fn least(values: &[f32; LANES]) -> f32 {
    let best = |least: f32, &x: &f32| if x < least { x } else { least };
    values.iter().fold(f32::INFINITY, best)
}

/// The same for the greatest.
#[inline(always)]
fn greatest(values: &[f32; LANES]) -> f32 {
    let best = |greatest: f32, &x: &f32| if x > greatest { x } else { greatest };
    values.iter().fold(f32::NEG_INFINITY, best)
}

/// Numbers that were found, with room for all that there can be.
#[derive(Debug, Default)]
pub(crate) struct Found {
    all: Vec<u32>,
    count: usize,
}

impl Found {
    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.all[..self.count]
    }
}

vectorized! {
    /// Makes `found` the spheres that overlap `sphere` (center and radius [m]), in their order.
    pub(crate) fn find_near(blocks: &Blocks, sphere: Vec4, found: &mut Found) = find_near_with
}

#[inline(always)]
fn find_near_with<S: Gather<W>, const W: usize>(simd: S, blocks: &Blocks, sphere: Vec4, found: &mut Found) {
    let Blocks { spheres, lower, upper } = blocks;
    let room = spheres[0].len() + W;
    if found.all.len() < room {
        found.all.resize(room, 0);
    }
    let mut count = 0;
    let (mut large, mut small) = ([0; W], [0; W]);
    for first in (0..upper.largest.len()).step_by(W) {
        for &b in upper.near(simd, first, sphere, &mut large) {
            let own = LANES * b as usize;
            for first in (own..own + LANES).step_by(W) {
                for &k in lower.near(simd, first, sphere, &mut small) {
                    let own = LANES * k as usize;
                    for first in (own..own + LANES).step_by(W) {
                        let [x, y, z, r]: [&[f32; W]; 4] = [0, 1, 2, 3].map(|axis| block(&spheres[axis], first));
                        let mut overlaps = [0u32; W];
                        for l in 0..W {
                            let (dx, dy, dz) = (x[l] - sphere.x, y[l] - sphere.y, z[l] - sphere.z);
                            let reach = sphere.w + r[l];
                            overlaps[l] = u32::from(dx * dx + dy * dy + dz * dz < reach * reach);
                        }
                        let slots = found.all[count..].first_chunk_mut().expect("as long as spheres");
                        count += simd.compress(&overlaps, first as u32, slots).count_ones() as usize;
                    }
                }
            }
        }
    }
    found.count = count;
}

impl Boxes {
    /// Those of `W` boxes from `first` on that `sphere` may overlap a sphere of.
    #[inline(always)]
    fn near<'a, S: Gather<W>, const W: usize>(
        &self,
        simd: S,
        first: usize,
        sphere: Vec4,
        numbers: &'a mut [u32; W],
    ) -> &'a [u32] {
        // Rounding must not decide who is asked.
        let radius = 1.0001 * sphere.w + 1e-6 * sphere.truncate().abs().max_element();
        let mut squared = [0.0; W];
        for axis in 0..3 {
            let low: &[f32; W] = block(&self.low[axis], first);
            let high: &[f32; W] = block(&self.high[axis], first);
            for l in 0..W {
                let (before, behind) = (low[l] - sphere[axis], sphere[axis] - high[l]);
                let off = if before > behind { before } else { behind };
                let off = if off > 0.0 { off } else { 0.0 };
                squared[l] += off * off;
            }
        }
        let largest: &[f32; W] = block(&self.largest, first);
        let mut is_near = [0u32; W];
        for l in 0..W {
            let reach = radius + largest[l];
            is_near[l] = u32::from(squared[l] < reach * reach);
        }
        let count = simd.compress(&is_near, first as u32, numbers).count_ones() as usize;
        &numbers[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_neighbors::jittered_lattice;

    #[test]
    fn those_that_overlap_are_found_wherever_they_went() {
        for count in [1, 63, 1000] {
            let lattice = jittered_lattice(count, 0.04, 0.4, 5);
            let mut spheres: Vec<Vec4> = lattice.iter().map(|p| p.extend(0.022)).collect();
            let mut blocks = Blocks::default();
            blocks.build(spheres.len(), |i| spheres[i]);
            for round in 0..3 {
                let mut pairs = 0;
                for &sphere in &spheres {
                    let mut found = Found::default();
                    find_near(&blocks, sphere, &mut found);
                    let near = |&j: &u32| {
                        let reach = sphere.w + spheres[j as usize].w;
                        (sphere - spheres[j as usize]).truncate().length_squared() < reach * reach
                    };
                    let expected: Vec<u32> = (0..spheres.len() as u32).filter(near).collect();
                    assert_eq!(found.as_slice(), expected);
                    pairs += expected.len();
                }
                assert!(pairs >= spheres.len());
                // Some go far away, some grow.
                for i in (round..spheres.len()).step_by(26) {
                    let k = (i / 26) as f32;
                    spheres[i] += Vec4::new(0.1 * k - 1.0, -0.05, 0.03, 0.002 * k);
                    blocks.set(i, spheres[i]);
                }
                bound(&mut blocks);
                (0..spheres.len()).for_each(|i| assert_eq!(blocks.get(i), spheres[i]));
            }
        }
    }
}
