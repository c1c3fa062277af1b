//! Columns of guides: prediction, velocities, what happens at a search.

use barchan_world::{Guides, displace};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use crate::laws::mass::Weight;

/// What the solver knows of each guide, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Where it was at the last search [m], in two parts as the world has it.
    pub base: Vec<[Vec3; 2]>,
    /// Where it is since then [m].
    pub at: Vec<Vec4>,
    /// How far it would go in this step [m].
    pub free: Vec<Vec4>,
    /// How far it goes in this step [m].
    pub moved: Vec<Vec4>,
    /// How far the stabilisation pushes it in this step [m].
    pub pushed: Vec<Vec4>,
    /// What a pass makes of `moved` or `pushed`.
    pub next: Vec<Vec4>,
    /// The middle of the way for which its neighbours were searched [m], and how far from it they still hold [m].
    pub middle: Vec<Vec4>,
    pub leeway: Vec<f32>,
    /// How far it went in the last step [m].
    pub gone: Vec<f32>,
    /// Inverse mass [1/kg], scaled with height if that is on.
    pub inverse_mass: Vec<f32>,
    pub weight: Vec<Weight>,
    /// The share of `weight`, on its own to be picked from.
    pub share: Vec<f32>,
    /// How far it went in this frame [m].
    pub total: Vec<Vec3>,
    /// It is no nearer to any fixed body than this [m].
    pub apart: Vec<f32>,
    /// The same for fixed bodies that it is not known to be near to.
    pub far: Vec<f32>,
    /// Whether it will be near the end of its leeway, or beyond.
    leaves: Vec<bool>,
    spare: Vec<f32>,
}

impl Columns {
    /// Columns for `n` guides; those that are carried from step to step are zero.
    pub(crate) fn reset(&mut self, n: usize) {
        for column in [
            &mut self.at,
            &mut self.free,
            &mut self.moved,
            &mut self.pushed,
            &mut self.next,
            &mut self.middle,
        ] {
            column.clear();
            column.resize(n, Vec4::ZERO);
        }
        for column in [&mut self.leeway, &mut self.gone] {
            column.clear();
            column.resize(n, 0.0);
        }
        self.inverse_mass.resize(n, 0.0);
        self.weight.resize(n, Weight::default());
        self.share.resize(n, 0.0);
        self.total.clear();
        self.total.resize(n, Vec3::ZERO);
    }

    /// Follows guides to their new places: guide `i` had the number `old[i]`. `knows`: how far from bodies they are.
    pub(crate) fn sort(&mut self, old: &[u32], knows: bool) {
        let apart = |&k: &u32| match self.apart.get(k as usize) {
            Some(&apart) if knows => apart,
            _ => f32::NEG_INFINITY,
        };
        self.spare.clear();
        self.spare.extend(old.iter().map(apart));
        std::mem::swap(&mut self.apart, &mut self.spare);
        self.far.resize(old.len(), f32::NEG_INFINITY);
    }

    /// Whether guides are where [`leave`](Self::leave) left them.
    pub(crate) fn is_as_left(&self, guides: &Guides) -> bool {
        let Guides { position, offset, .. } = guides;
        let n = guides.len();
        let left = |i: usize| {
            let [mut position, mut offset] = self.base[i];
            displace(&mut position, &mut offset, self.at[i].truncate());
            (position, offset)
        };
        self.base.len() == n
            && self.at.len() == n
            && (0..n)
                .into_par_iter()
                .with_min_len(CHUNK)
                .all(|i| left(i) == (position[i], offset[i]))
    }

    /// Guides of `velocity` [m/s] that leave what their neighbours were searched for within `duration` [s].
    pub(crate) fn leaving(&self, velocity: &[Vec3], duration: f32) -> usize {
        let leaves = |&i: &usize| {
            let way = (velocity[i] * duration).extend(0.0);
            !is_within(self.at[i], way, self.middle[i], self.leeway[i])
        };
        let guides = (0..velocity.len()).into_par_iter().with_min_len(CHUNK);
        guides.filter(leaves).count()
    }

    /// Goes on from the last search: `guides` are again where they were then.
    pub(crate) fn take_up(&mut self, guides: &mut Guides) {
        let Guides { position, offset, .. } = guides;
        self.at
            .par_iter()
            .map(|at| -at.truncate())
            .collect_into_vec(&mut self.total);
        let places = position.par_chunks_mut(CHUNK).zip(offset.par_chunks_mut(CHUNK));
        places
            .zip(self.base.par_chunks(CHUNK))
            .for_each(|((position, offset), base)| {
                for ((position, offset), base) in position.iter_mut().zip(offset).zip(base) {
                    [*position, *offset] = *base;
                }
            });
    }

    /// Sets what the next search is for.
    pub(crate) fn look_ahead(&mut self, ahead: Ahead) {
        let searched = self.middle.par_chunks_mut(CHUNK).zip(self.leeway.par_chunks_mut(CHUNK));
        searched
            .zip(self.free.par_chunks(CHUNK))
            .for_each(|((middle, leeway), free)| {
                for ((middle, leeway), free) in middle.iter_mut().zip(leeway).zip(free) {
                    *middle = ahead.middle(*free);
                    *leeway = middle.length() + ahead.margin;
                }
            });
    }

    /// Lists who will be near the end of its leeway, or beyond, and looks ahead for them anew.
    pub(crate) fn look_again(&mut self, ahead: Ahead, who: &mut Vec<u32>) {
        let Self {
            at,
            free,
            middle,
            leeway,
            leaves,
            ..
        } = self;
        leaves.resize(at.len(), false);
        let searched = middle.par_chunks(CHUNK).zip(leeway.par_chunks(CHUNK));
        let ways = at.par_chunks(CHUNK).zip(free.par_chunks(CHUNK));
        let chunks = leaves.par_chunks_mut(CHUNK).zip(ways.zip(searched));
        chunks.for_each(|(leaves, ((at, free), (middle, leeway)))| {
            for ((leaves, at), (free, (middle, leeway))) in leaves
                .iter_mut()
                .zip(at)
                .zip(free.iter().zip(middle.iter().zip(leeway)))
            {
                *leaves = !is_within(*at, *free * ahead.steps, *middle, leeway - NEARLY * ahead.margin);
            }
        });
        who.clear();
        who.extend((0..).zip(&*leaves).filter(|&(_, &leaves)| leaves).map(|(i, _)| i));
        for i in who.iter().map(|&i| i as usize) {
            let way = ahead.middle(free[i]);
            middle[i] = at[i] + way;
            leeway[i] = way.length() + ahead.margin;
        }
    }

    /// Farthest that a guide may be from where it was at the last search [m].
    pub(crate) fn farthest(&self) -> f32 {
        let ways = self.middle.par_chunks(CHUNK).zip(self.leeway.par_chunks(CHUNK));
        ways.map(|(middle, leeway)| {
            let far = middle
                .iter()
                .zip(leeway)
                .map(|(middle, leeway)| middle.length() + leeway);
            far.fold(0.0, f32::max)
        })
        .reduce(|| 0.0, f32::max)
    }

    /// Adds where guides are since the search to where they were, for the next search.
    pub(crate) fn fold(&mut self, guides: &mut Guides) {
        self.leave(guides);
        let Guides { position, offset, .. } = guides;
        self.base.clear();
        self.base.extend(
            position
                .iter()
                .zip(offset)
                .map(|(position, offset)| [*position, *offset]),
        );
        self.at.fill(Vec4::ZERO);
    }

    /// Leaves guides, which are where they were at the search, where they are.
    pub(crate) fn leave(&mut self, guides: &mut Guides) {
        let Guides { position, offset, .. } = guides;
        let places = position.par_chunks_mut(CHUNK).zip(offset.par_chunks_mut(CHUNK));
        let ways = self.at.par_chunks(CHUNK).zip(self.total.par_chunks_mut(CHUNK));
        places.zip(ways).for_each(|((position, offset), (at, total))| {
            for ((position, offset), (at, total)) in position.iter_mut().zip(offset).zip(at.iter().zip(total)) {
                let way = at.truncate();
                *total += way;
                displace(position, offset, way);
            }
        });
    }
}

/// Whoever comes this near to the end of its leeway, of the margin [-], is searched for anew with those who leave it.
const NEARLY: f32 = 0.2;

/// What a search is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Steps like the next one [-].
    pub steps: f32,
    /// Up to so many times as many [-], for whoever goes no farther than `near` [m] in all of them.
    pub frames: f32,
    pub near: f32,
    /// What guides may be off their way [m].
    pub margin: f32,
    /// Longest half of a way that is searched along [m]: images through short periods must stay apart.
    pub most: f32,
}

impl Ahead {
    /// Half the way of a guide that goes by `free` [m] in a step.
    #[inline]
    fn middle(&self, free: Vec4) -> Vec4 {
        let way = free * self.steps;
        let longer = (self.near / way.length().max(f32::MIN_POSITIVE)).clamp(1.0, self.frames);
        (way * (0.5 * longer)).clamp_length_max(self.most)
    }
}

/// What a pass over guides found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes {
    /// Longest free way in a step [m²].
    pub free: f32,
    /// Whether all guides are and will be within their leeway.
    pub holds: bool,
    /// Whether all is finite.
    pub is_finite: bool,
}

impl Extremes {
    const NONE: Self = Self {
        free: 0.0,
        holds: true,
        is_finite: true,
    };

    fn and(self, other: Self) -> Self {
        Self {
            free: self.free.max(other.free),
            holds: self.holds && other.holds,
            is_finite: self.is_finite && other.is_finite,
        }
    }
}

/// Whether a guide that goes from `at` on by `free` [m] is within `leeway` [m] of the middle of its way, and stays so.
#[inline]
fn is_within(at: Vec4, free: Vec4, middle: Vec4, leeway: f32) -> bool {
    let off = (at - middle).truncate();
    let farthest = off.length_squared().max((off + free.truncate()).length_squared());
    farthest <= leeway * leeway
}

/// Speeds guides up by `gravity` [m/s²] and predicts their way in `step` [s], except for those asleep.
pub(crate) fn predict(
    velocity: &mut [Vec3],
    columns: &mut Columns,
    asleep: &[bool],
    gravity: Vec3,
    step: f32,
) -> Extremes {
    let Columns {
        at,
        free,
        pushed,
        middle,
        leeway,
        ..
    } = columns;
    let searched = middle.par_chunks(CHUNK).zip(leeway.par_chunks(CHUNK));
    let tasks = velocity.par_chunks_mut(CHUNK).zip(at.par_chunks(CHUNK).zip(searched));
    let tasks = tasks.zip(free.par_chunks_mut(CHUNK)).zip(pushed.par_chunks_mut(CHUNK));
    tasks
        .zip(asleep.par_chunks(CHUNK))
        .map(|((((velocity, (at, (middle, leeway))), free), pushed), asleep)| {
            pushed.fill(Vec4::ZERO);
            let mut found = Extremes::NONE;
            let searched = middle.iter().zip(leeway);
            let free = free.iter_mut().zip(asleep);
            for (((velocity, at), (middle, leeway)), (free, &is_asleep)) in
                velocity.iter_mut().zip(at).zip(searched).zip(free)
            {
                if is_asleep {
                    *free = Vec4::ZERO;
                } else {
                    *velocity += gravity * step;
                    *free = (*velocity * step).extend(0.0);
                }
                let squared = free.length_squared();
                found = found.and(Extremes {
                    free: squared,
                    holds: is_within(*at, *free, *middle, *leeway),
                    is_finite: squared.is_finite(),
                });
            }
            found
        })
        .reduce(|| Extremes::NONE, Extremes::and)
}

/// Turns ways into velocities, no faster than `clamp` diameters a step, and moves guides. Those that would go no farther than
/// `still` [m] stay.
pub(crate) fn finish(
    velocity: &mut [Vec3],
    radius: &[f32],
    columns: &mut Columns,
    [clamp, still]: [f32; 2],
    step: f32,
) {
    let Columns {
        at,
        moved,
        pushed,
        gone,
        apart,
        far,
        ..
    } = columns;
    let inverse = 1.0 / step;
    let tasks = velocity.par_chunks_mut(CHUNK).zip(at.par_chunks_mut(CHUNK));
    let ways = moved.par_chunks(CHUNK).zip(pushed.par_chunks(CHUNK));
    let apart = apart.par_chunks_mut(CHUNK).zip(far.par_chunks_mut(CHUNK));
    let gone = gone.par_chunks_mut(CHUNK).zip(apart).zip(radius.par_chunks(CHUNK));
    tasks
        .zip(ways)
        .zip(gone)
        .for_each(|(((velocity, at), (moved, pushed)), ((gone, (apart, far)), radius))| {
            let apart = apart.iter_mut().zip(far);
            let ways = moved.iter().zip(pushed).zip(gone.iter_mut().zip(apart).zip(radius));
            for ((velocity, at), ((moved, pushed), ((gone, (apart, far)), radius))) in
                velocity.iter_mut().zip(at).zip(ways)
            {
                let way = moved.truncate().clamp_length_max(clamp * 2.0 * radius);
                let all = way + pushed.truncate();
                let length = all.length();
                let goes = if length > still { 1.0 } else { 0.0 };
                *velocity = way * (goes * inverse);
                *at += (all * goes).extend(0.0);
                *gone = length * goes;
                *apart -= *gone;
                *far -= *gone;
            }
        });
}
