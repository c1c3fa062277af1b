//! Contacts between guides in a step, and the passes over them. A row holds the k-th contact of each of [`LANES`]
//! guides with guides of higher numbers. Vector code is left to the compiler, which gets arrays of [`LANES`].
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

use super::contacts::candidates::{Candidates, PairFriction};
use super::contacts::halo::Halo;
use super::row::{Extra, Row};
use super::rules::{Rules, SLACK};
use super::simd::{Gather, LANES, Lane, NARROWEST, block, block_mut, vectorized};
use super::{CHUNK, make_room};
use crate::FrictionMode;
use crate::laws::contact;

/// The contacts of a chunk of guides in a step.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Rows of this step and, after them, of others.
    rows: Vec<Row>,
    /// Optional columns of the rows, if friction needs them.
    extras: Vec<Extra>,
    /// The candidate that stands for none.
    none: u32,
    /// First row of each slice, and the end.
    first: Vec<u32>,
    /// The guides of all slices by their numbers in the chunk, those with the most contacts first; the last one fills the last
    /// slice.
    guides: Vec<u32>,
    /// Guides of the chunk [-].
    count: usize,
    /// Sum of the impulses of the chunk's contacts on each local guide, and the number of contacts [-] while they are
    /// placed.
    sums: Vec<Vec4>,
    /// Friction of all contacts, if it is the same.
    mu: Option<[Lane; 2]>,
    /// Candidates in contact, guide after guide; those of the `k`-th are `active[ends[k]..ends[k + 1]]`.
    active: Vec<u32>,
    ends: Vec<u32>,
    blocks: Vec<(u32, u16)>,
    /// Columns by the chunk's numbers: ways, then what a pass reads.
    ways: Ways,
    reads: Vec<Vec4>,
    shares: Vec<f32>,
    materials: Vec<u8>,
}

/// Displacements of a chunk's guides and its halo, by local numbers.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Displacement since the search [m].
    pub at: Vec<Vec4>,
    /// Displacement in this step without contacts [m]; the last component is 1 for guides that sleep [-].
    pub free: Vec<Vec4>,
    asleep: Vec<bool>,
}

impl Ways {
    /// Takes the columns of all guides for chunk `c`. Gives whether all sleep.
    fn take(&mut self, c: usize, halo: &Halo, at: &[Vec4], free: &[Vec4], asleep: &[bool]) -> bool {
        halo.copy(c, asleep, &mut self.asleep);
        let own = CHUNK.min(asleep.len() - c * CHUNK);
        if self.asleep[..own]
            .iter()
            .chain(&self.asleep[CHUNK..])
            .all(|&asleep| asleep)
        {
            return true;
        }
        halo.copy(c, at, &mut self.at);
        halo.copy(c, free, &mut self.free);
        for (free, &asleep) in self.free.iter_mut().zip(&self.asleep) {
            free.w = f32::from(u8::from(asleep));
        }
        false
    }
}

/// Inputs for placing contacts: columns of all guides.
#[derive(Clone, Copy)]
pub(crate) struct Placing<'a> {
    pub at: &'a [Vec4],
    pub free: &'a [Vec4],
    pub asleep: &'a [bool],
    pub friction: PairFriction<'a>,
    pub rules: Rules,
}

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.guides.clear();
        self.sums.clear();
        self.count = 0;
        self.ends.clear();
    }

    /// Returns the sum of the impulses of the chunk's contacts on each local guide [kg m]; empty while all of them
    /// sleep.
    pub(crate) fn sums(&self) -> &[Vec4] {
        match self.count {
            0 => &[],
            _ => &self.sums,
        }
    }

    /// Number of slices [-].
    fn slices(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    /// Room for all `candidates`, so that no step has to make any.
    pub(crate) fn reserve(&mut self, candidates: &Candidates) {
        self.clear();
        let longest = candidates
            .first
            .windows(2)
            .map(|row| row[1] - row[0])
            .max()
            .unwrap_or(0) as usize;
        // Every slice but the first has no more rows than the mean of the slice before has contacts.
        let rows = candidates.len() / LANES + longest;
        make_room(&mut self.rows, rows);
        if self.extras.capacity() > 0 {
            make_room(&mut self.extras, rows);
        }
        make_room(&mut self.active, candidates.len() + LANES);
        self.first.reserve(CHUNK / LANES + 1);
        self.guides.reserve(CHUNK + LANES);
        self.ends.reserve(CHUNK + 1);
        make_room(&mut self.blocks, candidates.len() / NARROWEST + 2);
        let guides = candidates.halo.len();
        for column in [&mut self.sums, &mut self.reads, &mut self.ways.at, &mut self.ways.free] {
            make_room(column, guides);
        }
        make_room(&mut self.shares, guides);
        make_room(&mut self.materials, guides);
        make_room(&mut self.ways.asleep, guides);
    }

    /// Puts guides with many contacts before those with few, so that a slice has few empty lanes.
    fn sort(&mut self) {
        const MAX_RANK: usize = 31;
        let mut starts = [0u32; MAX_RANK + 2];
        let ends = &self.ends;
        let rank = |k: usize| MAX_RANK - (ends[k + 1] - ends[k]).min(MAX_RANK as u32) as usize;
        for k in 0..self.count {
            starts[rank(k) + 1] += 1;
        }
        for r in 1..starts.len() {
            starts[r] += starts[r - 1];
        }
        self.guides.resize(self.count.next_multiple_of(LANES), 0);
        for k in 0..self.count {
            let start = &mut starts[rank(k)];
            self.guides[*start as usize] = k as u32;
            *start += 1;
        }
        if self.count > 0 {
            let last = self.guides[self.count - 1];
            self.guides[self.count..].fill(last);
        }
    }

    /// Makes each contact of chunk `c` a plane for the step. The normal is that of the start, which keeps angular momentum; the
    /// gap is exact for the free motion. Sums the remembered impulses and the contacts of guides.
    #[inline(always)]
    fn place<S: Gather<W>, const W: usize>(
        &mut self,
        simd: S,
        c: usize,
        candidates: &Candidates,
        placing: Placing<'_>,
    ) {
        let Placing {
            at,
            free,
            asleep,
            friction,
            rules,
        } = placing;
        self.clear();
        self.sums.resize(candidates.halo.len(), Vec4::ZERO);
        self.first.push(0);
        if self.ways.take(c, &candidates.halo, at, free, asleep) {
            return;
        }
        self.count = candidates.first.len() - 1;
        self.mu = friction.uniform();
        self.none = candidates.len() as u32;
        self.extras.clear();
        if self.mu.is_none() {
            candidates.halo.copy(c, friction.of, &mut self.materials);
        }
        let (active, ends, blocks) = (&mut self.active, &mut self.ends, &mut self.blocks);
        candidates.find_active(simd, &self.ways, 1.0 + SLACK, active, ends, blocks);
        self.sort();
        let mut end = 0;
        for s in 0..self.slices() {
            let guides: &[u32; LANES] = block(&self.guides, s * LANES);
            let mut own = [[[[0.0; W]; 4]; 2]; LANES / NARROWEST];
            for part in 0..LANES / W {
                let guides = block(guides, W * part);
                own[part] = [simd.gather(&self.ways.at, guides), simd.gather(&self.ways.free, guides)];
            }
            let (mut start, mut count) = ([0; LANES], [0; LANES]);
            for (l, &k) in guides[..LANES.min(self.count - s * LANES)].iter().enumerate() {
                let k = k as usize;
                (start[l], count[l]) = (self.ends[k], self.ends[k + 1] - self.ends[k]);
            }
            let mut sum = [[0.0; LANES]; 4];
            let mut lanes = LANES;
            for k in 0..count[0] {
                while count[lanes - 1] <= k {
                    lanes -= 1;
                }
                if end == self.rows.len() {
                    self.rows.push(Row::EMPTY);
                }
                let row = &mut self.rows[end];
                for l in 0..lanes {
                    row.candidate[l] = self.active[(start[l] + k) as usize];
                }
                row.candidate[lanes..].fill(self.none);
                let mut reach = [0.0; LANES];
                for part in 0..LANES / W {
                    let first = W * part;
                    *block_mut(&mut reach, first) = row.place(simd, first, candidates, &own[part], &self.ways, rules);
                    let mut counts = [0.0; W];
                    for l in 0..W {
                        counts[l] = if first + l < lanes { 1.0 } else { 0.0 };
                    }
                    let p = row.p.each_ref().map(|axis| *block(axis, first));
                    row.exchange(simd, first, p, counts, &mut sum, &mut self.sums);
                }
                if let Some(mu) = self.mu {
                    if rules.friction == FrictionMode::Sommer {
                        self.extras.push(Extra { mu, reach });
                    }
                } else {
                    let of = |number: &[u32; LANES]| number.map(|number| self.materials[number as usize]);
                    let mut mu = [[0.0; LANES]; 2];
                    friction.fill(&of(guides), &of(&row.number), &mut mu);
                    self.extras.push(Extra { mu, reach });
                }
                end += 1;
            }
            self.first.push(end as u32);
            add(
                &mut self.sums,
                &self.guides[s * LANES..self.count.min((s + 1) * LANES)],
                &sum,
            );
        }
    }

    /// Lets `each` change every row part by part, and sums what it returns for the row's guides [kg m]. Its arguments are the row, the slice and
    /// the part's first lane, and the values of `self.reads` of the slice's guides less those of the others.
    #[inline(always)]
    fn pass<S: Gather<W>, const W: usize>(
        &mut self,
        simd: S,
        mut each: impl FnMut(&mut Row, [usize; 2], [[f32; W]; 3]) -> [[f32; W]; 3],
    ) {
        if self.count == 0 {
            return;
        }
        self.sums.fill(Vec4::ZERO);
        assert!(self.reads.len() == self.sums.len());
        for s in 0..self.slices() {
            let rows = self.first[s] as usize..self.first[s + 1] as usize;
            let guides: &[u32; LANES] = block(&self.guides, s * LANES);
            let mut own = [[[0.0; W]; 4]; LANES / NARROWEST];
            for part in 0..LANES / W {
                own[part] = simd.gather(&self.reads, block(guides, W * part));
            }
            let mut sum = [[0.0; LANES]; 4];
            for (k, row) in rows.clone().zip(&mut self.rows[rows]) {
                for part in 0..LANES / W {
                    let first = W * part;
                    let other = simd.gather(&self.reads, block(&row.number, first));
                    let given = each(row, [k, first], simd.minus(&own[part], &other));
                    row.exchange(simd, first, given, [0.0; W], &mut sum, &mut self.sums);
                }
            }
            add(
                &mut self.sums,
                &self.guides[s * LANES..self.count.min((s + 1) * LANES)],
                &sum,
            );
        }
    }

    /// Gives contacts their stiffness. Sums what the stabilization's first pass pushes [kg m].
    #[inline(always)]
    fn stiffen<S: Gather<W>, const W: usize>(&mut self, simd: S, c: usize, halo: &Halo, shares: &[f32]) {
        if self.count == 0 {
            return;
        }
        halo.copy(c, shares, &mut self.shares);
        self.sums.fill(Vec4::ZERO);
        for s in 0..self.slices() {
            let rows = self.first[s] as usize..self.first[s + 1] as usize;
            let guides: &[u32; LANES] = block(&self.guides, s * LANES);
            let mut own = [[0.0; W]; LANES / NARROWEST];
            for part in 0..LANES / W {
                own[part] = simd.pick(&self.shares, block(guides, W * part));
            }
            let mut sum = [[0.0; LANES]; 4];
            for row in &mut self.rows[rows] {
                for part in 0..LANES / W {
                    let first = W * part;
                    let others = simd.pick(&self.shares, block(&row.number, first));
                    let (candidate, start): (&[u32; W], &[f32; W]) =
                        (block(&row.candidate, first), block(&row.start, first));
                    let (mut stiffness, mut push) = ([0.0; W], [0.0; W]);
                    for l in 0..W {
                        let shares = others[l] + own[part][l];
                        let is_contact = (candidate[l] != self.none) & (shares > 0.0);
                        stiffness[l] = if is_contact { 1.0 / shares } else { 0.0 };
                        push[l] = contact::accumulated(0.0, stiffness[l], start[l]);
                    }
                    *block_mut(&mut row.stiffness, first) = stiffness;
                    *block_mut(&mut row.push, first) = push;
                    row.exchange(simd, first, row.pushes(first), [0.0; W], &mut sum, &mut self.sums);
                }
            }
            add(
                &mut self.sums,
                &self.guides[s * LANES..self.count.min((s + 1) * LANES)],
                &sum,
            );
        }
    }

    /// A further pass of the stabilization, with guides pushed by `pushed` [m] so far.
    #[inline(always)]
    fn push_again<S: Gather<W>, const W: usize>(&mut self, simd: S, c: usize, halo: &Halo, pushed: &[Vec4]) {
        halo.copy(c, pushed, &mut self.reads);
        self.pass(simd, |row, [_, first], u| {
            let along = row.along(first, &u);
            let (start, stiffness): (&[f32; W], &[f32; W]) = (block(&row.start, first), block(&row.stiffness, first));
            let push: &mut [f32; W] = block_mut(&mut row.push, first);
            for l in 0..W {
                push[l] = contact::accumulated(push[l], stiffness[l], start[l] + along[l]);
            }
            row.pushes(first)
        });
    }

    /// Updates the gaps by the displacements of the stabilization, if impulses solve for inherited overlaps.
    #[inline(always)]
    fn shift_gaps<S: Gather<W>, const W: usize>(&mut self, simd: S, c: usize, halo: &Halo, pushed: &[Vec4]) {
        halo.copy(c, pushed, &mut self.reads);
        self.pass(simd, |row, [_, first], u| {
            let along = row.along(first, &u);
            let gap: &mut [f32; W] = block_mut(&mut row.gap, first);
            for l in 0..W {
                gap[l] += along[l];
            }
            [[0.0; W]; 3]
        });
    }

    /// One pass over contacts and friction, with guides moved by `moved` [m] in this step so far. Sums the impulses [kg m].
    #[inline(always)]
    fn solve<S: Gather<W>, const W: usize>(
        &mut self,
        simd: S,
        c: usize,
        halo: &Halo,
        moved: &[Vec4],
        mode: FrictionMode,
    ) {
        halo.copy(c, moved, &mut self.reads);
        let uniform = self.mu;
        let extras = std::mem::take(&mut self.extras);
        self.pass(simd, |row, [k, first], u| {
            let mu = uniform.as_ref().unwrap_or_else(|| &extras[k].mu);
            match mode {
                FrictionMode::Accumulated => row.solve_accumulated(first, &u, mu),
                FrictionMode::Sommer => row.solve_printed(first, &u, block(&extras[k].reach, first), mu),
                FrictionMode::Macklin => {
                    let (along, gap): (_, &[f32; W]) = (row.along(first, &u), block(&row.gap, first));
                    let mut depth = [0.0; W];
                    for l in 0..W {
                        depth[l] = (-(gap[l] + along[l])).max(0.0);
                    }
                    row.solve_printed(first, &u, &depth, mu)
                }
            }
        });
        self.extras = extras;
    }

    /// Leaves the impulses with their candidates, for the next step.
    #[inline(always)]
    fn keep<S: Gather<W>, const W: usize>(&self, simd: S, candidates: &mut Candidates) {
        let end = self.first.last().map_or(0, |&end| end as usize);
        assert!(candidates.impulse.len() == candidates.held.len());
        for row in &self.rows[..end] {
            let [x, y, z] = row.p;
            let mut held = [0.0; LANES];
            for l in 0..LANES {
                held[l] = if (x[l] != 0.0) | (y[l] != 0.0) | (z[l] != 0.0) {
                    1.0
                } else {
                    0.0
                };
            }
            // Lanes without a contact have no impulse, and share the last candidate.
            for l in 0..LANES {
                candidates.held[row.candidate[l] as usize] = held[l];
            }
            for first in (0..LANES).step_by(W) {
                let part = |axis: &Lane| *block(axis, first);
                let columns = [part(&x), part(&y), part(&z), [0.0; W]];
                simd.scatter(&mut candidates.impulse, block(&row.candidate, first), &columns);
            }
        }
    }
}

/// Adds the first lanes of `sum` to the sums of `guides`.
#[inline(always)]
fn add(sums: &mut [Vec4], guides: &[u32], sum: &[Lane; 4]) {
    for (l, &k) in guides.iter().enumerate() {
        sums[k as usize] += Vec4::new(sum[0][l], sum[1][l], sum[2][l], sum[3][l]);
    }
}

vectorized! {
    /// Finds the contacts of chunk `c` among its candidates and makes each a plane for the step.
    pub(crate) fn place(rows: &mut Rows, c: usize, candidates: &Candidates, placing: Placing<'_>) = place_with
}

#[inline(always)]
fn place_with<S: Gather<W>, const W: usize>(
    simd: S,
    rows: &mut Rows,
    c: usize,
    candidates: &Candidates,
    placing: Placing<'_>,
) {
    rows.place(simd, c, candidates, placing);
}

vectorized! {
    /// Leaves the impulses of a chunk with its candidates, for the next step.
    pub(crate) fn keep(rows: &Rows, candidates: &mut Candidates) = keep_with
}

#[inline(always)]
fn keep_with<S: Gather<W>, const W: usize>(simd: S, rows: &Rows, candidates: &mut Candidates) {
    rows.keep(simd, candidates);
}

/// A pass over the contacts of a chunk.
#[derive(Clone, Copy)]
pub(crate) enum Pass<'a> {
    /// Stiffness and the first pass of the stabilization: shares of guides [1/kg].
    Stiffen(&'a [f32]),
    /// A further one: how guides were pushed so far [m].
    Push(&'a [Vec4]),
    /// Tells gaps how guides were pushed [m].
    Shift(&'a [Vec4]),
    /// Contact and friction: how guides moved so far [m].
    Solve(&'a [Vec4], FrictionMode),
}

vectorized! {
    /// One pass over the contacts of chunk `c`.
    pub(crate) fn run(rows: &mut Rows, c: usize, halo: &Halo, pass: Pass<'_>) = run_with
}

#[inline(always)]
fn run_with<S: Gather<W>, const W: usize>(simd: S, rows: &mut Rows, c: usize, halo: &Halo, pass: Pass<'_>) {
    match pass {
        Pass::Stiffen(shares) => rows.stiffen(simd, c, halo, shares),
        Pass::Push(pushed) => rows.push_again(simd, c, halo, pushed),
        Pass::Shift(pushed) => rows.shift_gaps(simd, c, halo, pushed),
        Pass::Solve(moved, mode) => rows.solve(simd, c, halo, moved, mode),
    }
}
