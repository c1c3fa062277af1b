//! Finds holes in a cover and fills them.

use std::ops::ControlFlow;

use glam::DVec3;
use rayon::prelude::*;

use super::cells::Cells;
use super::settle::{Level, Spot};
use crate::Aabb;

/// Half diagonal of the initial search cells relative to the limit [-]. Halved once, most are covered as a whole.
const INITIAL_CELL: f64 = 0.7;
/// Number of halvings of such a cell before a remaining doubt counts as a hole.
const HALVINGS: u32 = 5;
/// Number of remaining halvings from which a cell may be covered as a whole, represented by its center.
const WHOLE_HALVINGS: u32 = HALVINGS - 1;
/// Distance to samples relative to the limit [-] below which they are not resolved.
const MIN_GAP: f64 = 1.0 - 0.5 * INITIAL_CELL;
const MAX_PASSES: usize = 100;
const CHUNK: usize = 256;

/// Surface to be covered.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// The level, from its own cells: any of its points lies in a cell, and no farther from a sample than the cell's
    /// center plus half the diagonal.
    Level,
    /// The middle of thin parts, from the cells of the surface that encloses them.
    Middle,
}

#[derive(Clone, Copy)]
struct Cell {
    center: DVec3,
    /// Half a side [m].
    half: f64,
}

impl Cell {
    fn reach(&self) -> f64 {
        3f64.sqrt() * self.half
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let half = 0.5 * self.half;
        Aabb::new(self.center - half, self.center + half)
            .corners()
            .into_iter()
            .map(move |center| Self { center, half })
    }
}

/// A point farther from every sample than allowed, and its cell.
struct Hole {
    cell: Cell,
    spot: Spot,
    distance: f64,
}

/// Adds samples until every point of the level within `bounds`, and of the middle of thin parts if there are any, is
/// within `limit` [m] of one. Returns the largest distance [m] from a point there to its nearest sample, or [`MIN_GAP`]
/// limits if all are nearer.
pub(super) fn fill(spots: &mut Vec<Spot>, level: &Level, bounds: Aabb, limit: f64, thin: bool) -> f64 {
    let positions: Vec<DVec3> = spots.iter().map(|s| s.position).collect();
    let mut cover = Cover {
        level: *level,
        limit,
        cells: Cells::of_points(limit, &positions),
    };
    let mut gap: f64 = 0.0;
    for target in [Target::Level, Target::Middle] {
        if target == Target::Level || thin {
            gap = cover.close(target, bounds, spots).max(gap);
        }
    }
    gap
}

struct Cover<'a> {
    level: Level<'a>,
    limit: f64,
    cells: Cells,
}

impl Cover<'_> {
    fn close(&mut self, target: Target, bounds: Aabb, spots: &mut Vec<Spot>) -> f64 {
        let mut doubtful = self.cells_of(target, bounds);
        let mut gap: f64 = 0.0;
        for _ in 0..MAX_PASSES {
            let parts: Vec<(f64, Vec<Hole>)> = doubtful
                .par_chunks(CHUNK)
                .map(|chunk| {
                    let (mut largest, mut holes) = (MIN_GAP * self.limit, Vec::new());
                    for &cell in chunk {
                        self.judge(target, cell, HALVINGS, &mut largest, &mut holes);
                    }
                    (largest, holes)
                })
                .collect();
            gap = parts.iter().fold(gap, |gap, part| gap.max(part.0));
            let mut holes: Vec<Hole> = parts.into_iter().flat_map(|part| part.1).collect();
            // The widest first: one sample in the middle instead of two at the rim.
            holes.sort_by(|a, b| b.distance.total_cmp(&a.distance));
            let enough = self.limit - 2.0 * self.finest();
            for hole in &holes {
                if self.nearest(hole.spot.position) > enough {
                    self.cells.insert(hole.spot.position);
                    spots.push(hole.spot);
                }
            }
            doubtful = holes.into_iter().map(|hole| hole.cell).collect();
            if doubtful.is_empty() {
                break;
            }
        }
        gap
    }

    /// Returns the half diagonal [m] of the cells that are not halved any more.
    fn finest(&self) -> f64 {
        INITIAL_CELL * self.limit / f64::from(1 << HALVINGS)
    }

    fn value(&self, target: Target) -> f64 {
        match target {
            Target::Level => self.level.level,
            Target::Middle => 0.0,
        }
    }

    /// Returns the coarsest cells to be tested, by halving cells of the size of the bounds wherever the target may be.
    fn cells_of(&self, target: Target, bounds: Aabb) -> Vec<Cell> {
        let half = INITIAL_CELL * self.limit / 3f64.sqrt();
        let bounds = bounds.grown(self.level.level.max(0.0) + half);
        let doublings = (bounds.size().max_element() / (2.0 * half)).log2().ceil().max(0.0) as i32;
        let mut list = vec![Cell {
            center: bounds.center(),
            half: half * 2f64.powi(doublings),
        }];
        let value = self.value(target);
        for _ in 0..doublings {
            list = list
                .par_iter()
                .flat_map_iter(|cell| {
                    cell.children().filter(|c| {
                        let nearest = c.center.clamp(bounds.min, bounds.max);
                        (nearest - c.center).abs().max_element() <= c.half
                            && (self.level.shape.distance(c.center) - value).abs() <= c.reach()
                    })
                })
                .collect();
        }
        list
    }

    /// Searches for holes in `cell`, and for the `largest` distance [m] from a point of the target to its nearest
    /// sample.
    fn judge(&self, target: Target, cell: Cell, halvings: u32, largest: &mut f64, holes: &mut Vec<Hole>) {
        let (center, reach) = (cell.center, cell.reach());
        // The shape may be slow, so it is evaluated last.
        if target == Target::Level && halvings <= WHOLE_HALVINGS && self.covers(center, self.limit - reach) {
            return;
        }
        if (self.level.shape.distance(center) - self.value(target)).abs() > reach {
            return;
        }
        if halvings <= WHOLE_HALVINGS || (target == Target::Level && !self.covers(center, self.limit)) {
            let mut spot = self.level.settle(center);
            let distance = self.nearest(spot.position);
            if target == Target::Middle && distance + reach <= self.limit {
                *largest = distance.max(*largest);
                return;
            }
            if target == Target::Level && spot.position.distance(center) > 2.0 * reach {
                // The distance is misleading here; near enough to the level this point itself is used.
                spot.position = center;
            } else if distance <= self.limit {
                *largest = distance.max(*largest);
            }
            if halvings == 0 || (distance > self.limit && spot.position != center) {
                holes.push(Hole { cell, spot, distance });
                return;
            }
        }
        for child in cell.children() {
            self.judge(target, child, halvings - 1, largest, holes);
        }
    }

    /// Returns true if a sample lies within `distance` [m], at most the limit, of `p`.
    fn covers(&self, p: DVec3, distance: f64) -> bool {
        let seek = |i: usize| {
            if self.cells.points[i].distance_squared(p) <= distance * distance {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        self.cells.near(p, distance, seek).is_break()
    }

    /// Returns the distance [m] from `p` to the nearest sample, infinite beyond the limit.
    fn nearest(&self, p: DVec3) -> f64 {
        let mut squared = f64::INFINITY;
        let _ = self.cells.near(p, self.limit, |i| {
            squared = self.cells.points[i].distance_squared(p).min(squared);
            ControlFlow::Continue(())
        });
        squared.sqrt()
    }
}
