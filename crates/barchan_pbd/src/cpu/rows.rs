//! Contacts between guides in a step, and the passes over them: a row holds the k-th contact of each of [`LANES`] guides. Vector
//! code is left to the compiler, which gets arrays of [`LANES`].
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::{Vec3, Vec4};

use super::CHUNK;
use super::candidates::{Candidates, PairFriction, marked};
use super::rules::{Rules, SLACK};
use super::simd::{LANES, Lane, Vectors, block, minus, vectorised};
use crate::FrictionMode;
use crate::laws::{contact, friction};

/// One contact of each guide of a slice: planes that they must not cross in this step.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row {
    /// Normal, towards the guide [-].
    x: Lane,
    y: Lane,
    z: Lane,
    /// Gap to close [m] if neither moved in this step.
    gap: Lane,
    /// Gap at the start of the step [m].
    start: Lane,
    /// Stiffness [kg]; 0 where there is no contact.
    stiffness: Lane,
    mu_static: Lane,
    mu_kinetic: Lane,
    /// Impulse on the guide [kg m].
    p: [Lane; 3],
    /// Displacement impulse of the stabilisation on the guide [kg m], along the normal.
    push: Lane,
    /// Sum of the radii [m].
    reach: Lane,
    other: [u32; LANES],
    candidate: [u32; LANES],
}

impl Row {
    const EMPTY: Self = Self {
        x: [0.0; LANES],
        y: [0.0; LANES],
        z: [1.0; LANES],
        gap: [1.0; LANES],
        start: [1.0; LANES],
        stiffness: [0.0; LANES],
        mu_static: [0.0; LANES],
        mu_kinetic: [0.0; LANES],
        p: [[0.0; LANES]; 3],
        push: [0.0; LANES],
        reach: [0.0; LANES],
        other: [0; LANES],
        candidate: [0; LANES],
    };

    /// Adds the impulses on the guides of the slice.
    #[inline(always)]
    fn add_impulses(&self, sum: &mut [Lane; 3]) {
        for axis in 0..3 {
            for l in 0..LANES {
                sum[axis][l] += self.p[axis][l];
            }
        }
    }

    /// Adds what the stabilisation gives the guides of the slice.
    #[inline(always)]
    fn add_push(&self, sum: &mut [Lane; 3]) {
        for l in 0..LANES {
            sum[0][l] += self.push[l] * self.x[l];
            sum[1][l] += self.push[l] * self.y[l];
            sum[2][l] += self.push[l] * self.z[l];
        }
    }

    /// Makes the candidates of `guides`, which are and go as `own` says, planes.
    #[inline(always)]
    fn place<V: Vectors>(
        &mut self,
        candidates: &Candidates,
        guides: &[u32; LANES],
        own: &[[Lane; 4]; 2],
        ways: Ways<'_>,
        rules: Rules,
    ) {
        for l in 0..LANES {
            self.other[l] = candidates.other[self.candidate[l] as usize];
        }
        // SAFETY: the other columns of candidates are as long as the one above; it names no guide beyond these ways.
        let (base, p, at, u): (_, _, [Lane; 3], [Lane; 3]) = unsafe {
            (
                V::gather(&candidates.base, &self.candidate),
                V::gather(&candidates.impulse, &self.candidate),
                minus(&own[0], &V::gather(ways.at, &self.other)),
                minus(&own[1], &V::gather(ways.free, &self.other)),
            )
        };
        for l in 0..LANES {
            let (x, y, z, reach) = (
                base[0][l] + at[0][l],
                base[1][l] + at[1][l],
                base[2][l] + at[2][l],
                base[3][l],
            );
            let length = (x * x + y * y + z * z).sqrt();
            let apart = length > 1e-12;
            let inverse = 1.0 / length.max(1e-12);
            // Coincident centres part along z: any direction will do, as long as both sides agree on it.
            let sign = if guides[l] < self.other[l] { 1.0 } else { -1.0 };
            let (nx, ny, nz) = (x * inverse, y * inverse, if apart { z * inverse } else { sign });
            let (cx, cy, cz) = (x + u[0][l], y + u[1][l], z + u[2][l]);
            let start = length - reach;
            let predicted = (cx * cx + cy * cy + cz * cz).sqrt() - reach;
            let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
            let pressed = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
            let kept = if pressed > 0.0 { rules.memory } else { 0.0 };
            let inherited = if rules.inherits { start.min(0.0) } else { 0.0 };
            (self.x[l], self.y[l], self.z[l], self.reach[l]) = (nx, ny, nz, reach);
            self.gap[l] = predicted - along - inherited;
            self.start[l] = start;
            for axis in 0..3 {
                self.p[axis][l] = p[axis][l] * kept;
            }
        }
    }
}

/// The contacts of a chunk of guides in a step.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Rows of this step and, after them, of others.
    rows: Vec<Row>,
    /// First row of each slice, and the end.
    first: Vec<u32>,
    /// The guides of all slices, those with the most contacts first; the last one fills the last slice.
    guides: Vec<u32>,
    /// Guides of the chunk [-], and guides that columns must have to be read by rows.
    count: usize,
    reads: usize,
    sums: Vec<[Lane; 3]>,
    /// Candidates in contact, guide after guide; those of the `k`-th are `active[ends[k]..ends[k + 1]]`.
    active: Vec<u32>,
    ends: Vec<u32>,
}

/// Where a chunk's guides are and go.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'a> {
    /// Since the search [m].
    pub at: &'a [Vec4],
    /// In this step, if nothing is in the way [m].
    pub free: &'a [Vec4],
    /// Who sleeps.
    pub asleep: &'a [bool],
}

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.guides.clear();
        self.sums.clear();
        (self.count, self.reads) = (0, 0);
        self.active.clear();
        self.ends.clear();
    }

    /// Number of contacts of the `k`-th guide [-].
    pub(crate) fn count(&self, k: usize) -> u32 {
        self.ends[k + 1] - self.ends[k]
    }

    /// Number of contacts of the `k`-th guide that are solved for it [-].
    fn number(&self, k: usize, is_asleep: bool) -> u32 {
        if is_asleep { 0 } else { self.count(k) }
    }

    /// Number of slices [-].
    pub(crate) fn slices(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    /// The guides of slice `s`, a lane each.
    pub(crate) fn guides(&self, s: usize) -> &[u32] {
        &self.guides[s * LANES..self.count.min((s + 1) * LANES)]
    }

    #[inline(always)]
    fn rows_of(&mut self, s: usize) -> (&mut [Row], &[u32; LANES]) {
        let rows = self.first[s] as usize..self.first[s + 1] as usize;
        (&mut self.rows[rows], block(&self.guides, s * LANES))
    }

    /// Room for all `candidates`, so that no step has to make any.
    pub(crate) fn reserve(&mut self, candidates: &Candidates) {
        let longest = candidates
            .first
            .windows(2)
            .map(|row| row[1] - row[0])
            .max()
            .unwrap_or(0) as usize;
        // Every slice but the first has no more rows than the mean of the slice before has contacts.
        let rows = candidates.len() / LANES + longest;
        self.rows.reserve(rows.saturating_sub(self.rows.len()));
        self.active
            .reserve((candidates.len() + LANES).saturating_sub(self.active.len()));
        self.first.reserve(CHUNK / LANES + 1);
        self.sums.reserve(CHUNK / LANES);
        self.guides.reserve(CHUNK + LANES);
        self.ends.reserve(CHUNK + 1);
    }

    /// Puts guides with many contacts before those with few, so that a slice has few empty lanes.
    fn sort(&mut self, c: usize, asleep: &[bool]) {
        const MOST: usize = 31;
        let mut starts = [0u32; MOST + 2];
        let ends = &self.ends;
        let rank = |k: usize| {
            let is_awake = !asleep[c * CHUNK + k];
            MOST - (u32::from(is_awake) * (ends[k + 1] - ends[k])).min(MOST as u32) as usize
        };
        for k in 0..self.count {
            starts[rank(k) + 1] += 1;
        }
        for r in 1..starts.len() {
            starts[r] += starts[r - 1];
        }
        self.guides.resize(self.count.next_multiple_of(LANES), 0);
        for k in 0..self.count {
            let start = &mut starts[rank(k)];
            self.guides[*start as usize] = (c * CHUNK + k) as u32;
            *start += 1;
        }
        if self.count > 0 {
            let last = self.guides[self.count - 1];
            self.guides[self.count..].fill(last);
        }
    }

    /// Makes each contact of chunk `c` a plane for the step. The normal is that of the start, which keeps angular momentum; the
    /// gap is exact for the free motion.
    #[inline(always)]
    fn place<V: Vectors>(
        &mut self,
        c: usize,
        candidates: &Candidates,
        ways: Ways<'_>,
        friction: PairFriction<'_>,
        rules: Rules,
    ) {
        self.clear();
        self.count = candidates.first.len() - 1;
        if ways.asleep[c * CHUNK..][..self.count].iter().all(|&asleep| asleep) {
            self.count = 0;
            return;
        }
        candidates.find_active::<V>(ways, 1.0 + SLACK, &mut self.active, &mut self.ends);
        self.sort(c, ways.asleep);
        self.reads = candidates.guides();
        let mut end = 0;
        self.first.push(0);
        for s in 0..self.slices() {
            let guides: &[u32; LANES] = block(&self.guides, s * LANES);
            // SAFETY: these are guides of the columns that `find_active` has read.
            let own = unsafe { [V::gather(ways.at, guides), V::gather(ways.free, guides)] };
            let (mut start, mut count) = ([0; LANES], [0; LANES]);
            for (l, &i) in guides[..LANES.min(self.count - s * LANES)].iter().enumerate() {
                let k = i as usize - c * CHUNK;
                (start[l], count[l]) = (self.ends[k], self.number(k, ways.asleep[i as usize]));
            }
            let mut sum = [[0.0; LANES]; 3];
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
                row.candidate[lanes..].fill(candidates.len() as u32);
                row.place::<V>(candidates, guides, &own, ways, rules);
                friction.fill(guides, &row.other, &mut row.mu_static, &mut row.mu_kinetic);
                row.add_impulses(&mut sum);
                end += 1;
            }
            self.first.push(end as u32);
            self.sums.push(sum);
        }
    }

    /// Sums of the remembered impulses on the guides of slice `s` [kg m].
    pub(crate) fn sums(&self, s: usize) -> &[Lane; 3] {
        &self.sums[s]
    }

    /// Gives the contacts of slice `s` their stiffness. Sums what the stabilisation's first pass pushes [kg m].
    #[inline(always)]
    pub(crate) fn stiffen<V: Vectors>(&mut self, s: usize, shares: &[f32]) -> [Lane; 3] {
        assert!(shares.len() == self.reads);
        let (rows, guides) = self.rows_of(s);
        // SAFETY: rows name no guide beyond the column, here and below.
        let own = unsafe { V::pick(shares, guides) };
        let mut sum = [[0.0; LANES]; 3];
        for row in rows {
            // SAFETY: see above.
            let mut shares = unsafe { V::pick(shares, &row.other) };
            for l in 0..LANES {
                shares[l] += own[l];
            }
            for l in 0..LANES {
                let is_contact = row.reach[l] > 0.0 && shares[l] > 0.0;
                row.stiffness[l] = if is_contact { 1.0 / shares[l] } else { 0.0 };
                row.push[l] = contact::accumulated(0.0, row.stiffness[l], row.start[l]);
            }
            row.add_push(&mut sum);
        }
        sum
    }

    /// A further pass of the stabilisation, with guides pushed by `pushed` [m] so far.
    #[inline(always)]
    pub(crate) fn push_again<V: Vectors>(&mut self, s: usize, pushed: &[Vec4]) -> [Lane; 3] {
        assert!(pushed.len() == self.reads);
        let (rows, guides) = self.rows_of(s);
        // SAFETY: rows name no guide beyond the column, here and below.
        let own = unsafe { V::gather(pushed, guides) };
        let mut sum = [[0.0; LANES]; 3];
        for row in rows {
            // SAFETY: see above.
            let [x, y, z] = minus(&own, &unsafe { V::gather(pushed, &row.other) });
            for l in 0..LANES {
                let gap = row.start[l] + (row.x[l] * x[l] + row.y[l] * y[l] + row.z[l] * z[l]);
                row.push[l] = contact::accumulated(row.push[l], row.stiffness[l], gap);
            }
            row.add_push(&mut sum);
        }
        sum
    }

    /// Lets the gaps know how the stabilisation moved guides, where inherited overlaps are solved for.
    pub(crate) fn shift_gaps<V: Vectors>(&mut self, s: usize, pushed: &[Vec4]) {
        assert!(pushed.len() == self.reads);
        let (rows, guides) = self.rows_of(s);
        // SAFETY: rows name no guide beyond the column, here and below.
        let own = unsafe { V::gather(pushed, guides) };
        for row in rows {
            // SAFETY: see above.
            let [x, y, z] = minus(&own, &unsafe { V::gather(pushed, &row.other) });
            for l in 0..LANES {
                row.gap[l] += row.x[l] * x[l] + row.y[l] * y[l] + row.z[l] * z[l];
            }
        }
    }

    /// One pass over contacts and friction of slice `s`, with guides moved by `moved` [m] in this step so far. Sums the impulses
    /// [kg m].
    #[inline(always)]
    pub(crate) fn solve<V: Vectors>(&mut self, s: usize, moved: &[Vec4], mode: FrictionMode) -> [Lane; 3] {
        assert!(moved.len() == self.reads);
        let (rows, guides) = self.rows_of(s);
        // SAFETY: rows name no guide beyond the column, here and below.
        let own = unsafe { V::gather(moved, guides) };
        let mut sum = [[0.0; LANES]; 3];
        for row in rows {
            // SAFETY: see above.
            let u = minus(&own, &unsafe { V::gather(moved, &row.other) });
            match mode {
                FrictionMode::Accumulated => solve_accumulated(row, &u),
                FrictionMode::Sommer => {
                    let reach = row.reach;
                    solve_printed(row, &u, &reach);
                }
                FrictionMode::Macklin => {
                    let mut depth = [0.0; LANES];
                    for l in 0..LANES {
                        let along = row.x[l] * u[0][l] + row.y[l] * u[1][l] + row.z[l] * u[2][l];
                        depth[l] = (-(row.gap[l] + along)).max(0.0);
                    }
                    solve_printed(row, &u, &depth);
                }
            }
            row.add_impulses(&mut sum);
        }
        sum
    }

    /// Leaves the impulses with their candidates, for the next step.
    pub(crate) fn keep(&self, candidates: &mut Candidates) {
        let end = self.first.last().map_or(0, |&end| end as usize);
        for row in &self.rows[..end] {
            for l in 0..LANES {
                // Lanes without a contact have no impulse, and share the last candidate.
                candidates.impulse[row.candidate[l] as usize] = marked(lane(&row.p, l));
            }
        }
    }
}

/// Normal and tangential impulses of the whole step, each within its bound.
#[inline(always)]
fn solve_accumulated(row: &mut Row, u: &[Lane; 3]) {
    let p = &mut row.p;
    for l in 0..LANES {
        let (nx, ny, nz, k) = (row.x[l], row.y[l], row.z[l], row.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let before = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
        let normal = contact::accumulated(before, k, row.gap[l] + along);
        // Tangential impulse less its stiffness times the tangential motion: both are what is left without the normal part.
        let off = before - k * along;
        let tx = p[0][l] - k * u[0][l] - off * nx;
        let ty = p[1][l] - k * u[1][l] - off * ny;
        let tz = p[2][l] - k * u[2][l] - off * nz;
        let f = friction::coulomb(tx * tx + ty * ty + tz * tz, normal, row.mu_static[l], row.mu_kinetic[l]);
        p[0][l] = normal * nx + f * tx;
        p[1][l] = normal * ny + f * ty;
        p[2][l] = normal * nz + f * tz;
    }
}

/// Corrections of this pass alone, as [Sommer22] and [Macklin14] print them, added to those before. `length` [m]
/// bounds friction.
#[inline(always)]
fn solve_printed(row: &mut Row, u: &[Lane; 3], length: &Lane) {
    let p = &mut row.p;
    for l in 0..LANES {
        let (nx, ny, nz, k) = (row.x[l], row.y[l], row.z[l], row.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let gap = row.gap[l] + along;
        let normal = contact::printed(0.0, k, gap);
        let (tx, ty, tz) = (u[0][l] - along * nx, u[1][l] - along * ny, u[2][l] - along * nz);
        let squared = tx * tx + ty * ty + tz * tz;
        let f = friction::of_length(squared, length[l], row.mu_static[l], row.mu_kinetic[l]);
        let rub = if gap < 0.0 { -k * f } else { 0.0 };
        p[0][l] += normal * nx + rub * tx;
        p[1][l] += normal * ny + rub * ty;
        p[2][l] += normal * nz + rub * tz;
    }
}

/// The vector of lane `l`.
pub(crate) fn lane(of: &[Lane; 3], l: usize) -> Vec3 {
    Vec3::new(of[0][l], of[1][l], of[2][l])
}

vectorised! {
    /// Finds the contacts of chunk `c` among its candidates and makes each a plane for the step.
    pub(crate) fn place(
        rows: &mut Rows,
        c: usize,
        candidates: &Candidates,
        ways: Ways<'_>,
        friction: PairFriction<'_>,
        rules: Rules,
    ) = place_with
}

#[inline(always)]
fn place_with<V: Vectors>(
    rows: &mut Rows,
    c: usize,
    candidates: &Candidates,
    ways: Ways<'_>,
    friction: PairFriction<'_>,
    rules: Rules,
) {
    rows.place::<V>(c, candidates, ways, friction, rules);
}
