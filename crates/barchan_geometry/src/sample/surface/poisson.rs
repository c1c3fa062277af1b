//! Poisson disk sampling of triangles, in parallel, after [Bowers10].

use std::ops::ControlFlow;

use glam::DVec3;
use rayon::prelude::*;

use super::cells::{Cells, phase};
use super::settle::{Level, OPPOSED, Spot};
use crate::TriMesh;
use crate::random::Stream;

/// Candidates per area of pi s² [-].
const CANDIDATES: f64 = 40.0;
/// Candidates come in rounds: those that earlier rounds exclude are neither stored nor sorted.
const ROUNDS: u64 = 8;
/// Smallest number of candidates per round, for tiny surfaces.
const MIN_CANDIDATES: u64 = 16;
const CHUNK: u64 = 4096;

/// Samples per area of s² [-], where there is no room for more: random sequential discs cover 0.547 of the plane
/// [Feder80].
pub(super) const SATURATION: f64 = 0.547 * 4.0 / std::f64::consts::PI;

/// Returns the approximate geodesic distance [m] between `p` and `q` [m] with unit normals there, [Bowers10] eq. (1):
/// exact on a sphere.
pub fn geodesic_distance(p: DVec3, q: DVec3, normal_p: DVec3, normal_q: DVec3) -> f64 {
    let distance = p.distance(q);
    if distance == 0.0 {
        return 0.0;
    }
    let e = (q - p) / distance;
    let c1 = normal_p.dot(e).clamp(-1.0, 1.0);
    let c2 = normal_q.dot(e).clamp(-1.0, 1.0);
    if (c1 - c2).abs() < 1e-5 {
        distance / (1.0 - c1 * c1).max(1e-12).sqrt()
    } else {
        distance * (c1.asin() - c2.asin()) / (c1 - c2)
    }
}

/// Returns true if two samples are closer than `spacing` [m]. Samples on opposite sides do not conflict; the middle of
/// a thin part counts for both sides.
fn conflict(a: &Spot, b: &Spot, spacing: f64) -> bool {
    if a.position.distance_squared(b.position) >= spacing * spacing {
        return false;
    }
    if a.middle || b.middle {
        return true;
    }
    a.normal.dot(b.normal) >= OPPOSED && geodesic_distance(a.position, b.position, a.normal, b.normal) < spacing
}

/// Triangles to draw points from, by area.
pub(super) struct Areas<'a> {
    mesh: &'a TriMesh,
    /// Cumulative area [m²] up to and including each triangle.
    sums: Vec<f64>,
}

impl<'a> Areas<'a> {
    pub fn new(mesh: &'a TriMesh) -> Self {
        let mut total = 0.0;
        let sums = (0..mesh.triangles.len())
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                total += 0.5 * (b - a).cross(c - a).length();
                total
            })
            .collect();
        Self { mesh, sums }
    }

    /// Returns the total area [m²].
    pub fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// Draws the points `from..to` of `count`: uniform points and the normals of their triangles.
    fn draw(&self, from: u64, to: u64, count: u64, seed: u64, round: u64) -> impl Iterator<Item = (DVec3, DVec3)> {
        let share = self.total() / count as f64;
        let mut t = self.sums.partition_point(|&sum| sum <= from as f64 * share);
        let last = self.sums.len() - 1;
        (from..to).map(move |i| {
            let mut stream = Stream::new(seed, i * ROUNDS + round);
            // One point in each equal share of the area, in order, so that the triangle is found by a linear scan.
            let place = (i as f64 + stream.unit()) * share;
            while t < last && self.sums[t] <= place {
                t += 1;
            }
            let [a, b, c] = self.mesh.corners(t);
            let root = stream.unit().sqrt();
            let (u, v) = (1.0 - root, stream.unit() * root);
            let normal = (b - a).cross(c - a).normalize_or(DVec3::Z);
            (u * a + v * b + (1.0 - u - v) * c, normal)
        })
    }
}

struct Candidate {
    phase: u8,
    key: u64,
    number: u64,
    spot: Spot,
}

/// Result of [`poisson`].
pub(super) struct Poisson {
    pub spots: Vec<Spot>,
    /// A candidate ended in the middle of a thin part.
    pub thin: bool,
}

/// Draws samples at least `spacing` [m] apart on the level above the triangles.
///
/// Cells have the side `spacing`, not `spacing`/sqrt(3) with one sample each: two sides of a plate may share a cell.
pub(super) fn poisson(
    areas: &Areas,
    level: &Level,
    spacing: f64,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Poisson {
    let squares = areas.total() / (spacing * spacing);
    let count = ((CANDIDATES / std::f64::consts::PI * squares / ROUNDS as f64).ceil() as u64).max(MIN_CANDIDATES);
    let mut cells = Cells::new(spacing, (SATURATION * squares) as usize);
    let mut spots: Vec<Spot> = Vec::new();
    let mut thin = false;
    for round in 0..ROUNDS {
        let chunks = count.div_ceil(CHUNK);
        let mut drawn: Vec<Candidate> = (0..chunks)
            .into_par_iter()
            .flat_map_iter(|chunk| {
                let from = chunk * CHUNK;
                let to = (from + CHUNK).min(count);
                let (cells, spots) = (&cells, &spots);
                areas
                    .draw(from, to, count, seed, round)
                    .zip(from..)
                    .filter_map(move |((p, normal), number)| {
                        let spot = level.above(p, normal);
                        let key = cells.key(spot.position);
                        free(&spot, cells, spots, spacing).then_some(Candidate {
                            phase: phase(key),
                            key,
                            number,
                            spot,
                        })
                    })
            })
            .collect();
        thin |= drawn.iter().any(|c| c.spot.middle);
        drawn.par_sort_unstable_by_key(|c| (c.phase, c.key, c.number));
        for group in drawn.chunk_by(|a, b| a.phase == b.phase) {
            let own_cells: Vec<&[Candidate]> = group.chunk_by(|a, b| a.key == b.key).collect();
            let accepted: Vec<Spot> = own_cells
                .par_iter()
                .flat_map_iter(|own| {
                    let mut taken: Vec<Spot> = Vec::new();
                    for Candidate { spot, .. } in *own {
                        if taken.iter().all(|other| !conflict(spot, other, spacing))
                            && free(spot, &cells, &spots, spacing)
                        {
                            taken.push(*spot);
                        }
                    }
                    taken
                })
                .collect();
            accepted.iter().for_each(|spot| cells.insert(spot.position));
            spots.extend(accepted);
        }
        progress((round + 1) as f64 / ROUNDS as f64);
    }
    // Neighbors on the surface become neighbors in memory.
    let mut order: Vec<(u64, u32)> = spots.iter().zip(0..).map(|(s, i)| (cells.key(s.position), i)).collect();
    order.par_sort_unstable();
    Poisson {
        spots: order.iter().map(|&(_, i)| spots[i as usize]).collect(),
        thin,
    }
}

fn free(spot: &Spot, cells: &Cells, spots: &[Spot], spacing: f64) -> bool {
    let clash = |i: usize| {
        let far = cells.points[i].distance_squared(spot.position) >= spacing * spacing;
        if far || !conflict(spot, &spots[i], spacing) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    cells.near(spot.position, spacing, clash).is_continue()
}
