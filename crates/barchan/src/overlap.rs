//! The deepest overlap of a state that no solver has stepped yet.

use std::ops::Range;

use barchan_geometry::clump::Clump;
use barchan_neighbors::{ContactRule, Grid, Lists};
use barchan_world::{Column, World};
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

/// Spheres that a thread deals with at a time, at least [-].
const PART: usize = 512;

/// A sphere of a guide.
#[derive(Clone, Copy)]
struct Sphere {
    /// In the world [m].
    place: DVec3,
    radius: f64,
    guide: usize,
}

/// Deepest overlap of two guides, of the mean of their radii, or of a guide and a body, of its radius [-]. The spheres of `clumps`, by ids of their guides,
/// are turned by the column `rotation` of `columns`. Guides of a continuum, which lie in each other, count at bodies only.
pub(crate) fn deepest(
    world: &World,
    clumps: &[(Range<u32>, Clump)],
    columns: &[(&'static str, Column)],
    is_continuum: bool,
) -> f32 {
    let spheres = spheres(world, clumps, columns);
    let pairs = if is_continuum {
        0.0
    } else {
        deepest_pair(world, &spheres).unwrap_or(0.0)
    };
    // What never moves may lie in bodies.
    let deepest = |sphere: &Sphere| match world.is_fixed(sphere.guide) {
        true => 0.0,
        false => depth_in_bodies(world, sphere),
    };
    let tasks = spheres.par_iter().with_min_len(PART);
    tasks.map(deepest).reduce(|| 0.0, f64::max).max(pairs) as f32
}

fn spheres(world: &World, clumps: &[(Range<u32>, Clump)], columns: &[(&'static str, Column)]) -> Vec<Sphere> {
    let turns = columns.iter().find_map(|(name, column)| match column {
        Column::Vec3(turns) if *name == "rotation" => Some(turns),
        _ => None,
    });
    let mut all = Vec::with_capacity(world.guides.len());
    for guide in 0..world.guides.len() {
        let (place, radius) = (world.place(guide), f64::from(world.guides.radius[guide]));
        let clump = clumps.iter().find(|(ids, _)| ids.contains(&world.guides.id[guide]));
        match (clump, turns.and_then(|turns| turns.get(guide))) {
            (Some((_, clump)), Some(turn)) => {
                let turn = DQuat::from_scaled_axis(turn.as_dvec3());
                all.extend(clump.members().iter().map(|member| Sphere {
                    place: place + turn * (radius * member.offset),
                    radius: radius * member.radius,
                    guide,
                }));
            }
            _ => all.push(Sphere { place, radius, guide }),
        }
    }
    all
}

/// Deepest overlap of two spheres of different guides, of the mean of their radii [-]; none where they cannot be searched.
fn deepest_pair(world: &World, spheres: &[Sphere]) -> Option<f64> {
    let local = |axis: usize| {
        let [low, high] = world.periodic[axis]?;
        Some((low - world.origin[axis]) as f32..(high - world.origin[axis]) as f32)
    };
    let mut grid = Grid::periodic([local(0), local(1), local(2)]).ok()?;
    let places: Vec<Vec3> = spheres.iter().map(|s| world.local(s.place)).collect();
    let radii: Vec<f32> = spheres.iter().map(|s| s.radius as f32).collect();
    let rule = ContactRule {
        scale: 1.0,
        margin: 0.0,
    };
    grid.build(&places, rule.largest_reach(&radii).ok()?).ok()?;
    let mut lists = Lists::new();
    lists.find_contacts(&grid, &radii, rule).ok()?;
    let deepest = |i: usize| {
        let own = &spheres[i];
        let others = lists.of(i).iter().map(|&j| &spheres[j as usize]);
        let overlap = |other: &Sphere| {
            let reach = own.radius + other.radius;
            2.0 * (reach - world.shortest_way(own.place - other.place).length()) / reach
        };
        others
            .filter(|other| other.guide != own.guide)
            .map(overlap)
            .fold(0.0, f64::max)
    };
    let tasks = (0..spheres.len()).into_par_iter().with_min_len(PART);
    Some(tasks.map(deepest).reduce(|| 0.0, f64::max))
}

/// Depth of a sphere in the bodies that are present, of its radius [-].
fn depth_in_bodies(world: &World, sphere: &Sphere) -> f64 {
    let present = world.bodies.iter().filter(|body| body.is_present(world.time));
    let depths = present.flat_map(|body| {
        let near = body.shape.bounds().grown(sphere.radius);
        world.shifts_of_body(body).flatten().filter_map(move |shift| {
            let place = body.pose.local(sphere.place - shift);
            near.contains(place)
                .then(|| (sphere.radius - body.shape.distance(place)) / sphere.radius)
        })
    });
    depths.fold(0.0, f64::max)
}
