//! Pushes the surface layer of a cut packing inside.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::relax::{Neighbors, Spheres, Walls, relax};
use super::{Cut, MIN_GAP, gap};
use crate::Shape;
use crate::sample::{Particles, Periods, seam};

/// Target overlap relative to the radii's sum.
const TOLERANCE: f32 = 3e-3;
/// Inset of the walls in radii, so that spheres within the tolerance are still inside.
const INSET: f32 = 5e-3;
/// Rounds of relaxation; after each but the last, the tightest spheres are removed.
const ROUNDS: u32 = 6;
/// Largest number of steps per round.
const MAX_STEPS: u32 = 80;
/// Overlap relative to the radii's sum from which a sphere may be removed between rounds.
const TIGHT_OVERLAP: f32 = 2e-2;
/// Steps between two evaluations of the true distance; in between the surface is approximated as flat.
const DISTANCE_INTERVAL: u32 = 8;

/// Depth in radii beyond which a sphere is not tested against the surface.
const TESTED_DEPTH: f32 = 1.5;

/// Moves the shell inside, and apart from images through the faces of `periods`; removes spheres for which there is no
/// room.
pub(super) fn settle(shape: &dyn Shape, periods: Periods, cut: &mut Cut, progress: &(dyn Fn(f64) + Sync)) {
    if cut.shell.is_empty() {
        return;
    }
    let origin = shape.bounds().center();
    let local = |p: &DVec3| (*p - origin).as_vec3();
    let near = &cut.interior.positions[..cut.near];
    let radii = cut.shell.radii.iter().chain(&cut.interior.radii[..cut.near]);
    let mut spheres = Spheres {
        positions: cut.shell.positions.iter().chain(near).map(local).collect(),
        radii: radii.map(|&r| r as f32).collect(),
        mobile: cut.shell.len(),
        domain: [0, 1, 2].map(|axis| periods[axis].map(|range| range.map(|x| (x - origin[axis]) as f32))),
    };
    let mut walls = TangentPlanes::new(shape, origin, &spheres, &cut.distances);
    for round in 0..ROUNDS {
        let overlaps = relax(&mut spheres, &mut walls, TOLERANCE, MAX_STEPS, &|part| {
            progress((f64::from(round) + part) / f64::from(ROUNDS));
        });
        let worst = overlaps.iter().copied().fold(0.0, f32::max);
        if worst <= TOLERANCE || round + 1 == ROUNDS {
            break;
        }
        let stays = without_tightest(&spheres, &overlaps);
        retain(&mut spheres.positions, &stays);
        retain(&mut spheres.radii, &stays);
        retain(&mut walls.planes, &stays);
        retain(&mut walls.radii, &stays);
        retain(&mut cut.shell.radii, &stays);
        spheres.mobile = cut.shell.radii.len();
    }
    let place = |p: &Vec3| seam::wrapped(&periods, origin + p.as_dvec3());
    let moved: Vec<DVec3> = spheres.positions.iter().map(place).collect();
    let keep = keep(shape, &periods, &moved, &cut.shell.radii, &spheres);
    let mut kept = Particles::default();
    for i in (0..spheres.mobile).filter(|&i| keep[i]) {
        kept.push(moved[i], cut.shell.radii[i]);
    }
    cut.shell = kept;
}

/// Marks the spheres that stay: all except those that overlap more than any of their neighbors.
fn without_tightest(spheres: &Spheres, overlaps: &[f32]) -> Vec<bool> {
    let lists = Neighbors::new(spheres, 0.0);
    let tightness = |k: usize| overlaps.get(k).map_or((0.0, k), |&overlap| (overlap, k));
    (0..overlaps.len())
        .into_par_iter()
        .map(|i| {
            let rivals = || lists.of(i).iter().map(|&j| tightness(j as usize));
            overlaps[i] <= TIGHT_OVERLAP || rivals().any(|rival| rival > tightness(i))
        })
        .collect()
}

/// Keeps the values that stay, and all beyond the end of `stays`.
fn retain<T>(values: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    values.retain(|_| *stays.next().unwrap_or(&true));
}

/// Marks the mobile spheres that lie inside and overlap no kept sphere. The worst are removed first.
fn keep(shape: &dyn Shape, periods: &Periods, positions: &[DVec3], radii: &[f64], spheres: &Spheres) -> Vec<bool> {
    let radius = |k: usize| radii.get(k).copied().unwrap_or_else(|| f64::from(spheres.radii[k]));
    let lists = Neighbors::new(spheres, 0.0);
    let gap_between = |i: usize, j: usize| {
        let offset = seam::nearest(periods, positions[i] - positions[j]);
        gap(offset.length(), radius(i), radius(j))
    };
    let mut keep: Vec<bool> = (0..spheres.mobile)
        .into_par_iter()
        .map(|i| shape.distance(positions[i]) <= -radius(i))
        .collect();
    keep.resize(positions.len(), true);
    let worst = |i: usize, keep: &[bool]| {
        let kept = lists.of(i).iter().map(|&j| j as usize).filter(|&j| keep[j]);
        kept.map(|j| gap_between(i, j)).fold(0.0, f64::min)
    };
    let mut bad: Vec<(f64, usize)> = (0..spheres.mobile)
        .into_par_iter()
        .filter(|&i| keep[i])
        .map(|i| (worst(i, &keep), i))
        .filter(|&(gap, _)| gap < MIN_GAP)
        .collect();
    bad.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, i) in bad {
        keep[i] = worst(i, &keep) >= MIN_GAP;
    }
    keep
}

/// The surface near each sphere, as the tangent plane of its last evaluation.
struct TangentPlanes<'a> {
    shape: &'a dyn Shape,
    origin: DVec3,
    radii: Vec<f32>,
    planes: Vec<Plane>,
    steps: u32,
}

#[derive(Clone, Copy)]
struct Plane {
    seen_from: Vec3,
    distance: f32,
    normal: Vec3,
}

impl<'a> TangentPlanes<'a> {
    fn new(shape: &'a dyn Shape, origin: DVec3, spheres: &Spheres, distances: &[f64]) -> Self {
        let radii = spheres.radii[..spheres.mobile].to_vec();
        let planes = spheres.positions[..spheres.mobile]
            .par_iter()
            .zip(distances)
            .zip(&radii);
        let planes = planes.map(
            |((&x, &distance), &radius)| match distance < f64::from(-TESTED_DEPTH * radius) {
                true => Plane {
                    seen_from: x,
                    distance: distance as f32,
                    normal: Vec3::ZERO,
                },
                false => Plane::look(shape, origin, x),
            },
        );
        Self {
            planes: planes.collect(),
            shape,
            origin,
            radii,
            steps: 0,
        }
    }
}

impl Plane {
    fn look(shape: &dyn Shape, origin: DVec3, x: Vec3) -> Self {
        let (distance, normal) = shape.distance_and_normal(origin + x.as_dvec3());
        Self {
            seen_from: x,
            distance: distance as f32,
            normal: normal.as_vec3(),
        }
    }
}

impl Walls for TangentPlanes<'_> {
    fn excess(&self, i: usize, x: Vec3) -> (f32, Vec3) {
        let plane = self.planes[i];
        let distance = plane.distance + plane.normal.dot(x - plane.seen_from);
        (distance + (1.0 + INSET) * self.radii[i], plane.normal)
    }

    fn follow(&mut self, positions: &[Vec3]) {
        self.steps += 1;
        if !self.steps.is_multiple_of(DISTANCE_INTERVAL) {
            return;
        }
        let (shape, origin, radii) = (self.shape, self.origin, &self.radii);
        self.planes.par_iter_mut().enumerate().for_each(|(i, plane)| {
            let moved = positions[i].distance(plane.seen_from);
            // Too deep to have come near the surface since.
            if plane.distance + moved < -TESTED_DEPTH * radii[i] {
                return;
            }
            *plane = Plane::look(shape, origin, positions[i]);
        });
    }
}
