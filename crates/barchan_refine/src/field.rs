//! Guides as grains see them: where they are, how they move, how far they reach; sorted into cells.

use std::ops::Range;

use barchan_simd::{Real, Simd, block, block_mut, f32x16};
use glam::{IVec3, Vec3};

use crate::advect::LANES;
use crate::domain::Domain;
use crate::laws::REACH;

/// Guides at the very end of their reach are kept: what is left out must weigh nothing whatever the rounding.
const SLACK: f32 = 1.000_01;

/// A guide as grains see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Mover {
    /// Where it is [m].
    pub position: [f32; 3],
    /// How it moves [m/s].
    pub velocity: [f32; 3],
    /// One over its squared reach [1/m²].
    pub inverse: f32,
    /// 1 if it moves, 0 if it is where it was in the last step and stays, [`TRACE`] if it has only just stopped [-]. In the modes as
    /// printed, 1 for guides and 0 for particles of bodies.
    going: f32,
    /// Share of their own velocity that its grains keep whatever is around them [-].
    free: f32,
    /// Fluctuation that they get in each step [m/s].
    kick: f32,
    /// Velocity that they get in each step [m/s].
    shift: [f32; 3],
}

/// Next to nothing: weighs as little as 0, and is none.
const TRACE: f32 = 1e-20;

impl Mover {
    /// A guide of `radius` [m].
    pub fn new(position: Vec3, velocity: Vec3, radius: f32, is_still: bool) -> Self {
        let reach = REACH * radius;
        Self {
            position: position.to_array(),
            velocity: velocity.to_array(),
            inverse: 1.0 / (reach * reach),
            going: match (velocity == Vec3::ZERO, is_still) {
                (true, true) => 0.0,
                (true, false) => TRACE,
                (false, _) => 1.0,
            },
            free: 0.0,
            kick: 0.0,
            shift: [0.0; 3],
        }
    }

    /// Lets its grains keep the share `free` [-] of their own velocities, and gives them the fluctuation `kick` and the velocity `shift` [m/s] in
    /// each step.
    pub(crate) fn let_go(&mut self, free: f32, kick: f32, shift: Vec3) {
        (self.free, self.kick, self.shift) = (free, kick, shift.to_array());
    }

    pub(crate) fn free(&self) -> f32 {
        self.free
    }

    /// Fluctuation that its grains get in each step [m/s].
    pub(crate) fn kick(&self) -> f32 {
        self.kick
    }

    /// Velocity that its grains get in each step [m/s].
    pub(crate) fn shift(&self) -> [f32; 3] {
        self.shift
    }

    /// A particle of a body, of `radius` [m].
    pub(crate) fn of_body(position: Vec3, velocity: Vec3, radius: f32) -> Self {
        Self {
            going: 0.0,
            ..Self::new(position, velocity, radius, false)
        }
    }

    /// Whether it is where it was in the last step, and stays.
    pub(crate) fn is_still(&self) -> bool {
        self.going == 0.0
    }

    /// Whether it moves: its share of what does [-].
    #[inline(always)]
    pub(crate) fn going(&self) -> f32 {
        self.going
    }

    /// What is around it may still change.
    pub(crate) fn watch(&mut self) {
        self.going = self.going.max(TRACE);
    }

    /// A guide of `radius` [m] in the modes as printed.
    pub(crate) fn as_printed(position: Vec3, velocity: Vec3, radius: f32) -> Self {
        Self {
            going: 1.0,
            ..Self::new(position, velocity, radius, false)
        }
    }

    /// Gives it a velocity [m/s] besides its own.
    pub(crate) fn push(&mut self, velocity: Vec3) {
        self.velocity = (Vec3::from_array(self.velocity) + velocity).to_array();
        self.going = 1.0;
    }

    /// How far it reaches [m].
    pub(crate) fn reach(&self) -> f32 {
        self.inverse.sqrt().recip()
    }

    pub(crate) fn place(&self) -> Vec3 {
        Vec3::from_array(self.position)
    }
}

/// Guides in the order of cells.
#[derive(Debug, Default)]
pub(crate) struct Field {
    domain: Option<Domain>,
    /// In the order of cells.
    pub movers: Vec<Mover>,
    /// Guides of cell k are `bounds[k]..bounds[k + 1]`.
    bounds: Vec<u32>,
    /// Guides of the cells before cell k that are not still.
    moving: Vec<u32>,
    columns: Columns,
    /// 0, 1, 2, ...
    numbers: Vec<u32>,
    /// Largest reach [m].
    pub reach: f32,
    /// Whether all guides reach as far.
    pub is_uniform: bool,
    keys: Vec<u32>,
}

/// A box [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub low: Vec3,
    pub high: Vec3,
}

impl Field {
    /// Sorts `movers` into cells of the size of their reach.
    pub fn build(&mut self, movers: &[Mover]) {
        let largest = movers.iter().fold(f32::INFINITY, |least, m| least.min(m.inverse));
        self.reach = largest.sqrt().recip();
        self.is_uniform = movers.iter().all(|mover| mover.inverse == largest);
        let most = 8 * movers.len() + 4096;
        let side = self.reach.max(f32::MIN_POSITIVE);
        let domain = Domain::over(movers.len(), |i| movers[i].place(), side, most);
        // Counts stand two places farther on: their sums, by which guides are dealt out, then end where they belong.
        let cells = domain.len();
        for sums in [&mut self.bounds, &mut self.moving] {
            sums.clear();
            sums.resize(cells + 2, 0);
        }
        self.keys.clear();
        self.keys.extend(movers.iter().map(|m| {
            let key = domain.index(domain.cell(m.place()));
            self.bounds[key + 2] += 1;
            self.moving[key + 1] += u32::from(!m.is_still());
            key as u32
        }));
        let (mut count, mut moving) = (0, 0);
        for (bound, moves) in self.bounds.iter_mut().zip(&mut self.moving) {
            count += *bound;
            moving += *moves;
            (*bound, *moves) = (count, moving);
        }
        self.deal(movers);
        self.domain = Some(domain);
    }

    /// Brings `movers` in the order of their cells.
    fn deal(&mut self, movers: &[Mover]) {
        let count = movers.len();
        self.movers.resize(count, Mover::default());
        self.columns.resize(count + LANES);
        let Columns { x, y, z, squared_reach } = &mut self.columns;
        for (mover, &key) in movers.iter().zip(&self.keys) {
            let next = &mut self.bounds[key as usize + 1];
            let at = *next as usize;
            *next += 1;
            self.movers[at] = *mover;
            [x[at], y[at], z[at]] = mover.position;
            squared_reach[at] = SLACK / mover.inverse;
        }
        let known = self.numbers.len() as u32;
        self.numbers.extend(known..(count + LANES) as u32);
    }

    /// Writes the numbers of the guides that reach into `bounds` to `list`, in their order.
    #[inline(always)]
    pub fn find<S: Simd>(&self, simd: S, bounds: &Bounds, list: &mut List) {
        list.len = 0;
        let Some(domain) = &self.domain else { return };
        let [first, last] = self.cells(domain, bounds);
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                let start = self.bounds[domain.index(IVec3::new(first.x, y, z))] as usize;
                let end = self.bounds[domain.index(IVec3::new(last.x, y, z)) + 1] as usize;
                list.take::<S, true>(simd, bounds, &self.columns, &self.numbers, start..end);
            }
        }
    }

    /// Whether all guides are still that may reach into `bounds`.
    pub fn is_still(&self, bounds: &Bounds) -> bool {
        let Some(domain) = &self.domain else { return false };
        let [first, last] = self.cells(domain, bounds);
        (first.z..=last.z).all(|z| {
            (first.y..=last.y).all(|y| {
                let start = domain.index(IVec3::new(first.x, y, z));
                let end = domain.index(IVec3::new(last.x, y, z)) + 1;
                self.moving[start] == self.moving[end]
            })
        })
    }

    /// First and last of the cells whose guides may reach into `bounds`.
    #[inline(always)]
    fn cells(&self, domain: &Domain, bounds: &Bounds) -> [IVec3; 2] {
        [
            domain.cell(bounds.low - self.reach),
            domain.cell(bounds.high + self.reach),
        ]
    }
}

/// Coordinates and squared reaches of guides, each column longer by a vector.
#[derive(Debug, Default)]
struct Columns {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    squared_reach: Vec<f32>,
}

impl Columns {
    fn resize(&mut self, count: usize) {
        let Self { x, y, z, squared_reach } = self;
        for column in [x, y, z, squared_reach] {
            column.resize(count, 0.0);
        }
    }
}

/// Guides that were found, with columns for further tests.
#[derive(Debug, Default)]
pub(crate) struct List {
    index: Vec<u32>,
    columns: Columns,
    len: usize,
}

impl List {
    /// The numbers.
    #[inline(always)]
    pub fn indices(&self) -> &[u32] {
        &self.index[..self.len]
    }

    /// Counts the guides of the list from 0 on: those found in it are told by their places in it.
    #[inline(always)]
    pub fn renumber(&mut self) {
        for (k, index) in (0..).zip(&mut self.index[..self.len]) {
            *index = k;
        }
    }

    /// Writes those that reach into `bounds` to `out`, in their order, with `COLUMNS` if they are to be tested further.
    #[inline(always)]
    pub fn find<S: Simd, const COLUMNS: bool>(&self, simd: S, bounds: &Bounds, out: &mut List) {
        out.len = 0;
        out.take::<S, COLUMNS>(simd, bounds, &self.columns, &self.index, 0..self.len);
    }

    /// Appends those of `range` that reach into `bounds`.
    #[inline(always)]
    fn take<S: Simd, const COLUMNS: bool>(
        &mut self,
        simd: S,
        bounds: &Bounds,
        columns: &Columns,
        numbers: &[u32],
        range: Range<usize>,
    ) {
        let Range { start, end } = range;
        let room = self.len + (end - start) + LANES;
        self.make_room(room);
        // Slices of one length: one check serves all columns.
        let padded = end + LANES;
        let Columns { x, y, z, squared_reach } = columns;
        let (x, y, z, squared_reach) = (&x[..padded], &y[..padded], &z[..padded], &squared_reach[..padded]);
        let numbers = &numbers[..padded];
        let own = &mut self.columns;
        let (to_x, to_y, to_z) = (&mut own.x[..room], &mut own.y[..room], &mut own.z[..room]);
        let (to_squared_reach, index) = (&mut own.squared_reach[..room], &mut self.index[..room]);
        let (mut k, mut len) = (start, self.len);
        while k < end {
            let place = [
                simd.load16(block(x, k)),
                simd.load16(block(y, k)),
                simd.load16(block(z, k)),
            ];
            let reach = simd.load16(block(squared_reach, k));
            let gaps = bounds.gaps(place, reach);
            let bits = f32x16::bits(gaps.le(gaps.like(0.0))) & (u32::MAX >> (32 - (end - k).min(LANES)));
            simd.pack_integers16(simd.integers16(block(numbers, k)), bits, block_mut(index, len));
            if COLUMNS {
                simd.pack16(place[0], bits, block_mut(to_x, len));
                simd.pack16(place[1], bits, block_mut(to_y, len));
                simd.pack16(place[2], bits, block_mut(to_z, len));
                simd.pack16(reach, bits, block_mut(to_squared_reach, len));
            }
            len += bits.count_ones() as usize;
            k += LANES;
        }
        self.len = len;
    }

    /// A list may be read a vector beyond its end.
    #[inline(always)]
    fn make_room(&mut self, wanted: usize) {
        if self.index.len() < wanted + LANES {
            let wanted = (wanted + LANES).next_power_of_two();
            self.index.resize(wanted, 0);
            self.columns.resize(wanted);
        }
    }
}

impl Bounds {
    /// Around nothing.
    pub const EMPTY: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    /// Around sixteen places.
    #[inline(always)]
    pub fn of<S: Simd>(simd: S, places: [f32x16<S>; 3]) -> Self {
        let [low, high] = simd.ranges16(places);
        Self {
            low: Vec3::from_array(low),
            high: Vec3::from_array(high),
        }
    }

    /// Around both.
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        // Places are numbers, so that it need not be asked which of two is none.
        let (mut low, mut high) = (self.low, self.high);
        for axis in 0..3 {
            low[axis] = if other.low[axis] < low[axis] {
                other.low[axis]
            } else {
                low[axis]
            };
            high[axis] = if other.high[axis] > high[axis] {
                other.high[axis]
            } else {
                high[axis]
            };
        }
        Self { low, high }
    }

    /// Squared distance less squared reach [m²] of guides.
    #[inline(always)]
    fn gaps<T: Real>(&self, [x, y, z]: [T; 3], squared_reach: T) -> T {
        let x = squared_gap(x, self.low.x, self.high.x);
        let y = squared_gap(y, self.low.y, self.high.y);
        let z = squared_gap(z, self.low.z, self.high.z);
        x + y + z - squared_reach
    }
}

/// Squared distance [m²] of numbers to a range.
#[inline(always)]
fn squared_gap<T: Real>(c: T, low: f32, high: f32) -> T {
    let nearest = c.max(c.like(low)).min(c.like(high));
    let away = c - nearest;
    away * away
}
