//! Guides that may touch a body before the next search.

use barchan_world::{Pose, World};
use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::margins::Margins;
use super::rules::SLACK;
use super::scene::StepScene;
use super::search::of_chunk;

/// A guide near a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub guide: u32,
    pub body: u32,
    /// Lower bound of the distance of its center from the body at the start of the step [m].
    pub clear: f32,
}

/// Guides near bodies, chunk by chunk, and how long these lists hold.
#[derive(Debug)]
pub(crate) struct NearBodies {
    pub of: Vec<Vec<Near>>,
    /// Displacement of each guide in the previous step [m].
    pub gone: Vec<f32>,
    /// Distance from each guide to the nearest fixed body at least [m], and to the nearest that it is not listed with.
    apart: Vec<f32>,
    far: Vec<f32>,
    /// Farthest that bodies went since the lists were made [m], and how far they may.
    travel: f32,
    margin: f32,
    /// Bodies that were there in the last step, and where they were at the end of the last frame.
    is_present: Vec<bool>,
    poses: Vec<Pose>,
    spare: Vec<f32>,
}

impl Default for NearBodies {
    fn default() -> Self {
        Self {
            of: Vec::new(),
            gone: Vec::new(),
            apart: Vec::new(),
            far: Vec::new(),
            travel: f32::INFINITY,
            margin: 0.0,
            is_present: Vec::new(),
            poses: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl NearBodies {
    /// Begins a frame: guide `i` had the number `old[i]`. `is_new`: the bodies are others than before.
    pub(crate) fn begin_frame(&mut self, world: &World, old: &[u32], is_new: bool) {
        let knows = !is_new && world.periodic.iter().all(Option::is_none);
        let apart = |&k: &u32| match self.apart.get(k as usize) {
            Some(&apart) if knows => apart,
            _ => f32::NEG_INFINITY,
        };
        self.spare.clear();
        self.spare.extend(old.iter().map(apart));
        std::mem::swap(&mut self.apart, &mut self.spare);
        self.far.resize(old.len(), f32::NEG_INFINITY);
        self.gone.resize(old.len(), 0.0);
        self.of.resize_with(old.len().div_ceil(CHUNK), Vec::new);
        if is_new || !world.bodies.iter().map(|body| body.pose).eq(self.poses.iter().copied()) {
            self.travel = f32::INFINITY;
        }
    }

    /// Ends a frame: moving a body before the next one ends the lists.
    pub(crate) fn end_frame(&mut self, world: &World) {
        self.poses.clear();
        self.poses.extend(world.bodies.iter().map(|body| body.pose));
    }

    /// Counts the way of bodies in this step. Returns whether the lists still hold: the same bodies are there, and none went too far.
    pub(crate) fn follow(&mut self, scene: &StepScene<'_>) -> bool {
        self.travel += scene.bodies.farthest();
        let is_present = || scene.bodies.steps.iter().map(|body| body.step.is_present);
        let is_same = is_present().eq(self.is_present.iter().copied());
        if !is_same {
            self.apart.fill(f32::NEG_INFINITY);
            self.is_present.clear();
            self.is_present.extend(is_present());
        }
        is_same && self.travel <= self.margin
    }

    /// Counts the way of guides in a step, which went by `moved` [m].
    pub(crate) fn advance(&mut self, moved: &[Vec4]) {
        let apart = self.apart.par_chunks_mut(CHUNK).zip(self.far.par_chunks_mut(CHUNK));
        let gone = self.gone.par_chunks_mut(CHUNK).zip(moved.par_chunks(CHUNK));
        gone.zip(apart).for_each(|((gone, moved), (apart, far))| {
            let apart = apart.iter_mut().zip(far);
            for ((gone, moved), (apart, far)) in gone.iter_mut().zip(moved).zip(apart) {
                *gone = moved.truncate().length();
                *apart -= *gone;
                *far -= *gone;
            }
        });
    }

    /// Lists the bodies that guides may touch while they stay within their skin and bodies go on like this for `steps` steps.
    pub(crate) fn find(&mut self, scene: &StepScene<'_>, margins: &Margins, steps: u32) {
        self.travel = scene.bodies.farthest();
        self.margin = 1.1 * self.travel * steps as f32;
        self.gone.fill(0.0);
        self.each_chunk(margins, |c, near, (apart, far), reach| {
            near.clear();
            for (i, (apart, far)) in (c * CHUNK..).zip(apart.iter_mut().zip(far)) {
                let found = scene.near(i, reach, *apart, Listed::default(), |found| near.push(found));
                [*apart, *far] = found.unwrap_or([*apart; 2]);
            }
        });
    }

    /// Adds the bodies that the guides `who`, which are searched for again, may touch to those of their chunks.
    pub(crate) fn find_again(&mut self, scene: &StepScene<'_>, margins: &Margins, who: &[u32]) {
        self.each_chunk(margins, |c, near, (_, far), reach| {
            for &i in of_chunk(who, c, |&i| i) {
                let listed = Listed::of(i, near);
                let far = &mut far[i as usize % CHUNK];
                let found = scene.near(i as usize, reach, *far, listed, |found| {
                    let order = |n: &Near| (n.guide, n.body);
                    if let Err(place) = near.binary_search_by_key(&order(&found), order) {
                        near.insert(place, found);
                    }
                });
                *far = found.map_or(*far, |[_, others]| others);
            }
        });
    }

    /// Lets `visit` see each chunk: its number, its list, and the distances of its guides to fixed bodies, all of them and those that they are
    /// not listed with [m].
    fn each_chunk(
        &mut self,
        margins: &Margins,
        visit: impl Fn(usize, &mut Vec<Near>, (&mut [f32], &mut [f32]), Reach<'_>) + Sync,
    ) {
        let reach = Reach {
            margins,
            margin: self.margin,
        };
        let apart = self.apart.par_chunks_mut(CHUNK).zip(self.far.par_chunks_mut(CHUNK));
        let chunks = self.of.par_iter_mut().zip(apart).enumerate();
        // One by one: chunks at bodies take far longer than others.
        chunks
            .with_max_len(1)
            .for_each(|(c, (near, apart))| visit(c, near, apart, reach));
    }
}

impl StepScene<'_> {
    /// Visits the bodies that guide `i` may touch within its `reach`, except for those that are `listed`. Fixed ones are left out if all of
    /// them are `apart` [m] enough; else returns the distances to the nearest, and to the nearest that is not visited [m].
    fn near(
        &self,
        i: usize,
        reach: Reach<'_>,
        apart: f32,
        listed: Listed,
        mut visit: impl FnMut(Near),
    ) -> Option<[f32; 2]> {
        let Margins { at, middle, skin, .. } = reach.margins;
        let felt = (1.0 + 2.0 * SLACK) * self.world.guides.radius[i] + (skin[i] + reach.margin);
        let (place, ahead) = (self.place(reach.margins, i, middle[i]), (middle[i] - at[i]).length());
        // On the safe side of what rounding adds up to over many steps.
        let is_clear = 0.999 * apart > felt + ahead;
        let [mut nearest, mut nearest_left] = [f64::INFINITY; 2];
        for (b, (body, surface)) in self.bodies.steps.iter().zip(&self.bodies.surfaces).enumerate() {
            let body = &body.step;
            if !body.is_present || (body.is_fixed && is_clear) || listed.has(b) {
                continue;
            }
            let mut clearance = body.from.clearance(place);
            if clearance < f64::from(felt) {
                clearance = surface.clearance(body.from.local(place));
            }
            let is_near = clearance < f64::from(felt);
            if body.is_fixed {
                nearest = nearest.min(clearance);
                nearest_left = if is_near {
                    nearest_left
                } else {
                    nearest_left.min(clearance)
                };
            }
            if is_near {
                visit(Near {
                    guide: i as u32,
                    body: b as u32,
                    clear: clearance as f32 - ahead,
                });
            }
        }
        (!is_clear).then(|| [nearest, nearest_left].map(|clearance| clearance as f32 - ahead))
    }
}

/// The first bodies that a guide is listed with, a bit each.
#[derive(Clone, Copy, Default)]
struct Listed(u64);

impl Listed {
    /// Those of guide `i` in the list of its chunk.
    fn of(i: u32, near: &[Near]) -> Self {
        let own = &near[near.partition_point(|near| near.guide < i)..];
        let own = own.iter().take_while(|near| near.guide == i);
        Self(own.fold(0, |all, near| all | 1u64.checked_shl(near.body).unwrap_or(0)))
    }

    fn has(self, b: usize) -> bool {
        b < 64 && self.0 >> b & 1 == 1
    }
}

/// Margins of guides while bodies go no farther than `margin` [m].
#[derive(Clone, Copy)]
struct Reach<'a> {
    margins: &'a Margins,
    margin: f32,
}
