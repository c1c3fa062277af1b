//! One pass over the grains: each takes its velocity from the guides around it, and goes on.
//!
//! Grains that follow each other lie near each other. A group of them finds the guides in its reach once, each chunk of the
//! group leaves out those that reach none of its grains, each vector of sixteen grains once more, and the rest is summed. What a
//! grain gets is the sum over all guides in the order of their cells, whatever the groups: guides left out would have added
//! nothing.

use barchan_neighbors::Simd;
use glam::Vec3;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

use crate::field::{Bounds, Field, List};
use crate::grains::Grains;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, LANES, Part, Plain};
use crate::laws::{C1, C2, Gate};
use crate::settings::Mode;
use crate::terms::{Middle, Term, Terms};

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
    /// Velocity that free fall adds in a step [m/s].
    pub fall: Vec3,
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
    fastest: &'a mut [f32],
    bounds: &'a mut Bounds,
    looked: &'a mut u32,
}

/// Moves all grains on by a step. Where grains rest and guides are still, nothing changes, and nothing is done.
pub(crate) fn advect(grains: &mut Grains, known: &mut Known, field: &Field, rule: &Rule, simd: Simd) {
    assert!(simd.is_available(), "{simd:?} on a machine without it");
    known.resize(grains.len());
    let [x, y, z] = &mut grains.position;
    let [u, v, w] = &mut grains.velocity;
    x.par_chunks_mut(GROUP)
        .zip(y.par_chunks_mut(GROUP))
        .zip(z.par_chunks_mut(GROUP))
        .zip(u.par_chunks_mut(GROUP))
        .zip(v.par_chunks_mut(GROUP))
        .zip(w.par_chunks_mut(GROUP))
        .zip(known.fastest.par_chunks_mut(GROUP / CHUNK))
        .zip(known.bounds.par_iter_mut().zip(&mut known.looked))
        .with_min_len(4)
        .for_each(|(((((((x, y), z), u), v), w), fastest), (bounds, looked))| {
            let group = Group {
                position: [x, y, z],
                velocity: [u, v, w],
                fastest,
                bounds,
                looked,
            };
            SCRATCH.with_borrow_mut(|scratch| dispatch(group, field, rule, scratch, simd));
        });
}

fn dispatch(group: Group, field: &Field, rule: &Rule, scratch: &mut Scratch, simd: Simd) {
    match simd {
        // SAFETY: every machine can.
        Simd::Scalar => unsafe { move_group::<Plain>(group, field, rule, scratch) },
        // SAFETY: `advect` asserts that the machine has the instructions.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { move_group_avx2(group, field, rule, scratch) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { move_group_avx512(group, field, rule, scratch) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => unreachable!("asserted by `advect`"),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
fn move_group_avx2(group: Group, field: &Field, rule: &Rule, scratch: &mut Scratch) {
    // SAFETY: the machine has the instructions, or this would not run.
    unsafe { move_group::<Avx2>(group, field, rule, scratch) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,bmi1,bmi2,popcnt")]
fn move_group_avx512(group: Group, field: &Field, rule: &Rule, scratch: &mut Scratch) {
    // SAFETY: the machine has the instructions, or this would not run.
    unsafe { move_group::<Avx512>(group, field, rule, scratch) }
}

/// Sums over a grain's guides, sixteen grains at a time.
struct Sums<I: Isa> {
    weight: I::Lanes,
    largest: I::Lanes,
    /// Sum of the weights that velocities have.
    share: I::Lanes,
    /// The part of it that guides have that move.
    going: I::Lanes,
    velocity: [I::Lanes; 3],
}

impl<I: Isa> Sums<I> {
    /// Sums over the guides `list` of `terms`, seen from the `middle`, for grains at `place`. Without `RESTING`, all guides are taken to
    /// move; without `WEIGHTS`, weights are not added up, and the largest is not looked for.
    ///
    /// # Safety
    /// The machine must have the instructions of `I`, and there must be the guides.
    #[inline(always)]
    unsafe fn over<const SHARP: bool, const RESTING: bool, const WEIGHTS: bool>(
        terms: &[Term],
        list: &[u32],
        places: &[I::Lanes; 3],
        middle: Option<Middle>,
    ) -> Self {
        // SAFETY: the caller says so.
        unsafe {
            match middle {
                Some(middle) => Self::of::<SHARP, RESTING, WEIGHTS, FromMiddle<I::Part>>(terms, list, places, middle),
                None => Self::of::<SHARP, RESTING, WEIGHTS, AsTheyStand<I::Part>>(terms, list, places, ()),
            }
        }
    }

    /// The same, register by register: the sums of sixteen grains do not fit into those of AVX2.
    #[inline(always)]
    unsafe fn of<const SHARP: bool, const RESTING: bool, const WEIGHTS: bool, V: View<I::Part>>(
        terms: &[Term],
        list: &[u32],
        [x, y, z]: &[I::Lanes; 3],
        from: V::From,
    ) -> Self {
        // SAFETY: the caller says so.
        let zero = unsafe { I::splat(0.0) };
        let mut sums = Self {
            weight: zero,
            largest: zero,
            share: zero,
            going: zero,
            velocity: [zero; 3],
        };
        for k in 0..I::PARTS {
            // SAFETY: the caller says so.
            let part = unsafe {
                let view = V::new([I::parts(x)[k], I::parts(y)[k], I::parts(z)[k]], from);
                sum::<I::Part, SHARP, RESTING, WEIGHTS, V>(terms, list, &view)
            };
            I::parts_mut(&mut sums.weight)[k] = part[0];
            I::parts_mut(&mut sums.largest)[k] = part[1];
            I::parts_mut(&mut sums.share)[k] = part[2];
            I::parts_mut(&mut sums.going)[k] = part[3];
            for axis in 0..3 {
                I::parts_mut(&mut sums.velocity[axis])[k] = part[4 + axis];
            }
        }
        sums
    }
}

/// View of guides from a register of grains.
trait View<P: Part> {
    /// Origin of the view.
    type From: Copy;

    unsafe fn new(place: [P; 3], from: Self::From) -> Self;
    /// 1 - |x - g|²/R² [-].
    unsafe fn rest(&self, guide: &Term) -> P;
}

/// From the middle of their group: where they are from there on [m], and -X²/R² [-].
struct FromMiddle<P>([P; 3], P);

impl<P: Part> View<P> for FromMiddle<P> {
    type From = Middle;

    #[inline(always)]
    unsafe fn new(place: [P; 3], from: Middle) -> Self {
        // SAFETY: the caller says that the machine has the instructions.
        unsafe {
            let x = place[0].sub(P::splat(from.place.x));
            let y = place[1].sub(P::splat(from.place.y));
            let z = place[2].sub(P::splat(from.place.z));
            let squared = z.mul_add(z, y.mul_add(y, x.mul(x)));
            Self([x, y, z], squared.mul(P::splat(-from.inverse)))
        }
    }

    #[inline(always)]
    unsafe fn rest(&self, guide: &Term) -> P {
        let Self([x, y, z], own) = self;
        // SAFETY: the caller says that the machine has the instructions.
        unsafe {
            let rest = x.mul_add(P::splat(guide.place[0]), own.add(P::splat(guide.reach)));
            let rest = y.mul_add(P::splat(guide.place[1]), rest);
            z.mul_add(P::splat(guide.place[2]), rest)
        }
    }
}

/// Positions of the grains [m].
struct AsTheyStand<P>([P; 3]);

impl<P: Part> View<P> for AsTheyStand<P> {
    type From = ();

    #[inline(always)]
    unsafe fn new(place: [P; 3], (): ()) -> Self {
        Self(place)
    }

    #[inline(always)]
    unsafe fn rest(&self, guide: &Term) -> P {
        let Self([x, y, z]) = self;
        // SAFETY: the caller says that the machine has the instructions.
        unsafe {
            let dx = x.sub(P::splat(guide.place[0]));
            let dy = y.sub(P::splat(guide.place[1]));
            let dz = z.sub(P::splat(guide.place[2]));
            let squared = dz.mul_add(dz, dy.mul_add(dy, dx.mul(dx)));
            squared.mul_sub(P::splat(guide.reach), P::splat(1.0))
        }
    }
}

/// [`Sums::over`] for a register of grains: weight, largest, share, going, velocity.
///
/// # Safety
/// The machine must have the instructions, and there must be the guides.
#[inline(always)]
unsafe fn sum<P: Part, const SHARP: bool, const RESTING: bool, const WEIGHTS: bool, V: View<P>>(
    terms: &[Term],
    list: &[u32],
    view: &V,
) -> [P; 7] {
    // SAFETY: the caller says so.
    unsafe {
        let zero = P::splat(0.0);
        let (mut sum, mut largest, mut shares) = (zero, zero, zero);
        let (mut u, mut v, mut w, mut going) = (zero, zero, zero, zero);
        for &k in list {
            debug_assert!((k as usize) < terms.len());
            let guide = terms.get_unchecked(k as usize);
            let rest = view.rest(guide).max(zero);
            let weight = rest.mul(rest).mul(rest);
            if WEIGHTS {
                sum = sum.add(weight);
                largest = largest.max(weight);
            }
            let share = if SHARP { weight.mul(weight) } else { weight };
            shares = shares.add(share);
            u = share.mul_add(P::splat(guide.velocity[0]), u);
            v = share.mul_add(P::splat(guide.velocity[1]), v);
            w = share.mul_add(P::splat(guide.velocity[2]), w);
            if RESTING {
                going = share.mul_add(P::splat(guide.going), going);
            }
        }
        [sum, largest, shares, if RESTING { going } else { shares }, u, v, w]
    }
}

/// Moves a group.
///
/// # Safety
/// The machine must have the instructions of `I`.
#[inline(always)]
unsafe fn move_group<I: Isa>(group: Group, field: &Field, rule: &Rule, scratch: &mut Scratch) {
    let Scratch { all, some, few, terms } = scratch;
    let Group {
        position: [x, y, z],
        velocity: [u, v, w],
        fastest,
        bounds,
        looked,
    } = group;
    if fastest.iter().all(|speed| *speed == 0.0) && field.is_still(bounds) {
        return;
    }
    let mut boxes = [Bounds::EMPTY; GROUP / LANES];
    *bounds = Bounds::EMPTY;
    // SAFETY: the caller says so.
    unsafe {
        for (start, own) in (0..x.len()).step_by(LANES).zip(&mut boxes) {
            *own = Bounds::of::<I>(&load3::<I>([x, y, z], &(start..(start + LANES).min(x.len()))));
            *bounds = bounds.and(*own);
        }
        field.find::<I>(bounds, all);
        let middle = terms.take(field, all.indices(), bounds);
        all.renumber();
        *looked = 0;
        // Those after grains that follow mostly do, too.
        let mut are_dense = true;
        for (chunk, boxes) in boxes.chunks(CHUNK / LANES).enumerate().take(fastest.len()) {
            let around = boxes.iter().copied().fold(Bounds::EMPTY, Bounds::and);
            all.find::<I, true>(&around, some);
            *looked += TEST * all.indices().len() as u32;
            let mut speed = I::splat(0.0);
            let starts = (CHUNK * chunk..x.len()).step_by(LANES);
            for (start, own) in starts.zip(boxes) {
                let lanes = start..(start + LANES).min(x.len());
                some.find::<I, false>(own, few);
                *looked += TEST * some.indices().len() as u32 + SUM * few.indices().len() as u32;
                let mut places = load3::<I>([x, y, z], &lanes);
                let mut rates = load3::<I>([u, v, w], &lanes);
                let (terms, list) = (terms.all(), few.indices());
                let own = match rule.mode {
                    Mode::Gated if rests::<I>(&rates) => {
                        let sums = Sums::<I>::over::<true, true, true>(terms, list, &places, middle);
                        move_lanes::<I>(&mut places, &mut rates, &sums, rule)
                    }
                    Mode::Gated => {
                        let mut followed = None;
                        if are_dense {
                            let sums = Sums::<I>::over::<true, false, false>(terms, list, &places, middle);
                            followed = follow::<I>(&mut places, &mut rates, &sums, rule);
                        }
                        match followed {
                            Some(speed) => speed,
                            None => {
                                let sums = Sums::<I>::over::<true, false, true>(terms, list, &places, middle);
                                are_dense = is_shut::<I>(&sums, rule);
                                move_lanes::<I>(&mut places, &mut rates, &sums, rule)
                            }
                        }
                    }
                    _ => {
                        let sums = Sums::<I>::over::<false, false, true>(terms, list, &places, middle);
                        move_lanes::<I>(&mut places, &mut rates, &sums, rule)
                    }
                };
                speed = I::max(speed, own);
                store3::<I>(places, [x, y, z], &lanes);
                store3::<I>(rates, [u, v, w], &lanes);
            }
            fastest[chunk] = I::greatest(speed);
        }
    }
}

/// Returns true if one of sixteen grains of these velocities rests.
#[inline(always)]
unsafe fn rests<I: Isa>([u, v, w]: &[I::Lanes; 3]) -> bool {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe { I::at_most_zero(I::add(I::add(I::mul(*u, *u), I::mul(*v, *v)), I::mul(*w, *w))) != 0 }
}

#[inline(always)]
unsafe fn load3<I: Isa>([x, y, z]: [&[f32]; 3], lanes: &Range<usize>) -> [I::Lanes; 3] {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        [
            load::<I>(&x[lanes.clone()]),
            load::<I>(&y[lanes.clone()]),
            load::<I>(&z[lanes.clone()]),
        ]
    }
}

#[inline(always)]
unsafe fn store3<I: Isa>(values: [I::Lanes; 3], [x, y, z]: [&mut [f32]; 3], lanes: &Range<usize>) {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        store::<I>(values[0], &mut x[lanes.clone()]);
        store::<I>(values[1], &mut y[lanes.clone()]);
        store::<I>(values[2], &mut z[lanes.clone()]);
    }
}

/// Up to sixteen numbers, the first again where there are fewer.
#[inline(always)]
unsafe fn load<I: Isa>(values: &[f32]) -> I::Lanes {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        if let Ok(full) = values.try_into() {
            return I::load(full);
        }
        let mut padded = [values[0]; LANES];
        padded[..values.len()].copy_from_slice(values);
        I::load(&padded)
    }
}

#[inline(always)]
unsafe fn store<I: Isa>(lanes: I::Lanes, to: &mut [f32]) {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        if let Ok(full) = to.try_into() {
            return I::store(lanes, full);
        }
        let mut padded = [0.0; LANES];
        I::store(lanes, &mut padded);
        to.copy_from_slice(&padded[..to.len()]);
    }
}

/// Returns true if each of sixteen grains has so many guides that the blend is closed and guides alone move it.
#[inline(always)]
unsafe fn is_shut<I: Isa>(sums: &Sums<I>, rule: &Rule) -> bool {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        let mut pulled = I::splat(0.0);
        for pull in sums.velocity {
            pulled = I::add(pulled, I::mul(pull, pull));
        }
        let least = I::min(I::sub(sums.share, I::splat(rule.dense)), pulled);
        I::at_most_zero(least) == 0
    }
}

/// Moves sixteen grains among so many guides that the blend is shut, and gives their squared speeds [m²/s²]. Does nothing if that is not
/// so, or if no guide moves one of them.
#[inline(always)]
unsafe fn follow<I: Isa>(
    places: &mut [I::Lanes; 3],
    rates: &mut [I::Lanes; 3],
    sums: &Sums<I>,
    rule: &Rule,
) -> Option<I::Lanes> {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        if !is_shut::<I>(sums, rule) {
            return None;
        }
        let mut speed = I::splat(0.0);
        let share = I::div(I::splat(1.0), sums.share);
        for axis in 0..3 {
            let new = I::mul(share, sums.velocity[axis]);
            speed = I::add(speed, I::mul(new, new));
            rates[axis] = new;
            places[axis] = I::add(places[axis], I::mul(I::splat(rule.step), new));
        }
        Some(speed)
    }
}

/// Blends and moves sixteen grains. Gives their squared speeds [m²/s²].
#[inline(always)]
unsafe fn move_lanes<I: Isa>(
    places: &mut [I::Lanes; 3],
    rates: &mut [I::Lanes; 3],
    sums: &Sums<I>,
    rule: &Rule,
) -> I::Lanes {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        let (zero, one) = (I::splat(0.0), I::splat(1.0));
        let (sum, largest) = (sums.weight, sums.largest);
        let keeps = match rule.mode {
            Mode::Gated => I::mul(sparsity::<I>(largest, sum), gate::<I>(sum, rule)),
            Mode::Ihmsen => sparsity::<I>(largest, sum),
            // At most one guide in reach: the largest is the sum.
            Mode::Alduan => I::where_le(sum, largest, one, zero),
        };
        let keeps = match rule.exponent == 1.0 {
            true => keeps,
            false => powers::<I>(keeps, rule.exponent),
        };
        let share = I::where_le(sums.share, zero, zero, I::div(I::sub(one, keeps), sums.share));
        let (mut speed, mut was, mut pulled) = (zero, zero, zero);
        let mut new = [zero; 3];
        for axis in 0..3 {
            let (own, pull) = (rates[axis], sums.velocity[axis]);
            let free = I::mul(keeps, I::add(own, I::splat(rule.fall[axis])));
            new[axis] = I::add(I::mul(share, pull), free);
            speed = I::add(speed, I::mul(new[axis], new[axis]));
            was = I::add(was, I::mul(own, own));
            pulled = I::add(pulled, I::mul(pull, pull));
        }
        if rule.mode == Mode::Gated {
            // A grain that lies on guides of which none moves stays, or comes to rest.
            let slow = I::where_le(was, zero, one, I::where_le(speed, I::splat(rule.stop), one, zero));
            let held = I::where_le(I::splat(rule.hold), largest, slow, zero);
            let stays = I::where_le(pulled, zero, held, zero);
            // One that rests is held by the guides that stay, if hardly any other is near: its static friction.
            let loose = I::mul(I::splat(rule.loose), sums.share);
            let stuck = I::where_le(sums.going, loose, I::where_le(was, zero, held, zero), stays);
            let moves = I::sub(one, stuck);
            for new in &mut new {
                *new = I::mul(*new, moves);
            }
            speed = I::mul(speed, moves);
        }
        for axis in 0..3 {
            rates[axis] = new[axis];
            places[axis] = I::add(places[axis], I::mul(I::splat(rule.step), new[axis]));
        }
        speed
    }
}

/// [`laws::sparsity`](crate::laws::sparsity) of sixteen grains.
#[inline(always)]
unsafe fn sparsity<I: Isa>(largest: I::Lanes, sum: I::Lanes) -> I::Lanes {
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        let open = I::sub(I::splat(1.0), largest);
        let lone = I::where_le(I::mul(I::splat(C2), sum), largest, open, I::splat(0.0));
        I::where_le(largest, I::splat(C1), open, lone)
    }
}

/// [`laws::gate`](crate::laws::gate) of sixteen grains.
#[inline(always)]
unsafe fn gate<I: Isa>(sum: I::Lanes, rule: &Rule) -> I::Lanes {
    let scale = 1.0 / (rule.gate.high - rule.gate.low);
    // SAFETY: the caller says that the machine has the instructions.
    unsafe {
        let filling = I::mul(sum, I::splat(rule.inverse_bulk));
        let t = I::mul(I::sub(I::splat(rule.gate.high), filling), I::splat(scale));
        let t = I::min(I::max(t, I::splat(0.0)), I::splat(1.0));
        I::mul(I::mul(t, t), I::sub(I::splat(3.0), I::add(t, t)))
    }
}

/// [`laws::per_step`](crate::laws::per_step) of sixteen grains.
#[inline(never)]
unsafe fn powers<I: Isa>(keeps: I::Lanes, exponent: f32) -> I::Lanes {
    let mut values = [0.0; LANES];
    // SAFETY: the caller says that the machine has the instructions.
    unsafe { I::store(keeps, &mut values) };
    for keep in values.iter_mut().filter(|keep| **keep > 0.0 && **keep < 1.0) {
        *keep = keep.powf(exponent);
    }
    // SAFETY: as above.
    unsafe { I::load(&values) }
}
