//! Contact candidates until the next search, chunk by chunk and from both sides.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use barchan_world::{Friction, NEW_ROW, World};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::halo::Halo;
use super::margins::Margins;
use super::nearby::Nearby;
use super::rows::Ways;
use super::simd::{Gather, LANES, Lane, block};
use super::{CHUNK, make_room};

/// The candidates of a chunk of guides: pairs of them with guides of higher numbers.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Those of the chunk's `k`-th guide are `first[k]..first[k + 1]`.
    pub first: Vec<u32>,
    pub other: Vec<u32>,
    /// Numbers of the guide and the other one in this chunk.
    pub own: Vec<u32>,
    pub number: Vec<u32>,
    /// Vector from the other guide's center to the guide's at the search [m]; the last component is the sum of the
    /// radii [m].
    pub base: Vec<Vec4>,
    /// Impulse on the guide in the previous step, opposite to that on the other one [kg m].
    pub impulse: Vec<Vec4>,
    /// 1 if the impulse is not zero, otherwise 0 [-].
    pub held: Vec<f32>,
    pub halo: Halo,
    /// Positions of the guides of the chunk and its halo, by their local numbers, in two parts [m]; the last component
    /// of the first part is the negative radius [m].
    places: Vec<[Vec4; 2]>,
}

/// Geometry of pairs at the last search.
pub(crate) struct Geometry<'a> {
    pub margins: &'a Margins,
    /// Radii of guides [m].
    pub radius: &'a [f32],
    /// Lengths of periodic axes [m]; 0 for open ones.
    pub periods: DVec3,
}

impl<'a> Geometry<'a> {
    pub(crate) fn new(world: &'a World, margins: &'a Margins) -> Self {
        let periods = world.periodic.map(|range| range.map_or(0.0, |[low, high]| high - low));
        Self {
            margins,
            radius: &world.guides.radius,
            periods: DVec3::from_array(periods),
        }
    }

    /// From guide `j` to guide `i`, the image that comes nearest, and the sum of their radii [m].
    fn between(&self, i: usize, j: usize) -> Vec4 {
        let ([position, offset], [other, other_offset]) = (self.margins.base[i], self.margins.base[j]);
        let d = (position - other) + (offset - other_offset);
        self.nearest(i, j, d).extend(self.radius[i] + self.radius[j])
    }

    /// Of the ways `d` [m] from the images of guide `j` to guide `i`, the one that is shortest in the middle of what was searched for: while both are
    /// within their skin, no other image is touched. The other way round it is the same with the other sign, to the bit.
    fn nearest(&self, i: usize, j: usize, d: Vec3) -> Vec3 {
        if self.periods == DVec3::ZERO {
            return d;
        }
        let between = d.as_dvec3() + (self.margins.middle[i] - self.margins.middle[j]).truncate().as_dvec3();
        let images = |axis: usize| match self.periods[axis] > 0.0 {
            true => self.periods[axis] * (between[axis] / self.periods[axis]).round(),
            false => 0.0,
        };
        (d.as_dvec3() - DVec3::new(images(0), images(1), images(2))).as_vec3()
    }
}

/// Distance beyond which guides no longer press on each other, as a fraction of the sum of their radii [-].
const MAX_PRESSED_DISTANCE: f32 = 1.1;

/// Candidates before the search.
#[derive(Clone, Copy)]
pub(crate) struct Past<'a> {
    pub candidates: &'a [Candidates],
    /// Guide `i` had the number `old[i]`, and guide `k` of then has the number `new[k]`.
    pub old: &'a [u32],
    pub new: &'a [u32],
}

/// Makes candidates of all guides that are `nearby`, with the impulses that they had.
pub(crate) fn build(all: &mut Vec<Candidates>, nearby: &Nearby, geometry: &Geometry<'_>, past: Option<Past<'_>>) {
    let n = geometry.radius.len();
    all.resize_with(n.div_ceil(CHUNK).max(all.len()), Candidates::default);
    all.par_iter_mut().enumerate().for_each(|(c, chunk)| {
        chunk.clear();
        let guides = c * CHUNK..n.min((c + 1) * CHUNK);
        for i in guides.clone() {
            chunk.take(c, i, nearby.of(i));
        }
        chunk.locate(c, geometry);
        if let Some(past) = past {
            for i in guides {
                chunk.remember(i, past);
            }
        }
        chunk.pad();
    });
}

/// Makes candidates of the rows of `bare` ones, which have nothing else but impulses.
pub(crate) fn complete(all: &mut Vec<Candidates>, bare: &[Candidates], geometry: &Geometry<'_>) {
    all.resize_with(bare.len(), Candidates::default);
    all.par_iter_mut().zip(bare).enumerate().for_each(|(c, (chunk, bare))| {
        chunk.clear();
        for (k, row) in bare.first.windows(2).enumerate() {
            chunk.take(c, c * CHUNK + k, [&bare.other[row[0] as usize..row[1] as usize]]);
        }
        chunk.locate(c, geometry);
        for b in 0..chunk.len() {
            chunk.hold(b, bare.impulse[b].truncate());
        }
        chunk.pad();
    });
}

/// Returns the row of guide number `i` before the search: the other guides, by their numbers then, and its impulses [kg
/// m].
fn row_of(before: &[Candidates], i: u32) -> Option<(&Candidates, std::ops::Range<usize>)> {
    if i == NEW_ROW {
        return None;
    }
    let chunk = before.get(i as usize / CHUNK)?;
    let k = i as usize % CHUNK;
    let row = chunk.first.get(k..k + 2)?;
    Some((chunk, row[0] as usize..row[1] as usize))
}

impl Candidates {
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.first.push(0);
        self.resize(0);
        self.halo.clear();
    }

    /// All columns are of one length.
    fn resize(&mut self, len: usize) {
        self.other.resize(len, 0);
        self.own.resize(len, 0);
        self.number.resize(len, 0);
        self.base.resize(len, Vec4::Z);
        self.impulse.resize(len, Vec4::ZERO);
        self.held.resize(len, 0.0);
    }

    /// Number of candidates [-], padding left out.
    pub(crate) fn len(&self) -> usize {
        self.first.last().map_or(0, |&end| end as usize)
    }

    /// Returns true if candidate `c` has an impulse.
    pub(crate) fn is_held(&self, c: usize) -> bool {
        self.held[c] > 0.0
    }

    /// Leaves an impulse with candidate `c`.
    #[inline(always)]
    pub(crate) fn hold(&mut self, c: usize, impulse: Vec3) {
        self.impulse[c] = impulse.extend(0.0);
        self.held[c] = if impulse == Vec3::ZERO { 0.0 } else { 1.0 };
    }

    /// Multiplies all impulses.
    pub(crate) fn scale_impulses(&mut self, factor: f32) {
        self.impulse.iter_mut().for_each(|impulse| *impulse *= factor);
    }

    /// Adds a block of candidates that are no contacts and have no impulse.
    fn pad(&mut self) {
        self.resize(self.len() + LANES);
    }

    /// Adds the row of guide `i` of chunk `c`: who is in it.
    fn take<'a>(&mut self, c: usize, i: usize, others: impl IntoIterator<Item = &'a [u32]>) {
        let start = self.other.len();
        let mut end = start;
        for others in others {
            self.other.resize(end + others.len(), 0);
            for &j in others {
                self.other[end] = j;
                end += usize::from(j as usize > i);
            }
        }
        self.other.truncate(end);
        for &j in &self.other[start..] {
            self.number.push(self.halo.number(c, j));
        }
        self.own.resize(end, (i % CHUNK) as u32);
        self.first.push(end as u32);
    }

    /// Finds where the guides of all rows of chunk `c` are to each other. They have no impulses.
    fn locate(&mut self, c: usize, geometry: &Geometry<'_>) {
        let len = self.other.len();
        if len == 0 {
            return;
        }
        for column in [&mut self.base, &mut self.impulse] {
            make_room(column, len + LANES);
        }
        make_room(&mut self.held, len + LANES);
        let (base, radius) = (&geometry.margins.base, geometry.radius);
        let place = |j: usize| [base[j][0].extend(-radius[j]), base[j][1].extend(0.0)];
        self.halo.collect(c, radius.len(), place, &mut self.places);
        self.base
            .extend(self.own.iter().zip(&self.number).map(|(&own, &other)| {
                let ([at, offset], [other_at, other_offset]) = (self.places[own as usize], self.places[other as usize]);
                let at = at * Vec4::new(1.0, 1.0, 1.0, -1.0);
                (at - other_at) + (offset - other_offset)
            }));
        self.resize(len);
        if geometry.periods != DVec3::ZERO {
            for ((base, &own), &other) in self.base.iter_mut().zip(&self.own).zip(&self.other) {
                let (i, j) = (c * CHUNK + own as usize, other as usize);
                *base = geometry.nearest(i, j, base.truncate()).extend(base.w);
            }
        }
    }

    /// Takes over the impulses that the chunk's guide `i` had with guides that it is still near.
    fn remember(&mut self, i: usize, past: Past<'_>) {
        let k = i % CHUNK;
        let own = self.first[k] as usize..self.first[k + 1] as usize;
        let old = past.old[i];
        if let Some((before, row)) = row_of(past.candidates, old) {
            for b in row.filter(|&b| before.is_held(b)) {
                let other = past.new[before.other[b] as usize];
                if let Some(c) = self.other[own.clone()].iter().position(|&j| j == other)
                    && self.is_near(own.start + c)
                {
                    self.hold(own.start + c, before.impulse[b].truncate());
                }
            }
        }
        // Pairs whose other guide had the lower number were that one's.
        for c in own {
            let other = past.old[self.other[c] as usize];
            if other > old || !self.is_near(c) {
                continue;
            }
            if let Some((before, mut row)) = row_of(past.candidates, other)
                && let Some(b) = row.find(|&b| before.other[b] == old)
            {
                self.hold(c, -before.impulse[b].truncate());
            }
        }
    }

    /// Returns true if the guides of candidate `c` are near enough to have pressed on each other in the previous step.
    fn is_near(&self, c: usize) -> bool {
        let base = self.base[c];
        let reach = MAX_PRESSED_DISTANCE * base.w;
        base.truncate().length_squared() < reach * reach
    }

    /// Returns true if guide `i` of the chunk has the higher guide `j` as a candidate.
    pub(crate) fn has(&self, [i, j]: [u32; 2]) -> bool {
        let k = i as usize % CHUNK;
        self.other[self.first[k] as usize..self.first[k + 1] as usize].contains(&j)
    }

    /// Adds `pairs` of the chunk's guides with higher ones, which are in order and new.
    pub(crate) fn insert(&mut self, c: usize, pairs: &[[u32; 2]], geometry: &Geometry<'_>) {
        let mut end = self.other.len();
        self.resize(end + pairs.len());
        // From the last row on, each moves up by what is added before it.
        for (before, &[i, j]) in pairs.iter().enumerate().rev() {
            let row = self.first[i as usize - c * CHUNK + 1] as usize;
            self.move_up(row..end, before + 1);
            end = row;
            let (own, other, place) = (i as usize, j as usize, row + before);
            self.other[place] = j;
            self.own[place] = i % CHUNK as u32;
            self.number[place] = self.halo.number(c, j);
            self.base[place] = geometry.between(own, other);
            self.impulse[place] = Vec4::ZERO;
            self.held[place] = 0.0;
        }
        let mut added = 0;
        for (k, first) in self.first[1..].iter_mut().enumerate() {
            while pairs.get(added).is_some_and(|pair| pair[0] as usize == c * CHUNK + k) {
                added += 1;
            }
            *first += added as u32;
        }
    }

    fn move_up(&mut self, range: std::ops::Range<usize>, by: usize) {
        let to = range.start + by;
        self.other.copy_within(range.clone(), to);
        self.own.copy_within(range.clone(), to);
        self.number.copy_within(range.clone(), to);
        self.base.copy_within(range.clone(), to);
        self.impulse.copy_within(range.clone(), to);
        self.held.copy_within(range, to);
    }

    /// Adds a row of pairs of which nothing but the impulse is known, to remember from.
    pub(crate) fn push_row(&mut self, row: impl Iterator<Item = (u32, Vec3)>) {
        for (j, p) in row {
            let c = self.other.len();
            self.resize(c + 1);
            self.other[c] = j;
            self.hold(c, p);
        }
        self.first.push(self.other.len() as u32);
    }

    /// Makes `active` the list of candidates that are in contact: nearer than `near` [-] times the sum of the radii now or at the
    /// end of the free motion, or with an impulse to go on from, and not both asleep. Those of the `k`-th guide end at
    /// `ends[k + 1]`.
    #[inline(always)]
    pub(crate) fn find_active<S: Gather<W>, const W: usize>(
        &self,
        simd: S,
        ways: &Ways,
        near: f32,
        active: &mut Vec<u32>,
        ends: &mut Vec<u32>,
        blocks: &mut Vec<(u32, u16)>,
    ) {
        let len = self.len();
        assert!(ways.at.len() == self.halo.len() && ways.free.len() == self.halo.len());
        if active.len() < len + W {
            active.resize(len + W, 0);
        }
        // Of each block, how many were active before it, and which of it are.
        blocks.clear();
        let mut count = 0;
        for c in (0..len).step_by(W) {
            let (own, other) = (block(&self.own, c), block(&self.number, c));
            let (base, held) = (simd.load_rows(block(&self.base, c)), block::<_, W>(&self.held, c));
            let (at, own, other) = (
                simd.minus(&simd.gather(&ways.at, own), &simd.gather(&ways.at, other)),
                simd.gather(&ways.free, own),
                simd.gather(&ways.free, other),
            );
            let free = simd.minus(&own, &other);
            let mut is_active = [0u32; W];
            for l in 0..W {
                let (x, y, z) = (base[0][l] + at[0][l], base[1][l] + at[1][l], base[2][l] + at[2][l]);
                let now = x * x + y * y + z * z;
                let (x, y, z) = (x + free[0][l], y + free[1][l], z + free[2][l]);
                let then = x * x + y * y + z * z;
                let reach = near * base[3][l];
                let touches = (now.min(then) < reach * reach) | (held[l] > 0.0);
                is_active[l] = u32::from(touches & (own[3][l] + other[3][l] < 1.5));
            }
            let slots = active[count..].first_chunk_mut().expect("as long as candidates");
            let lanes = simd.compress(&is_active, c as u32, slots);
            blocks.push((count as u32, lanes));
            count += lanes.count_ones() as usize;
        }
        blocks.push((count as u32, 0));
        let before = |&c: &u32| {
            let (count, lanes) = blocks[c as usize / W];
            count + (lanes & ((1 << (c as usize % W)) - 1)).count_ones()
        };
        ends.clear();
        ends.extend(self.first.iter().map(before));
    }

    /// Sum of the impulses between guides [kg m].
    pub(crate) fn impulses(&self) -> f32 {
        self.impulse.iter().map(|p| p.length()).sum()
    }

    /// Deepest overlap, of the mean of two radii [-], of the guides from `i` on, if there are any, and the guide that has it.
    pub(crate) fn deepest(&self, i: usize, at: &[Vec4]) -> (f32, u32) {
        let (mut deepest, mut guide) = (0.0f32, 0);
        let own = at.get(i..).unwrap_or_default();
        for (k, (at_i, row)) in own.iter().zip(self.first.windows(2)).enumerate() {
            for c in row[0] as usize..row[1] as usize {
                let d = self.base[c] + (*at_i - at[self.other[c] as usize]);
                let (reach, squared) = (d.w, d.truncate().length_squared());
                // Few are deeper than all before.
                let near = reach * (1.0 - 0.5 * deepest);
                if squared < near * near {
                    let overlap = 2.0 * (reach - squared.sqrt()) / reach;
                    if overlap > deepest {
                        (deepest, guide) = (overlap, (i + k) as u32);
                    }
                }
            }
        }
        (deepest, guide)
    }
}

/// Friction of each two materials.
#[derive(Clone, Copy)]
pub(crate) struct PairFriction<'a> {
    pub of: &'a [u8],
    /// One row per material.
    pub table: &'a [Friction],
    pub materials: usize,
}

impl PairFriction<'_> {
    /// Friction of all pairs, if there is but one material.
    pub(crate) fn uniform(&self) -> Option<[Lane; 2]> {
        match self.table {
            [only] => Some([[only.r#static; LANES], [only.kinetic; LANES]]),
            _ => None,
        }
    }

    /// Friction of guides of the materials `own` with those of the materials `other`.
    #[inline(always)]
    pub(crate) fn fill(&self, own: &[u8; LANES], other: &[u8; LANES], [r#static, kinetic]: &mut [Lane; 2]) {
        for l in 0..LANES {
            let friction = self.table[usize::from(own[l]) * self.materials + usize::from(other[l])];
            (r#static[l], kinetic[l]) = (friction.r#static, friction.kinetic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::contacts::margins::Ahead;
    use crate::cpu::rules::SLACK;
    use barchan_neighbors::jittered_lattice;
    use barchan_world::{Guide, Guides};

    #[test]
    fn every_near_pair_is_found_once() {
        let mut guides = Guides::default();
        for (id, position) in (0..).zip(jittered_lattice(2000, 0.04, 0.4, 3)) {
            guides.push(Guide {
                id,
                position,
                radius: 0.015 + 0.001 * (id % 7) as f32,
                ..Guide::default()
            });
        }
        let mut margins = Margins::default();
        margins.reset(guides.len());
        margins.rebase(&guides);
        let ahead = Ahead {
            steps: 1.0,
            frames: 1.0,
            near: 0.0,
            margin: 0.002,
            most: f32::INFINITY,
        };
        margins.look_ahead(ahead, &vec![Vec4::ZERO; guides.len()]);
        let (mut nearby, mut all) = (Nearby::default(), Vec::new());
        nearby.find(&guides.radius, &margins, 1.0).unwrap();
        let geometry = Geometry {
            margins: &margins,
            radius: &guides.radius,
            periods: DVec3::ZERO,
        };
        build(&mut all, &nearby, &geometry, None);
        let offset = |i: usize, j: usize| {
            let (chunk, row) = row_of(&all, i as u32).unwrap();
            let found: Vec<usize> = row.filter(|&c| chunk.other[c] == j as u32).collect();
            assert!(found.len() < 2);
            found.first().map(|&c| chunk.base[c].truncate())
        };
        for i in 0..guides.len() {
            for j in 0..i {
                let reach = |k: usize| (1.0 + SLACK) * guides.radius[k] + 0.002;
                let reach = reach(i) + reach(j);
                let between = guides.position[j] - guides.position[i];
                let near = between.length_squared() < reach * reach;
                assert_eq!(offset(j, i), near.then_some(between), "{i} {j}");
                assert_eq!(offset(i, j), None);
            }
        }
    }

    /// Guides of radius 1 m that were at these positions on the x axis [m] at the search.
    fn in_a_line(x: &[f32]) -> Margins {
        Margins {
            base: x.iter().map(|&x| [Vec3::X * x, Vec3::ZERO]).collect(),
            ..Margins::default()
        }
    }

    #[test]
    fn new_pairs_are_added_behind_their_rows() {
        let margins = in_a_line(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let geometry = Geometry {
            margins: &margins,
            radius: &[1.0; 5],
            periods: DVec3::ZERO,
        };
        let rows: [&[u32]; 5] = [&[1], &[0, 2], &[1], &[], &[]];
        let mut chunk = Candidates::default();
        chunk.clear();
        for (i, row) in rows.iter().enumerate() {
            chunk.take(0, i, [*row]);
        }
        chunk.locate(0, &geometry);
        chunk.pad();
        chunk.hold(1, Vec3::ONE);
        let pairs: Vec<[u32; 2]> = [[0, 1], [0, 3], [0, 4], [1, 4], [3, 4]]
            .into_iter()
            .filter(|&pair| !chunk.has(pair))
            .collect();
        chunk.insert(0, &pairs, &geometry);
        assert_eq!(chunk.first, [0, 3, 5, 5, 6, 6]);
        assert_eq!(chunk.other[..6], [1, 3, 4, 2, 4, 4]);
        assert_eq!(chunk.own[..6], [0, 0, 0, 1, 1, 3]);
        assert_eq!(chunk.number[..6], chunk.other[..6]);
        assert_eq!(chunk.held[..6], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        for c in 0..chunk.len() {
            let (own, other) = (chunk.own[c] as usize, chunk.other[c] as usize);
            assert_eq!(chunk.base[c].truncate(), Vec3::X * (own as f32 - other as f32));
        }
        assert_eq!(chunk.other.len(), 6 + LANES);
    }

    #[test]
    fn impulses_follow_their_pair_to_new_numbers() {
        let mut before = vec![Candidates::default()];
        before[0].clear();
        before[0].push_row([(1, Vec3::X), (2, Vec3::Y)].into_iter());
        before[0].push_row([(2, Vec3::ZERO)].into_iter());
        before[0].push_row([].into_iter());
        // Guide 0 is now called 2, guide 1 is called 0, guide 2 is called 1.
        let past = Past {
            candidates: &before,
            old: &[1, 2, 0],
            new: &[2, 0, 1],
        };
        let remembered = |position: [f32; 3]| {
            let margins = in_a_line(&position);
            let geometry = Geometry {
                margins: &margins,
                radius: &[1.0; 3],
                periods: DVec3::ZERO,
            };
            let mut now = Candidates::default();
            now.clear();
            now.take(0, 0, [&[1, 2][..]]);
            now.take(0, 1, [&[0, 2][..]]);
            now.locate(0, &geometry);
            now.remember(0, past);
            now.remember(1, past);
            (now.impulse, now.held)
        };
        let impulses = vec![Vec4::ZERO, -Vec4::X, -Vec4::Y];
        assert_eq!(remembered([0.0, 0.1, 0.2]), (impulses, vec![0.0, 1.0, 1.0]));
        // Those that have gone apart have let go.
        let impulses = vec![Vec4::ZERO, Vec4::ZERO, -Vec4::Y];
        assert_eq!(remembered([0.0, 1.0, 3.0]), (impulses, vec![0.0, 0.0, 1.0]));
    }
}
