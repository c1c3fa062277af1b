//! Guides as grains see them: where they are, how they move, how far they reach; sorted into cells.

use glam::{IVec3, Vec3};

use crate::domain::Domain;
use crate::isa::{Isa, LANES};
use crate::laws::REACH;

/// Guides at the very end of their reach are kept: what is left out must weigh nothing whatever the rounding.
const SLACK: f32 = 1.000_01;

/// Number of each lane.
const RAMP: [f32; LANES] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.];

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
    /// Its reach [m].
    pub reach: f32,
}

impl Mover {
    /// A guide of `radius` [m].
    pub fn new(position: Vec3, velocity: Vec3, radius: f32) -> Self {
        let reach = REACH * radius;
        Self {
            position: position.to_array(),
            velocity: velocity.to_array(),
            inverse: 1.0 / (reach * reach),
            reach,
        }
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
    columns: Columns,
    /// 0, 1, 2, ...
    numbers: Vec<u32>,
    /// Largest reach [m].
    pub reach: f32,
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
        self.reach = movers.iter().map(|m| m.reach).fold(0.0, f32::max);
        let most = 8 * movers.len() + 4096;
        let side = self.reach.max(f32::MIN_POSITIVE);
        let domain = Domain::over(movers.iter().map(Mover::place), side, most);
        self.bounds.clear();
        self.bounds.resize(domain.len() + 1, 0);
        self.keys.clear();
        self.keys.extend(movers.iter().map(|m| {
            let key = domain.index(domain.cell(m.place()));
            self.bounds[key + 1] += 1;
            key as u32
        }));
        for k in 1..self.bounds.len() {
            self.bounds[k] += self.bounds[k - 1];
        }
        self.movers.resize(movers.len(), Mover::default());
        for (mover, &key) in movers.iter().zip(&self.keys) {
            let at = &mut self.bounds[key as usize];
            self.movers[*at as usize] = *mover;
            *at += 1;
        }
        // Each bound has run to the end of its cell: one place too far.
        self.bounds.rotate_right(1);
        self.bounds[0] = 0;
        self.fill_columns();
        self.domain = Some(domain);
    }

    fn fill_columns(&mut self) {
        let Columns { x, y, z, squared_reach } = &mut self.columns;
        for (axis, column) in [x, y, z].into_iter().enumerate() {
            column.clear();
            column.extend(self.movers.iter().map(|m| m.position[axis]));
            column.extend([0.0; LANES]);
        }
        squared_reach.clear();
        squared_reach.extend(self.movers.iter().map(|m| m.reach * m.reach * SLACK));
        squared_reach.extend([0.0; LANES]);
        self.numbers.clear();
        self.numbers.extend(0..(self.movers.len() + LANES) as u32);
    }

    /// Writes the numbers of the guides that reach into `bounds` to `list`, in their order.
    ///
    /// # Safety
    /// The machine must have the instructions of `I`.
    #[inline(always)]
    pub unsafe fn find<I: Isa>(&self, bounds: &Bounds, list: &mut List) {
        list.len = 0;
        let Some(domain) = &self.domain else { return };
        let (first, last) = (
            domain.cell(bounds.low - self.reach),
            domain.cell(bounds.high + self.reach),
        );
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                let start = self.bounds[domain.index(IVec3::new(first.x, y, z))] as usize;
                let end = self.bounds[domain.index(IVec3::new(last.x, y, z)) + 1] as usize;
                // SAFETY: the caller says so.
                unsafe { list.take::<I>(bounds, &self.columns, &self.numbers, start, end) };
            }
        }
        list.copy_columns(&self.columns);
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

    /// Writes those that reach into `bounds` to `out`, in their order.
    ///
    /// # Safety
    /// The machine must have the instructions of `I`.
    #[inline(always)]
    pub unsafe fn find<I: Isa>(&self, bounds: &Bounds, out: &mut List) {
        out.len = 0;
        // SAFETY: the caller says so.
        unsafe { out.take::<I>(bounds, &self.columns, &self.index, 0, self.len) };
    }

    /// Appends those of `start..end` that reach into `bounds`.
    #[inline(always)]
    unsafe fn take<I: Isa>(&mut self, bounds: &Bounds, columns: &Columns, numbers: &[u32], start: usize, end: usize) {
        if self.index.len() < self.len + end - start + LANES {
            self.index
                .resize((self.len + end - start + LANES).next_power_of_two(), 0);
        }
        let mut k = start;
        while k < end {
            let numbers = numbers[k..][..LANES].try_into().expect("padded");
            let out = (&mut self.index[self.len..][..LANES]).try_into().expect("padded");
            // SAFETY: the caller says so.
            self.len += unsafe {
                let gaps = bounds.gaps::<I>(columns, k);
                let last = I::splat((end - k - 1) as f32);
                I::keep(I::where_le(I::load(&RAMP), last, gaps, I::splat(1.0)), numbers, out)
            };
            k += LANES;
        }
    }

    fn copy_columns(&mut self, from: &Columns) {
        let wanted = self.len + LANES;
        let Columns { x, y, z, squared_reach } = &mut self.columns;
        if x.len() < wanted || self.index.len() < wanted {
            let wanted = wanted.next_power_of_two();
            self.index.resize(wanted.max(self.index.len()), 0);
            for column in [&mut *x, y, z, squared_reach] {
                column.resize(wanted, 0.0);
            }
        }
        for (place, &k) in self.index[..self.len].iter().enumerate() {
            let k = k as usize;
            x[place] = from.x[k];
            y[place] = from.y[k];
            z[place] = from.z[k];
            squared_reach[place] = from.squared_reach[k];
        }
    }
}

impl Bounds {
    /// Around all of the places with these coordinates.
    ///
    /// # Safety
    /// The machine must have the instructions of `I`.
    #[inline(always)]
    pub unsafe fn of<I: Isa>(x: &[f32], y: &[f32], z: &[f32]) -> Self {
        // SAFETY: the caller says so.
        let (x, y, z) = unsafe { (extremes::<I>(x), extremes::<I>(y), extremes::<I>(z)) };
        Self {
            low: Vec3::new(x.0, y.0, z.0),
            high: Vec3::new(x.1, y.1, z.1),
        }
    }

    /// Squared distance less squared reach [m²] of the sixteen guides from `k` on.
    #[inline(always)]
    unsafe fn gaps<I: Isa>(&self, columns: &Columns, k: usize) -> I::Lanes {
        // SAFETY: the caller says so.
        unsafe {
            let x = squared_gap::<I>(&columns.x, k, self.low.x, self.high.x);
            let y = squared_gap::<I>(&columns.y, k, self.low.y, self.high.y);
            let z = squared_gap::<I>(&columns.z, k, self.low.z, self.high.z);
            I::sub(I::add(I::add(x, y), z), part::<I>(&columns.squared_reach, k))
        }
    }
}

/// The sixteen numbers of a column from `k` on.
#[inline(always)]
unsafe fn part<I: Isa>(column: &[f32], k: usize) -> I::Lanes {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe { I::load(column[k..][..LANES].try_into().expect("padded")) }
}

/// Squared distance [m²] of the sixteen numbers from `k` on to a range.
#[inline(always)]
unsafe fn squared_gap<I: Isa>(column: &[f32], k: usize, low: f32, high: f32) -> I::Lanes {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        let c = part::<I>(column, k);
        let away = I::max(I::sub(I::splat(low), c), I::sub(c, I::splat(high)));
        let away = I::max(away, I::splat(0.0));
        I::mul(away, away)
    }
}

/// Least and greatest of `values`.
#[inline(always)]
unsafe fn extremes<I: Isa>(values: &[f32]) -> (f32, f32) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let (mut lows, mut highs) = ([values[0]; LANES], [values[0]; LANES]);
    // SAFETY: the caller says so.
    unsafe {
        let (mut low, mut high) = (I::load(&lows), I::load(&highs));
        for chunk in chunks {
            let chunk = I::load(chunk);
            low = I::min(chunk, low);
            high = I::max(chunk, high);
        }
        I::store(low, &mut lows);
        I::store(high, &mut highs);
    }
    let low = lows.iter().chain(rest).copied().fold(f32::INFINITY, f32::min);
    let high = highs.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    (low, high)
}
