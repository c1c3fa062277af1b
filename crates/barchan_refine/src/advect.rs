//! One pass over the grains: each takes its velocity from the guides around it, and goes on.
//!
//! Grains that follow each other lie near each other. A group of them finds the guides in its reach once, each chunk of the
//! group leaves out those that reach none of its grains, each vector of sixteen grains once more, and the rest is summed. What a
//! grain gets is the sum over all guides in the order of their cells, whatever the groups: guides left out would have added
//! nothing.

use barchan_simd::{Level, Real, Simd, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

use crate::field::{Bounds, Field, List};
use crate::grains::Grains;
use crate::laws::{self, Gate};
use crate::settings::Mode;
use crate::terms::{Freedom, Middle, Term, Terms};

/// Grains of a vector [-].
pub(crate) const LANES: usize = 16;
/// Grains of which it is known together how they move [-].
pub(crate) const CHUNK: usize = 64;
/// Grains that share a search [-].
pub(crate) const GROUP: usize = 512;

/// The rule of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Interpolation rule.
    pub mode: Mode,
    /// Length of the step [s].
    pub step: f32,
    /// Velocity that free fall adds in this step [m/s].
    pub fall: Vec3,
    /// Random seed of the fluctuations of grains in flight.
    pub seed: u64,
    /// One over the sum of weights in the bulk [-].
    pub inverse_bulk: f32,
    /// Range of the filling that opens the blend.
    pub gate: Gate,
    /// Exponent on the share that a grain keeps [-].
    pub exponent: f32,
    /// Largest weight from which on a grain can lie on resting guides [-].
    pub hold: f32,
    /// Squared speed below which it comes to rest there [m²/s²].
    pub stop: f32,
    /// Share of what pulls at it up to which guides that move leave a resting grain where it is [-].
    pub loose: f32,
    /// Sum of squared weights above which the filling shuts the blend [-].
    pub dense: f32,
}

/// Per-thread buffers.
#[derive(Default)]
struct Scratch {
    /// Guides in reach of a group, of a chunk, of a vector.
    all: List,
    some: List,
    few: List,
    /// Those of the group, as they are summed.
    terms: Terms,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// State of the grains after the last step, group by group and chunk by chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Squared speed of the fastest grain of each chunk [m²/s²]; [`UNKNOWN`] if it does not tell.
    pub fastest: Vec<f32>,
    /// Bounds of each group's grains, if none moves.
    bounds: Vec<Bounds>,
    /// Cost of each group's guides, in tests of one of them; a measure of how well grains are sorted.
    pub looked: Vec<u32>,
}

/// Cost of testing a guide against a vector of grains.
const TEST: u32 = 1;
/// Cost of adding a guide to the sum, in tests.
const SUM: u32 = 10;

/// Stands for a speed that nobody knows.
pub(crate) const UNKNOWN: f32 = f32::INFINITY;

impl Known {
    /// Makes room for `count` grains of which nothing is known that was not known before.
    fn resize(&mut self, count: usize) {
        self.fastest.resize(count.div_ceil(CHUNK), UNKNOWN);
        self.bounds.resize(count.div_ceil(GROUP), Bounds::EMPTY);
        self.looked.resize(count.div_ceil(GROUP), 0);
    }

    /// Forgets how fast grains are: they changed places, or guides are gone.
    pub fn forget(&mut self) {
        self.fastest.fill(UNKNOWN);
    }

    /// The same of the chunks from that of grain `first` on.
    pub fn forget_from(&mut self, first: usize) {
        self.fastest.truncate(first / CHUNK);
    }
}

/// Columns of a group, and what is known of it.
struct Group<'a> {
    position: [&'a mut [f32]; 3],
    velocity: [&'a mut [f32]; 3],
    id: &'a [u32],
    fastest: &'a mut [f32],
    bounds: &'a mut Bounds,
    looked: &'a mut u32,
}

/// Moves all grains on by a step. Where grains rest and guides are still, nothing changes, and nothing is done.
pub(crate) fn advect(grains: &mut Grains, known: &mut Known, field: &Field, rule: &Rule, level: Level) {
    known.resize(grains.len());
    let [x, y, z] = &mut grains.position;
    let [u, v, w] = &mut grains.velocity;
    x.par_chunks_mut(GROUP)
        .zip(y.par_chunks_mut(GROUP))
        .zip(z.par_chunks_mut(GROUP))
        .zip(u.par_chunks_mut(GROUP))
        .zip(v.par_chunks_mut(GROUP))
        .zip(w.par_chunks_mut(GROUP))
        .zip(grains.id.par_chunks(GROUP))
        .zip(known.fastest.par_chunks_mut(GROUP / CHUNK))
        .zip(known.bounds.par_iter_mut().zip(&mut known.looked))
        .with_min_len(4)
        .for_each(|((((((((x, y), z), u), v), w), id), fastest), (bounds, looked))| {
            let group = Group {
                position: [x, y, z],
                velocity: [u, v, w],
                id,
                fastest,
                bounds,
                looked,
            };
            SCRATCH.with_borrow_mut(|scratch| dispatch!(level, simd => move_group(simd, group, field, rule, scratch)));
        });
}

/// Sums over the guides of sixteen grains.
struct Sums<S: Simd> {
    weight: f32x16<S>,
    largest: f32x16<S>,
    /// Sum of the weights of velocities.
    share: f32x16<S>,
    /// Part of it of guides that move; in the modes as printed, of guides.
    going: f32x16<S>,
    velocity: [f32x16<S>; 3],
    /// Sums of the shares that grains keep [-], and of the fluctuations and velocities that they get [m/s].
    freedom: [f32x16<S>; 5],
}

/// Guides to sum over: terms, and the freedoms of their grains, if any has one.
type Guides<'a> = (&'a [Term], &'a [Freedom]);

impl<S: Simd> Sums<S> {
    /// Sums over the guides `list` of `terms`, relative to the `middle`, for grains at `places`. Without `RESTING`, all guides are taken to
    /// move; without `WEIGHTS`, neither the sum of weights nor the largest is computed; without `FREE`, none lets its grains go.
    #[inline(always)]
    fn over<const SHARP: bool, const RESTING: bool, const WEIGHTS: bool, const FREE: bool>(
        simd: S,
        terms: Guides<'_>,
        list: &[u32],
        places: &[f32x16<S>; 3],
        middle: Option<Middle>,
    ) -> Self {
        match middle {
            Some(middle) => {
                Self::of::<SHARP, RESTING, WEIGHTS, FREE, FromMiddle<S::Register>>(simd, terms, list, places, middle)
            }
            None => Self::of::<SHARP, RESTING, WEIGHTS, FREE, AsTheyStand<S::Register>>(simd, terms, list, places, ()),
        }
    }

    /// Leaves everything out for grains in reach of bodies but of no guide [Sommer22].
    #[inline(always)]
    fn leave_out_lone_bodies(&mut self) {
        let zero = self.share.like(0.0);
        let is_lone = self.going.le(zero);
        let [u, v, w] = &mut self.velocity;
        for sum in [&mut self.weight, &mut self.largest, &mut self.share, u, v, w] {
            *sum = f32x16::select(is_lone, zero, *sum);
        }
    }

    /// The same, register by register: the sums of sixteen grains do not fit into those of AVX2.
    #[inline(always)]
    fn of<const SHARP: bool, const RESTING: bool, const WEIGHTS: bool, const FREE: bool, V: View<S::Register>>(
        simd: S,
        terms: Guides<'_>,
        list: &[u32],
        places: &[f32x16<S>; 3],
        from: V::From,
    ) -> Self {
        let [weight, largest, share, going, u, v, w, freedom @ ..] = simd.by_register(
            *places,
            #[inline(always)]
            |place| sum::<S::Register, SHARP, RESTING, WEIGHTS, FREE, V>(terms, list, place, from),
        );
        Self {
            weight,
            largest,
            share,
            going,
            velocity: [u, v, w],
            freedom,
        }
    }
}

/// Positions of a register of grains as guides are summed over.
trait View<P: Real> {
    /// Reference point.
    type From: Copy;

    fn new(place: [P; 3], from: Self::From) -> Self;
    /// 1 - |x - g|²/R² [-].
    fn rest(&self, guide: &Term) -> P;
}

/// Relative to the middle of their group: displacements from it [m], and -X²/R² [-].
struct FromMiddle<P>([P; 3], P);

impl<P: Real> View<P> for FromMiddle<P> {
    type From = Middle;

    #[inline(always)]
    fn new([x, y, z]: [P; 3], from: Middle) -> Self {
        let (x, y, z) = (
            x - x.like(from.place.x),
            y - y.like(from.place.y),
            z - z.like(from.place.z),
        );
        let squared = z.mul_add(z, y.mul_add(y, x * x));
        Self([x, y, z], squared * squared.like(-from.inverse))
    }

    #[inline(always)]
    fn rest(&self, guide: &Term) -> P {
        let Self([x, y, z], own) = *self;
        let rest = x.mul_add(x.like(guide.place[0]), own + own.like(guide.reach));
        let rest = y.mul_add(y.like(guide.place[1]), rest);
        z.mul_add(z.like(guide.place[2]), rest)
    }
}

/// Positions [m].
struct AsTheyStand<P>([P; 3]);

impl<P: Real> View<P> for AsTheyStand<P> {
    type From = ();

    #[inline(always)]
    fn new(place: [P; 3], (): ()) -> Self {
        Self(place)
    }

    #[inline(always)]
    fn rest(&self, guide: &Term) -> P {
        let Self([x, y, z]) = *self;
        let dx = x - x.like(guide.place[0]);
        let dy = y - y.like(guide.place[1]);
        let dz = z - z.like(guide.place[2]);
        let squared = dz.mul_add(dz, dy.mul_add(dy, dx * dx));
        squared.neg_mul_add(x.like(guide.reach), x.like(1.0))
    }
}

/// [`Sums::over`] for a register of grains: weight, largest, share, going, velocity, freedom.
#[inline(always)]
fn sum<P: Real, const SHARP: bool, const RESTING: bool, const WEIGHTS: bool, const FREE: bool, V: View<P>>(
    (terms, freedoms): Guides<'_>,
    list: &[u32],
    place: [P; 3],
    from: V::From,
) -> [P; 12] {
    let zero = place[0].like(0.0);
    let view = V::new(place, from);
    let (mut sum, mut largest, mut shares) = (zero, zero, zero);
    let (mut u, mut v, mut w, mut going) = (zero, zero, zero, zero);
    let (mut free, mut kick, [mut x, mut y, mut z]) = (zero, zero, [zero; 3]);
    for &k in list {
        let guide = &terms[k as usize];
        let weight = laws::weight_at(view.rest(guide));
        if WEIGHTS {
            sum += weight;
            largest = largest.max(weight);
        }
        let share = if SHARP { laws::sharp(weight) } else { weight };
        shares += share;
        u = share.mul_add(share.like(guide.velocity[0]), u);
        v = share.mul_add(share.like(guide.velocity[1]), v);
        w = share.mul_add(share.like(guide.velocity[2]), w);
        if RESTING {
            going = share.mul_add(share.like(guide.going), going);
        }
        if FREE {
            let freedom = &freedoms[k as usize];
            free = share.mul_add(share.like(freedom.free), free);
            kick = share.mul_add(share.like(freedom.kick), kick);
            x = share.mul_add(share.like(freedom.shift[0]), x);
            y = share.mul_add(share.like(freedom.shift[1]), y);
            z = share.mul_add(share.like(freedom.shift[2]), z);
        }
    }
    let going = if RESTING { going } else { shares };
    [sum, largest, shares, going, u, v, w, free, kick, x, y, z]
}

/// Moves a group.
#[inline(always)]
fn move_group<S: Simd>(simd: S, group: Group, field: &Field, rule: &Rule, scratch: &mut Scratch) {
    let Scratch { all, some, few, terms } = scratch;
    let Group {
        position: [x, y, z],
        velocity: [u, v, w],
        id,
        fastest,
        bounds,
        looked,
    } = group;
    if rule.mode == Mode::Gated && fastest.iter().all(|speed| *speed == 0.0) && field.is_still(bounds) {
        return;
    }
    let mut boxes = [Bounds::EMPTY; GROUP / LANES];
    *bounds = Bounds::EMPTY;
    for (start, own) in (0..x.len()).step_by(LANES).zip(&mut boxes) {
        *own = Bounds::of(simd, load3(simd, [x, y, z], &(start..(start + LANES).min(x.len()))));
        *bounds = bounds.and(*own);
    }
    field.find(simd, bounds, all);
    let middle = terms.take(field, all.indices(), bounds);
    all.renumber();
    *looked = 0;
    // Those after grains that follow mostly do, too.
    let mut are_dense = true;
    for (chunk, boxes) in boxes.chunks(CHUNK / LANES).enumerate().take(fastest.len()) {
        let around = boxes.iter().copied().fold(Bounds::EMPTY, Bounds::and);
        all.find::<S, true>(simd, &around, some);
        *looked += TEST * all.indices().len() as u32;
        let mut speed = simd.splat16(0.0);
        let starts = (CHUNK * chunk..x.len()).step_by(LANES);
        for (start, own) in starts.zip(boxes) {
            let lanes = start..(start + LANES).min(x.len());
            some.find::<S, false>(simd, own, few);
            *looked += TEST * some.indices().len() as u32 + SUM * few.indices().len() as u32;
            let mut places = load3(simd, [x, y, z], &lanes);
            let mut rates = load3(simd, [u, v, w], &lanes);
            let list = few.indices();
            let freedoms = terms
                .freedoms()
                .filter(|all| list.iter().any(|&k| all[k as usize].free > 0.0));
            let terms = (terms.all(), freedoms.unwrap_or_default());
            let own = match rule.mode {
                Mode::Gated if freedoms.is_some() => {
                    let sums = Sums::over::<true, true, true, true>(simd, terms, list, &places, middle);
                    stir(simd, &mut rates, &sums, &id[lanes.clone()], rule.seed);
                    move_lanes(&mut places, &mut rates, &sums, rule)
                }
                Mode::Gated if rests(rates) => {
                    let sums = Sums::over::<true, true, true, false>(simd, terms, list, &places, middle);
                    move_lanes(&mut places, &mut rates, &sums, rule)
                }
                Mode::Gated => {
                    let mut followed = None;
                    if are_dense {
                        let sums = Sums::over::<true, false, false, false>(simd, terms, list, &places, middle);
                        followed = follow(&mut places, &mut rates, &sums, rule);
                    }
                    match followed {
                        Some(speed) => speed,
                        None => {
                            let sums = Sums::over::<true, false, true, false>(simd, terms, list, &places, middle);
                            are_dense = is_shut(&sums, rule);
                            move_lanes(&mut places, &mut rates, &sums, rule)
                        }
                    }
                }
                Mode::Sommer => {
                    let mut sums = Sums::over::<false, true, true, false>(simd, terms, list, &places, middle);
                    sums.leave_out_lone_bodies();
                    move_lanes(&mut places, &mut rates, &sums, rule)
                }
                Mode::Ihmsen | Mode::Alduan => {
                    let sums = Sums::over::<false, false, true, false>(simd, terms, list, &places, middle);
                    move_lanes(&mut places, &mut rates, &sums, rule)
                }
            };
            speed = speed.max(own);
            store3(places, [x, y, z], &lanes);
            store3(rates, [u, v, w], &lanes);
        }
        fastest[chunk] = simd.greatest16(speed);
    }
}

/// Adds to the velocities of sixteen grains, `id`, what their guides give them as they let them go.
#[inline(always)]
fn stir<S: Simd>(simd: S, rates: &mut [f32x16<S>; 3], sums: &Sums<S>, id: &[u32], seed: u64) {
    let zero = sums.share.like(0.0);
    let [_, kick, shift @ ..] = sums.freedom;
    if f32x16::bits(kick.le(zero)) == u32::from(u16::MAX) {
        return;
    }
    let share = f32x16::select(sums.share.le(zero), zero, zero.like(1.0) / sums.share);
    let mut way = [[0.0; LANES]; 3];
    for (lane, &id) in id.iter().enumerate() {
        let own = laws::fluctuation(seed, id);
        (0..3).for_each(|axis| way[axis][lane] = own[axis]);
    }
    for axis in 0..3 {
        rates[axis] += share * (shift[axis] + kick * simd.load16(&way[axis]));
    }
}

/// Returns true if one of sixteen grains of these velocities rests.
#[inline(always)]
fn rests<T: Real>(velocity: [T; 3]) -> bool {
    T::bits(T::dot(velocity, velocity).le(velocity[0].like(0.0))) != 0
}

#[inline(always)]
fn load3<S: Simd>(simd: S, [x, y, z]: [&[f32]; 3], lanes: &Range<usize>) -> [f32x16<S>; 3] {
    [
        load(simd, &x[lanes.clone()]),
        load(simd, &y[lanes.clone()]),
        load(simd, &z[lanes.clone()]),
    ]
}

#[inline(always)]
fn store3<S: Simd>(values: [f32x16<S>; 3], [x, y, z]: [&mut [f32]; 3], lanes: &Range<usize>) {
    store(values[0], &mut x[lanes.clone()]);
    store(values[1], &mut y[lanes.clone()]);
    store(values[2], &mut z[lanes.clone()]);
}

/// Loads up to sixteen numbers, the first again where there are fewer.
#[inline(always)]
fn load<S: Simd>(simd: S, values: &[f32]) -> f32x16<S> {
    if let Ok(full) = values.try_into() {
        return simd.load16(full);
    }
    let mut padded = [values[0]; LANES];
    padded[..values.len()].copy_from_slice(values);
    simd.load16(&padded)
}

#[inline(always)]
fn store<S: Simd>(lanes: f32x16<S>, to: &mut [f32]) {
    let lanes: [f32; LANES] = lanes.into();
    match <&mut [f32; LANES]>::try_from(&mut *to) {
        Ok(full) => *full = lanes,
        Err(_) => to.copy_from_slice(&lanes[..to.len()]),
    }
}

/// Returns true if guides are so many for each of sixteen grains that the blend is shut, and move it.
#[inline(always)]
fn is_shut<S: Simd>(sums: &Sums<S>, rule: &Rule) -> bool {
    let zero = sums.share.like(0.0);
    let mut pulled = zero;
    for pull in sums.velocity {
        pulled += pull * pull;
    }
    let least = (sums.share - zero.like(rule.dense)).min(pulled);
    f32x16::bits(least.le(zero)) == 0
}

/// Moves sixteen grains among so many guides that the blend is shut, and returns their squared speeds [m²/s²]. Does nothing if the blend is
/// open for one of them, or if no guide moves it.
#[inline(always)]
fn follow<S: Simd>(
    places: &mut [f32x16<S>; 3],
    rates: &mut [f32x16<S>; 3],
    sums: &Sums<S>,
    rule: &Rule,
) -> Option<f32x16<S>> {
    if !is_shut(sums, rule) {
        return None;
    }
    let mut speed = sums.share.like(0.0);
    let share = speed.like(1.0) / sums.share;
    for axis in 0..3 {
        let new = share * sums.velocity[axis];
        speed += new * new;
        rates[axis] = new;
        places[axis] += new.like(rule.step) * new;
    }
    Some(speed)
}

/// Blends and moves sixteen grains. Returns their squared speeds [m²/s²].
#[inline(always)]
fn move_lanes<S: Simd>(
    places: &mut [f32x16<S>; 3],
    rates: &mut [f32x16<S>; 3],
    sums: &Sums<S>,
    rule: &Rule,
) -> f32x16<S> {
    let (sum, largest) = (sums.weight, sums.largest);
    let (zero, one) = (sum.like(0.0), sum.like(1.0));
    let keeps = match rule.mode {
        Mode::Gated => {
            let open = laws::sparsity(largest, sum) * laws::gate(sum * sum.like(rule.inverse_bulk), rule.gate);
            let free = f32x16::select(sums.share.le(zero), zero, sums.freedom[0] / sums.share).min(one);
            open + free * (one - open)
        }
        Mode::Ihmsen | Mode::Sommer => laws::sparsity(largest, sum),
        // At most one guide in reach: the largest is the sum.
        Mode::Alduan => f32x16::select(sum.le(largest), one, zero),
    };
    let keeps = match rule.exponent == 1.0 {
        true => keeps,
        false => laws::per_step(keeps, rule.exponent),
    };
    let share = f32x16::select(sums.share.le(zero), zero, (one - keeps) / sums.share);
    let (mut speed, mut was, mut pulled) = (zero, zero, zero);
    let mut new = [zero; 3];
    for axis in 0..3 {
        let (own, pull) = (rates[axis], sums.velocity[axis]);
        let free = keeps * (own + own.like(rule.fall[axis]));
        new[axis] = share * pull + free;
        speed += new[axis] * new[axis];
        was += own * own;
        pulled += pull * pull;
    }
    if rule.mode == Mode::Gated {
        // A grain that lies on guides of which none moves stays, or comes to rest.
        let slow = f32x16::select(was.le(zero) | speed.le(zero.like(rule.stop)), one, zero);
        let held = f32x16::select(zero.like(rule.hold).le(largest), slow, zero);
        let stays = f32x16::select(pulled.le(zero), held, zero);
        // One that rests is held by the guides that stay, if hardly any other is near: its static friction.
        let loose = zero.like(rule.loose) * sums.share;
        let resting = f32x16::select(was.le(zero), held, zero);
        let moves = one - f32x16::select(sums.going.le(loose), resting, stays);
        for new in &mut new {
            *new *= moves;
        }
        speed *= moves;
    }
    *rates = new;
    for axis in 0..3 {
        places[axis] += zero.like(rule.step) * new[axis];
    }
    speed
}
