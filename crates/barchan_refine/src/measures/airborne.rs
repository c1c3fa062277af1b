//! Dispersal of grains in flight, and at edges.

use std::collections::BTreeMap;

use barchan_neighbors::Grid;
use barchan_world::{NEW_ROW, Renumbering, World};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::places::guide_grid;
use crate::grains::Grains;
use crate::laws::{REACH, bulk_weight, weight};

/// Deviation from the velocity gained in free fall up to which something falls freely, of that velocity [-].
const FALL_TOLERANCE: f32 = 0.2;
/// Distance at which pairs of grains are compared with those closer than a radius, and half the width of its shell, in radii of
/// a guide [-].
const PAIR_DISTANCE: f32 = 3.0;
const PAIR_WIDTH: f32 = 0.25;
/// Grains whose pairs are counted, at most.
const PAIR_SAMPLES: usize = 10_000;
/// Side of the cubes in which grains and guides are counted, in radii of a guide [-].
const CUBE: f32 = 2.0;
/// Filling by other guides below which a guide is at an edge [-].
const EDGE: f32 = 0.3;
/// Guides and grains that are needed to say anything.
const LEAST: usize = 20;

/// Velocities of guides and grains at a time: what falls freely afterwards is told by them.
#[derive(Clone, Debug)]
pub struct Velocities {
    guides: (Vec<u32>, Vec<Vec3>),
    grains: (Vec<u32>, Vec<Vec3>),
}

impl Velocities {
    /// Takes them from a state.
    pub fn of(world: &World, grains: &Grains) -> Self {
        Self {
            guides: (world.guides.id.clone(), world.guides.velocity.clone()),
            grains: (grains.id.clone(), rates(grains)),
        }
    }
}

/// Dispersal of grains in flight. Radii are those of the largest guide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersal {
    /// Guides and grains in flight.
    pub guides: usize,
    /// See `guides`.
    pub grains: usize,
    /// Share of the grains within two radii of the nearest guide in flight [-].
    pub near: f64,
    /// Pair correlation of grains closer than a radius, over that at three radii [-]; 1 where they are spread at random.
    pub pairs: f64,
    /// Fano factor (variance over mean) of the grains in cubes of two radii about the guides in flight, over that of the guides [-].
    pub fano: f64,
}

/// Measures the dispersal of grains in flight, by velocities `before` a time `duration` [s]. Guides in flight fall freely; grains in flight
/// have no other guide in reach, and one in flight in reach or fall freely. None if too few are in flight.
pub fn dispersal(world: &World, grains: &Grains, before: &Velocities, duration: f64) -> Option<Dispersal> {
    let fall = (world.gravity * duration).as_vec3();
    let guides = &world.guides;
    let guide_falls = falls(&guides.id, &guides.velocity, &before.guides, fall);
    let grain_falls = falls(&grains.id, &rates(grains), &before.grains, fall);
    let (grid, _) = guide_grid(world);
    // Distance of each grain in flight to the nearest guide in flight.
    let nearest = |i: usize| {
        let (mut nearest, mut is_grounded) = (f32::INFINITY, false);
        grid.near(grains.place(i), |j, squared| {
            let reach = REACH * guides.radius[j as usize];
            if squared < reach * reach {
                match guide_falls[j as usize] {
                    true => nearest = nearest.min(squared.sqrt()),
                    false => is_grounded = true,
                }
            }
        });
        (!is_grounded && (nearest.is_finite() || grain_falls[i])).then_some((grains.place(i), nearest))
    };
    let flying: Vec<(Vec3, f32)> = (0..grains.len()).into_par_iter().filter_map(nearest).collect();
    let leaders: Vec<Vec3> = (0..guides.len())
        .filter(|&i| guide_falls[i])
        .map(|i| guides.position[i])
        .collect();
    if leaders.len() < LEAST || flying.len() < LEAST {
        return None;
    }
    let radius = guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let places: Vec<Vec3> = flying.iter().map(|(place, _)| *place).collect();
    let near = flying.iter().filter(|(_, distance)| *distance < 2.0 * radius).count();
    Some(Dispersal {
        guides: leaders.len(),
        grains: places.len(),
        near: near as f64 / places.len() as f64,
        pairs: pair_ratio(&places, radius),
        fano: fano_ratio(&leaders, &leaders, &places, CUBE * radius),
    })
}

/// Measures the Fano factor of grains in cubes of two radii of a guide about guides at the edges of what they fill, over that of the guides
/// [-]. None if there are too few.
pub fn edge_fano(world: &World, grains: &Grains) -> Option<f64> {
    let (grid, _) = guide_grid(world);
    let guides = &world.guides;
    let most = EDGE * bulk_weight(barchan_world::SETTLED_FRACTION as f32);
    let is_edge = |i: &usize| {
        // It weighs 1 itself.
        let mut sum = -1.0;
        grid.near(guides.position[*i], |j, squared| {
            let reach = REACH * guides.radius[j as usize];
            sum += weight(squared, 1.0 / (reach * reach));
        });
        sum < most
    };
    let edges: Vec<Vec3> = (0..guides.len()).filter(is_edge).map(|i| guides.position[i]).collect();
    let radius = guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let places: Vec<Vec3> = (0..grains.len()).map(|i| grains.place(i)).collect();
    (edges.len() >= LEAST && places.len() >= LEAST)
        .then(|| fano_ratio(&edges, &guides.position, &places, CUBE * radius))
}

/// Returns true for those of `ids` that gained the velocity `fall` [m/s] since `before`.
fn falls(ids: &[u32], velocities: &[Vec3], before: &(Vec<u32>, Vec<Vec3>), fall: Vec3) -> Vec<bool> {
    let mut old = Vec::new();
    Renumbering::default().find(ids, &before.0, &mut old);
    let most = FALL_TOLERANCE * fall.length();
    let gained =
        |(velocity, &was): (&Vec3, &u32)| was != NEW_ROW && (*velocity - before.1[was as usize]).distance(fall) < most;
    velocities.iter().zip(&old).map(gained).collect()
}

fn rates(grains: &Grains) -> Vec<Vec3> {
    (0..grains.len()).map(|i| grains.rate(i)).collect()
}

/// Pairs closer than `radius` [m] per volume, over those at about three times that.
fn pair_ratio(places: &[Vec3], radius: f32) -> f64 {
    let (low, high) = (PAIR_DISTANCE - PAIR_WIDTH, PAIR_DISTANCE + PAIR_WIDTH);
    let mut grid = Grid::new();
    grid.build(places, high * radius).expect("grains are finite");
    let every = places.len().div_ceil(PAIR_SAMPLES);
    let counts: Vec<[u64; 2]> = (0..places.len())
        .into_par_iter()
        .step_by(every)
        .map(|i| {
            let mut counts = [0; 2];
            grid.near(places[i], |j, squared| {
                let distance = squared.sqrt() / radius;
                counts[0] += u64::from(distance < 1.0 && j as usize != i);
                counts[1] += u64::from((low..high).contains(&distance));
            });
            counts
        })
        .collect();
    let [close, far] = counts.iter().fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    let shell = f64::from(high.powi(3) - low.powi(3));
    close as f64 / (far.max(1) as f64 / shell)
}

/// Fano factor of `grains` over that of `guides` in the cubes of `side` [m] whose centers are within 1.5 sides of one of `about`.
fn fano_ratio(about: &[Vec3], guides: &[Vec3], grains: &[Vec3], side: f32) -> f64 {
    let cell = |p: Vec3| (p / side).floor().as_ivec3();
    let mut counts: BTreeMap<[i32; 3], [u32; 2]> = BTreeMap::new();
    for &p in about {
        for k in 0..125 {
            let cube = cell(p) + IVec3::new(k % 5, k / 5 % 5, k / 25) - 2;
            if ((cube.as_vec3() + 0.5) * side).distance(p) < 1.5 * side {
                counts.insert(cube.to_array(), [0, 0]);
            }
        }
    }
    for (kind, points) in [guides, grains].into_iter().enumerate() {
        for &p in points {
            if let Some(count) = counts.get_mut(&cell(p).to_array()) {
                count[kind] += 1;
            }
        }
    }
    let fano = |kind: usize| {
        let n = counts.len() as f64;
        let mean = counts.values().map(|c| f64::from(c[kind])).sum::<f64>() / n;
        let variance = counts
            .values()
            .map(|c| (f64::from(c[kind]) - mean).powi(2))
            .sum::<f64>()
            / n;
        variance / mean
    };
    fano(1) / fano(0)
}
