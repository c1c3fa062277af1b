//! Which guides may touch which bodies before the next search.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::guides::Columns;
use super::rules::SLACK;
use super::scene::Scene;
use crate::search::of_chunk;

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
        each_chunk(all, columns, margin, |c, near, apart, ways| {
            near.clear();
            for (i, apart) in (c * CHUNK..).zip(apart) {
                self.near(i, ways.of(i), apart, |found| near.push(found));
            }
        });
    }

    /// Adds the bodies that the guides `who`, whose ways are no longer what was searched for, may touch to those of their chunks.
    pub(crate) fn find_near_again(&self, who: &[u32], all: &mut [Vec<Near>], columns: &mut Columns, margin: f32) {
        each_chunk(all, columns, margin, |c, near, apart, ways| {
            for i in of_chunk(who, c, |&i| i).iter().map(|&i| i as usize) {
                self.near(i, ways.of(i), &mut apart[i % CHUNK], |found| {
                    let order = |n: &Near| (n.guide, n.body);
                    if let Err(place) = near.binary_search_by_key(&order(&found), order) {
                        near.insert(place, found);
                    }
                });
            }
        });
    }

    /// Visits the bodies that guide `i` may touch on its `way`. It is `apart` [m] from fixed ones, or will be known to be.
    fn near(&self, i: usize, way: Way, apart: &mut f32, mut visit: impl FnMut(Near)) {
        let felt = (1.0 + 2.0 * SLACK) * self.guides.radius[i] + way.leeway;
        let (place, ahead) = (self.place(i, way.middle), (way.middle - way.at).length());
        // On the safe side of what rounding adds up to over many steps.
        let is_clear = 0.999 * *apart > felt + ahead;
        let mut nearest = f64::INFINITY;
        for (b, (body, surface)) in self.bodies.iter().zip(self.surfaces).enumerate() {
            if !body.is_present || (body.is_fixed && is_clear) {
                continue;
            }
            let mut clearance = body.clearance(place);
            if clearance < f64::from(felt) {
                clearance = surface.clearance(body.local_from(place));
            }
            if body.is_fixed {
                nearest = nearest.min(clearance);
            }
            if clearance < f64::from(felt) {
                visit(Near {
                    guide: i as u32,
                    body: b as u32,
                    clear: clearance as f32 - ahead,
                });
            }
        }
        if !is_clear {
            *apart = nearest as f32 - ahead;
        }
    }
}

/// Lets `visit` see each chunk: its number, whom it has near, and how far its guides are from fixed bodies [m].
fn each_chunk(
    all: &mut [Vec<Near>],
    columns: &mut Columns,
    margin: f32,
    visit: impl Fn(usize, &mut Vec<Near>, &mut [f32], Ways) + Sync,
) {
    let ways = Ways {
        at: &columns.at,
        middle: &columns.middle,
        leeway: &columns.leeway,
        margin,
    };
    let chunks = all.par_iter_mut().zip(columns.apart.par_chunks_mut(CHUNK));
    chunks
        .enumerate()
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
