//! Which guides may touch which bodies before the next search.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::guides::Columns;
use super::rules::SLACK;
use super::scene::Scene;
use super::search::of_chunk;

/// A guide near a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub guide: u32,
    pub body: u32,
    /// Its centre is no nearer to the body than this at the start of the step [m].
    pub clear: f32,
}

impl Scene<'_> {
    /// Finds which guides may touch which bodies while guides stay within their leeway and bodies go no farther than
    /// `margin` [m].
    pub(crate) fn find_near(&self, all: &mut [Vec<Near>], columns: &mut Columns, margin: f32) {
        each_chunk(all, columns, margin, |c, near, (apart, far), ways| {
            near.clear();
            for (i, (apart, far)) in (c * CHUNK..).zip(apart.iter_mut().zip(far)) {
                let found = self.near(i, ways.of(i), *apart, Listed::default(), |found| near.push(found));
                [*apart, *far] = found.unwrap_or([*apart; 2]);
            }
        });
    }

    /// Adds the bodies that the guides `who`, whose ways are no longer what was searched for, may touch to those of their chunks.
    pub(crate) fn find_near_again(&self, who: &[u32], all: &mut [Vec<Near>], columns: &mut Columns, margin: f32) {
        each_chunk(all, columns, margin, |c, near, (_, far), ways| {
            for &i in of_chunk(who, c, |&i| i) {
                let listed = Listed::of(i, near);
                let far = &mut far[i as usize % CHUNK];
                let found = self.near(i as usize, ways.of(i as usize), *far, listed, |found| {
                    let order = |n: &Near| (n.guide, n.body);
                    if let Err(place) = near.binary_search_by_key(&order(&found), order) {
                        near.insert(place, found);
                    }
                });
                *far = found.map_or(*far, |[_, others]| others);
            }
        });
    }

    /// Visits the bodies that guide `i` may touch on its `way`, except for those that are `listed`. Fixed ones are left out if all of
    /// them are `apart` [m] enough; else gives how far the nearest is, and the nearest that is not visited [m].
    fn near(&self, i: usize, way: Way, apart: f32, listed: Listed, mut visit: impl FnMut(Near)) -> Option<[f32; 2]> {
        let felt = (1.0 + 2.0 * SLACK) * self.guides.radius[i] + way.leeway;
        let (place, ahead) = (self.place(i, way.middle), (way.middle - way.at).length());
        // On the safe side of what rounding adds up to over many steps.
        let is_clear = 0.999 * apart > felt + ahead;
        let [mut nearest, mut nearest_left] = [f64::INFINITY; 2];
        for (b, (body, surface)) in self.bodies.iter().zip(self.surfaces).enumerate() {
            if !body.is_present || (body.is_fixed && is_clear) || listed.has(b) {
                continue;
            }
            let mut clearance = body.clearance(place);
            if clearance < f64::from(felt) {
                clearance = surface.clearance(body.local_from(place));
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

/// Which of the first bodies a guide is known to be near to.
#[derive(Clone, Copy, Default)]
struct Listed(u64);

impl Listed {
    /// Those of guide `i` in the `near` ones of its chunk.
    fn of(i: u32, near: &[Near]) -> Self {
        let own = &near[near.partition_point(|near| near.guide < i)..];
        let own = own.iter().take_while(|near| near.guide == i);
        Self(own.fold(0, |all, near| all | 1u64.checked_shl(near.body).unwrap_or(0)))
    }

    fn has(self, b: usize) -> bool {
        b < 64 && self.0 >> b & 1 == 1
    }
}

/// Lets `visit` see each chunk: its number, whom it has near, and how far its guides are from fixed bodies, all of them and those
/// that they are not near to [m].
fn each_chunk(
    all: &mut [Vec<Near>],
    columns: &mut Columns,
    margin: f32,
    visit: impl Fn(usize, &mut Vec<Near>, (&mut [f32], &mut [f32]), Ways) + Sync,
) {
    let ways = Ways {
        at: &columns.at,
        middle: &columns.middle,
        leeway: &columns.leeway,
        margin,
    };
    let apart = columns
        .apart
        .par_chunks_mut(CHUNK)
        .zip(columns.far.par_chunks_mut(CHUNK));
    all.par_iter_mut()
        .zip(apart)
        .enumerate()
        // One by one: chunks at bodies take far longer than others.
        .with_max_len(1)
        .for_each(|(c, (near, apart))| visit(c, near, apart, ways));
}

/// Where guides may be while bodies go no farther than `margin` [m].
#[derive(Clone, Copy)]
struct Ways<'a> {
    at: &'a [Vec4],
    middle: &'a [Vec4],
    leeway: &'a [f32],
    margin: f32,
}

impl Ways<'_> {
    fn of(&self, i: usize) -> Way {
        Way {
            at: self.at[i],
            middle: self.middle[i],
            leeway: self.leeway[i] + self.margin,
        }
    }
}

/// Where a guide may be before the next search: it is `at` [m] from where it was at the last, and stays within `leeway` [m] of the
/// `middle`.
#[derive(Clone, Copy)]
struct Way {
    at: Vec4,
    middle: Vec4,
    leeway: f32,
}
