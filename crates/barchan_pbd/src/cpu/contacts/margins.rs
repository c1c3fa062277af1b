//! Displacements of guides since the last search, and the margins within which its candidates hold.

use barchan_world::{Guides, displace};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;

/// Columns of guides, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Margins {
    /// Position at the last search [m], in two parts as the world has it.
    pub base: Vec<[Vec3; 2]>,
    /// Displacement since then [m]. The world's position is the sum of both.
    pub at: Vec<Vec4>,
    /// Middle of the displacements for which candidates were searched [m], and the distance from it up to which they hold [m].
    pub middle: Vec<Vec4>,
    pub skin: Vec<f32>,
    /// Displacement over the frame [m]: up to the last search, and at the end of the frame all of it.
    pub total: Vec<Vec3>,
    /// Set for guides that will be near the end of their skin, or beyond.
    pub(super) leaves: Vec<bool>,
}

impl Margins {
    /// Forgets the last search, for `n` guides.
    pub(crate) fn reset(&mut self, n: usize) {
        for column in [&mut self.at, &mut self.middle] {
            column.clear();
            column.resize(n, Vec4::ZERO);
        }
        self.skin.clear();
        self.skin.resize(n, 0.0);
        self.stay(n);
    }

    /// Notes that none of `n` guides moves in this frame.
    pub(crate) fn stay(&mut self, n: usize) {
        self.total.clear();
        self.total.resize(n, Vec3::ZERO);
    }

    /// Begins a frame with the candidates of the last one.
    pub(crate) fn go_on(&mut self) {
        let gone = self.at.par_iter().map(|at| -at.truncate());
        gone.collect_into_vec(&mut self.total);
    }

    /// Checks whether guides are where the last step left them.
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

    /// Number of guides of `velocity` [m/s] that leave their skin within `duration` [s].
    pub(crate) fn leaving(&self, velocity: &[Vec3], duration: f32) -> usize {
        let leaves = |&i: &usize| {
            let way = (velocity[i] * duration).extend(0.0);
            !is_within(self.at[i], way, self.middle[i], self.skin[i])
        };
        let guides = (0..velocity.len()).into_par_iter().with_min_len(CHUNK);
        guides.filter(leaves).count()
    }

    /// Checks whether all guides are within their skin, and stay so if they go by `free` [m].
    pub(crate) fn hold(&self, free: &[Vec4]) -> bool {
        let searched = self.middle.par_chunks(CHUNK).zip(self.skin.par_chunks(CHUNK));
        let ways = self.at.par_chunks(CHUNK).zip(free.par_chunks(CHUNK));
        ways.zip(searched).all(|((at, free), (middle, skin))| {
            let searched = middle.iter().zip(skin);
            let is_within =
                |((at, free), (middle, skin)): ((&Vec4, &Vec4), (&Vec4, &f32))| is_within(*at, *free, *middle, *skin);
            at.iter().zip(free).zip(searched).all(is_within)
        })
    }

    /// Sets what the next search is for, with guides that go by `free` [m] in a step.
    pub(crate) fn look_ahead(&mut self, ahead: Ahead, free: &[Vec4]) {
        let searched = self.middle.par_chunks_mut(CHUNK).zip(self.skin.par_chunks_mut(CHUNK));
        searched.zip(free.par_chunks(CHUNK)).for_each(|((middle, skin), free)| {
            for ((middle, skin), free) in middle.iter_mut().zip(skin).zip(free) {
                *middle = ahead.middle(*free);
                *skin = middle.length() + ahead.margin;
            }
        });
    }

    /// Lists the guides that will be near the end of their skin, or beyond, and sets what they are searched for again.
    pub(crate) fn look_again(&mut self, ahead: Ahead, free: &[Vec4], who: &mut Vec<u32>) {
        let Self {
            at,
            middle,
            skin,
            leaves,
            ..
        } = self;
        leaves.resize(at.len(), false);
        let searched = middle.par_chunks(CHUNK).zip(skin.par_chunks(CHUNK));
        let ways = at.par_chunks(CHUNK).zip(free.par_chunks(CHUNK));
        let chunks = leaves.par_chunks_mut(CHUNK).zip(ways.zip(searched));
        chunks.for_each(|(leaves, ((at, free), (middle, skin)))| {
            for ((leaves, at), (free, (middle, skin))) in
                leaves.iter_mut().zip(at).zip(free.iter().zip(middle.iter().zip(skin)))
            {
                *leaves = !is_within(*at, *free * ahead.steps, *middle, skin - LEAVING_SHARE * ahead.margin);
            }
        });
        who.clear();
        who.extend((0..).zip(&*leaves).filter(|&(_, &leaves)| leaves).map(|(i, _)| i));
        for i in who.iter().map(|&i| i as usize) {
            let way = ahead.middle(free[i]);
            middle[i] = at[i] + way;
            skin[i] = way.length() + ahead.margin;
        }
    }

    /// Farthest that a guide may be from its position at the last search [m].
    pub(crate) fn farthest(&self) -> f32 {
        let ways = self.middle.par_chunks(CHUNK).zip(self.skin.par_chunks(CHUNK));
        ways.map(|(middle, skin)| {
            let far = middle.iter().zip(skin).map(|(middle, skin)| middle.length() + skin);
            far.fold(0.0, f32::max)
        })
        .reduce(|| 0.0, f32::max)
    }

    /// Counts displacements from where guides are now.
    pub(crate) fn rebase(&mut self, guides: &Guides) {
        self.add_up();
        let places = guides.position.iter().zip(&guides.offset);
        self.base.clear();
        self.base.extend(places.map(|(position, offset)| [*position, *offset]));
        self.at.fill(Vec4::ZERO);
    }

    /// Adds the displacement since the last search to that over the frame.
    pub(crate) fn add_up(&mut self) {
        let ways = self.at.par_iter().zip(&mut self.total).with_min_len(CHUNK);
        ways.for_each(|(at, total)| *total += at.truncate());
    }

    /// Moves guides by `moved` [m]: their positions are those of the search, displaced once.
    pub(crate) fn advance(&mut self, guides: &mut Guides, moved: &[Vec4]) {
        let Guides { position, offset, .. } = guides;
        let places = position.par_chunks_mut(CHUNK).zip(offset.par_chunks_mut(CHUNK));
        let ways = self.at.par_chunks_mut(CHUNK).zip(moved.par_chunks(CHUNK));
        let chunks = places.zip(self.base.par_chunks(CHUNK)).zip(ways);
        chunks.for_each(|(((position, offset), base), (at, moved))| {
            let places = position.iter_mut().zip(offset).zip(base);
            for (((position, offset), base), (at, moved)) in places.zip(at.iter_mut().zip(moved)) {
                *at += *moved;
                [*position, *offset] = *base;
                displace(position, offset, at.truncate());
            }
        });
    }
}

/// Guides this close to the end of their skin, as a fraction of the margin [-], are searched for with those that leave
/// it.
const LEAVING_SHARE: f32 = 0.2;

/// Purpose of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Steps like the next one [-].
    pub steps: f32,
    /// Largest multiple of `steps` [-], for guides that move no farther than `near` [m] in all of them.
    pub frames: f32,
    pub near: f32,
    /// Allowed deviation of a guide from its predicted path [m].
    pub margin: f32,
    /// Largest half length of a path that is searched along [m]: images through short periods must stay apart.
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

/// Checks whether a guide that goes from `at` on by `free` [m] is within `skin` [m] of the middle of its way, and stays so.
#[inline]
fn is_within(at: Vec4, free: Vec4, middle: Vec4, skin: f32) -> bool {
    let off = (at - middle).truncate();
    let farthest = off.length_squared().max((off + free.truncate()).length_squared());
    farthest <= skin * skin
}
