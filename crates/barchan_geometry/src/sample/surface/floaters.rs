//! Floaters: samples that repel each other while they stay on the level, [Bell05] after [Witkin94].

use std::ops::ControlFlow;

use glam::DVec3;
use rayon::prelude::*;

use super::cells::Cells;
use super::poisson::SATURATION;
use super::settle::{Level, OPPOSED, Spot};

/// Initial time step over the time constant tau of the velocities [-]: stable, and faster than the 0.2 of smaller
/// ranges.
const STEP: f64 = 0.5;
/// Number of steps over which the repulsion's step falls to zero. At sharp edges floaters pushed from both sides would
/// never come to rest otherwise.
const STEPS: usize = 60;
/// Range of the repulsion relative to the hexagonal distance of the floaters [-]. Above one, all are under pressure,
/// and holes close; at one, many lose contact first.
const PRESSURE: f64 = 1.3;
/// Search margin beyond the range relative to the range [-].
const SKIN: f64 = 0.3;
const CHUNK: usize = 1024;

/// Returns the velocity [m] in units of 1/tau with which floaters at `distance` [m] repel: K(d) = s (1 - d/s)², `range`
/// s [m].
pub(super) fn repulsion(distance: f64, range: f64) -> f64 {
    range * (1.0 - distance / range).max(0.0).powi(2)
}

/// Returns the distance [m] between neighbors if as many samples as saturated Poisson disks of `spacing` [m] lie
/// evenly, each with six around it.
pub(super) fn hexagonal_distance(spacing: f64) -> f64 {
    (2.0 / (3f64.sqrt() * SATURATION)).sqrt() * spacing
}

/// Relaxes floaters that began as Poisson disks of `spacing` [m].
pub(super) fn relax(spots: &mut Vec<Spot>, level: &Level, spacing: f64, progress: &(dyn Fn(f64) + Sync)) {
    let range = PRESSURE * hexagonal_distance(spacing);
    let mut lists = Lists::new(spots, range);
    // Largest displacement since the lists were built [m].
    let mut drift = 0.0;
    let mut next = spots.clone();
    for step in 0..STEPS {
        if 2.0 * drift > SKIN * range {
            lists = Lists::new(spots, range);
            drift = 0.0;
        }
        let cooled = STEP * (1.0 - step as f64 / STEPS as f64);
        drift += next
            .par_iter_mut()
            .enumerate()
            .with_min_len(CHUNK)
            .map(|(i, spot)| {
                *spot = advance(spots, i, lists.of(i), level, range, cooled);
                spot.position.distance(spots[i].position)
            })
            .reduce(|| 0.0, f64::max);
        std::mem::swap(spots, &mut next);
        progress((step + 1) as f64 / STEPS as f64);
    }
    spots
        .par_iter_mut()
        .for_each(|spot| *spot = level.settle(spot.position));
}

/// Advances floater `i` by one step, the repulsion's `step` [-] in units of tau.
fn advance(spots: &[Spot], i: usize, near: &[u32], level: &Level, range: f64, step: f64) -> Spot {
    let here = spots[i];
    let x = here.position;
    let mut push = DVec3::ZERO;
    for &j in near {
        let other = &spots[j as usize];
        let away = x - other.position;
        let squared = away.length_squared();
        let same_side = here.middle || other.middle || here.normal.dot(other.normal) > OPPOSED;
        if squared < range * range && squared > 0.0 && same_side {
            let distance = squared.sqrt();
            push += repulsion(distance, range) / distance * away;
        }
    }
    let along = |n: DVec3| step * (push - push.dot(n) * n);
    if here.middle {
        return level.settle(x + along(here.normal));
    }
    let (distance, normal) = level.shape.distance_and_normal(x);
    let excess = distance - level.level;
    if level.level < 0.0 && excess > level.tolerance() && normal.dot(here.normal) < OPPOSED {
        // It crossed the middle of a part too thin for the level.
        return level.settle(x);
    }
    Spot {
        position: x + along(normal) - STEP * excess * normal,
        normal,
        middle: false,
    }
}

/// Neighbor lists with a search margin.
struct Lists {
    starts: Vec<usize>,
    numbers: Vec<u32>,
}

impl Lists {
    fn new(spots: &[Spot], range: f64) -> Self {
        let reach = range * (1.0 + SKIN);
        let positions: Vec<DVec3> = spots.iter().map(|s| s.position).collect();
        let cells = Cells::of_points(reach, &positions);
        let parts: Vec<(Vec<usize>, Vec<u32>)> = positions
            .par_chunks(CHUNK)
            .enumerate()
            .map(|(chunk, own)| {
                let (mut ends, mut numbers) = (Vec::with_capacity(own.len()), Vec::with_capacity(12 * own.len()));
                for (k, &p) in own.iter().enumerate() {
                    let i = chunk * CHUNK + k;
                    let _ = cells.near(p, reach, |j| {
                        if j != i && positions[j].distance_squared(p) < reach * reach {
                            numbers.push(j as u32);
                        }
                        ControlFlow::Continue(())
                    });
                    ends.push(numbers.len());
                }
                (ends, numbers)
            })
            .collect();
        let mut starts = Vec::with_capacity(spots.len() + 1);
        let mut numbers = Vec::with_capacity(parts.iter().map(|(_, n)| n.len()).sum());
        starts.push(0);
        for (ends, part) in parts {
            starts.extend(ends.iter().map(|end| numbers.len() + end));
            numbers.extend(part);
        }
        Self { starts, numbers }
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.numbers[self.starts[i]..self.starts[i + 1]]
    }
}
