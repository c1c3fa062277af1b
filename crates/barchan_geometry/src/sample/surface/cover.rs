//! Finds holes in a cover and fills them.

use std::ops::ControlFlow;

use glam::DVec3;
use rayon::prelude::*;

use super::cells::Cells;
use super::settle::{Level, Spot};
use crate::Aabb;

/// Cells are judged from this size on, half diagonal over the limit [-].
const COARSEST: f64 = 0.25;
/// How often such a cell is halved before its last doubt counts as a hole.
const HALVINGS: u32 = 3;
const MAX_PASSES: usize = 100;
const CHUNK: usize = 256;

/// What must be covered.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// The level, from its own cells: any of its points lies in a cell, and no farther from a sample than the cell's
    /// centre plus half the diagonal.
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

/// A place farther from every sample than allowed, and the cell in which it was found.
struct Hole {
    cell: Cell,
    spot: Spot,
    distance: f64,
}

/// Adds samples until every point of the level within `bounds`, and of the middle of thin parts if there are any, is
/// within `limit` [m] of one. Returns the largest distance [m] seen from a point there to its nearest sample.
pub(super) fn fill(spots: &mut Vec<Spot>, level: &Level, bounds: Aabb, limit: f64, thin: bool) -> f64 {
    let positions: Vec<DVec3> = spots.iter().map(|s| s.position).collect();
    let mut cover = Cover {
        level: *level,
        limit,
        cells: Cells::of_points(limit, &positions),
    };
    let mut gap = 0.0;
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
                    let (mut largest, mut holes) = (0.0, Vec::new());
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

    /// Half diagonal [m] of the cells that are not halved any more.
    fn finest(&self) -> f64 {
        COARSEST * self.limit / f64::from(1 << HALVINGS)
    }

    fn value(&self, target: Target) -> f64 {
        match target {
            Target::Level => self.level.level,
            Target::Middle => 0.0,
        }
    }

    /// The coarsest cells that are to be judged: by halving cells of the size of the bounds wherever the target may be.
    fn cells_of(&self, target: Target, bounds: Aabb) -> Vec<Cell> {
        let half = COARSEST * self.limit / 3f64.sqrt();
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

    /// Looks for holes in `cell`, and for the `largest` distance [m] from a point of the target to its nearest sample.
    fn judge(&self, target: Target, cell: Cell, halvings: u32, largest: &mut f64, holes: &mut Vec<Hole>) {
        let (center, reach) = (cell.center, cell.reach());
        let settled = match target {
            Target::Level => None,
            Target::Middle => Some(self.level.settle(center)),
        };
        let distance = self.nearest(settled.map_or(center, |spot| spot.position));
        if distance + reach <= self.limit && distance <= *largest {
            return;
        }
        let spot = settled.unwrap_or_else(|| self.level.settle(center));
        let exact = if settled.is_some() {
            distance
        } else {
            self.nearest(spot.position)
        };
        let settled_nearby = target == Target::Middle || spot.position.distance(center) <= 2.0 * reach;
        if settled_nearby && exact <= self.limit {
            *largest = exact.max(*largest);
        }
        if distance + reach <= self.limit {
            return;
        }
        if halvings == 0 || (settled_nearby && exact > self.limit) {
            let here = Spot {
                position: center,
                ..spot
            };
            holes.push(Hole {
                cell,
                spot: if settled_nearby { spot } else { here },
                distance: exact,
            });
            return;
        }
        let value = self.value(target);
        for child in cell.children() {
            if (self.level.shape.distance(child.center) - value).abs() <= child.reach() {
                self.judge(target, child, halvings - 1, largest, holes);
            }
        }
    }

    /// Distance [m] from `p` to the nearest sample, infinite beyond the limit.
    fn nearest(&self, p: DVec3) -> f64 {
        let mut squared = f64::INFINITY;
        let _ = self.cells.near(p, |i| {
            squared = self.cells.points[i].distance_squared(p).min(squared);
            ControlFlow::Continue(())
        });
        squared.sqrt()
    }
}
