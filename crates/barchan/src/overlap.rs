//! Deepest overlap of a state before its first step.

use std::ops::Range;

use barchan_geometry::clump::Clump;
use barchan_neighbors::{ContactRule, Grid, Lists};
use barchan_world::{Column, World};
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

/// Minimum number of spheres per task [-].
const MIN_TASK: usize = 512;

/// A sphere of a guide.
#[derive(Clone, Copy)]
struct Sphere {
    /// Position in the world [m].
    position: DVec3,
    radius: f64,
    guide: usize,
}

/// Returns the deepest overlap of two guides relative to the mean of their radii, or of a guide and a body relative to
/// its radius [-]. The spheres of `clumps`, by ids of their guides, are rotated by the column `rotation` of `columns`.
/// Guides of a continuum overlap by design and count at bodies only.
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
    // Fixed guides may lie in bodies.
    let deepest = |sphere: &Sphere| match world.is_fixed(sphere.guide) {
        true => 0.0,
        false => depth_in_bodies(world, sphere),
    };
    let tasks = spheres.par_iter().with_min_len(MIN_TASK);
    tasks.map(deepest).reduce(|| 0.0, f64::max).max(pairs) as f32
}

fn spheres(world: &World, clumps: &[(Range<u32>, Clump)], columns: &[(&'static str, Column)]) -> Vec<Sphere> {
    let turns = columns.iter().find_map(|(name, column)| match column {
        Column::Vec3(turns) if *name == "rotation" => Some(turns),
        _ => None,
    });
    let mut all = Vec::with_capacity(world.guides.len());
    for guide in 0..world.guides.len() {
        let (position, radius) = (world.place(guide), f64::from(world.guides.radius[guide]));
        let clump = clumps.iter().find(|(ids, _)| ids.contains(&world.guides.id[guide]));
        match (clump, turns.and_then(|turns| turns.get(guide))) {
            (Some((_, clump)), Some(turn)) => {
                let turn = DQuat::from_scaled_axis(turn.as_dvec3());
                all.extend(clump.members().iter().map(|member| Sphere {
                    position: position + turn * (radius * member.offset),
                    radius: radius * member.radius,
                    guide,
                }));
            }
            _ => all.push(Sphere {
                position,
                radius,
                guide,
            }),
        }
    }
    all
}

/// Returns the deepest overlap of two spheres of different guides relative to the mean of their radii [-]; `None` if
/// they cannot be searched.
fn deepest_pair(world: &World, spheres: &[Sphere]) -> Option<f64> {
    let local = |axis: usize| {
        let [low, high] = world.periodic[axis]?;
        Some((low - world.origin[axis]) as f32..(high - world.origin[axis]) as f32)
    };
    let mut grid = Grid::periodic([local(0), local(1), local(2)]).ok()?;
    let positions: Vec<Vec3> = spheres.iter().map(|s| world.local(s.position)).collect();
    let radii: Vec<f32> = spheres.iter().map(|s| s.radius as f32).collect();
    let rule = ContactRule {
        scale: 1.0,
        margin: 0.0,
    };
    grid.build(&positions, rule.largest_reach(&radii).ok()?).ok()?;
    let mut lists = Lists::new();
    lists.find_contacts(&grid, &radii, rule).ok()?;
    let deepest = |i: usize| {
        let own = &spheres[i];
        let others = lists.of(i).iter().map(|&j| &spheres[j as usize]);
        let overlap = |other: &Sphere| {
            let reach = own.radius + other.radius;
            2.0 * (reach - world.shortest_way(own.position - other.position).length()) / reach
        };
        others
            .filter(|other| other.guide != own.guide)
            .map(overlap)
            .fold(0.0, f64::max)
    };
    let tasks = (0..spheres.len()).into_par_iter().with_min_len(MIN_TASK);
    Some(tasks.map(deepest).reduce(|| 0.0, f64::max))
}

/// Returns the depth of a sphere in the present bodies relative to its radius [-].
fn depth_in_bodies(world: &World, sphere: &Sphere) -> f64 {
    let present = world.bodies.iter().filter(|body| body.is_present(world.time));
    let depths = present.flat_map(|body| {
        let near = body.shape.bounds().grown(sphere.radius);
        world.shifts_of_body(body).flatten().filter_map(move |shift| {
            let position = body.pose.local(sphere.position - shift);
            near.contains(position)
                .then(|| (sphere.radius - body.shape.distance(position)) / sphere.radius)
        })
    });
    depths.fold(0.0, f64::max)
}
