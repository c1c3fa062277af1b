//! Positions of grains: inside bodies, creep at rest, and flow.

use barchan_neighbors::Grid;
use barchan_world::{NEW_ROW, Renumbering, World};
use glam::Vec3;
use rayon::prelude::*;

use crate::grains::Grains;
use crate::laws::{REACH, bulk_weight, weight};

/// Displacements of grains between two times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Creep {
    /// Share of the grains that moved farther than the limit [-].
    pub moved: f64,
    /// Mean displacement [m].
    pub mean: f64,
    /// Longest displacement [m].
    pub longest: f64,
}

/// Compares two states of the same grains. Grains in only one of them are ignored. `limit` [m] is the allowed
/// displacement of a grain at rest.
pub fn creep(before: &Grains, after: &Grains, limit: f64) -> Creep {
    let mut old = Vec::new();
    Renumbering::default().find(&after.id, &before.id, &mut old);
    let ways: Vec<f64> = (0..after.len())
        .filter(|&i| old[i] != NEW_ROW)
        .map(|i| f64::from(before.place(old[i] as usize).distance(after.place(i))))
        .collect();
    let n = ways.len().max(1) as f64;
    Creep {
        moved: ways.iter().filter(|way| **way > limit).count() as f64 / n,
        mean: ways.iter().sum::<f64>() / n,
        longest: ways.iter().copied().fold(0.0, f64::max),
    }
}

/// Returns the share of the grains whose centers are deeper than `depth` [m] inside a body of `world` [-].
pub fn inside_bodies(world: &World, grains: &Grains, depth: f64) -> f64 {
    let present: Vec<_> = world.bodies.iter().filter(|b| b.is_present(world.time)).collect();
    let inside = (0..grains.len()).into_par_iter().filter(|&i| {
        let place = world.origin + grains.place(i).as_dvec3();
        present.iter().any(|body| {
            let local = body.pose.local(place);
            body.shape.bounds().contains(local) && body.shape.distance(local) < -depth
        })
    });
    inside.count() as f64 / grains.len().max(1) as f64
}

/// Returns the share of the grains that are farther than three radii from every guide without being in free flight [-]:
/// those whose velocity `before` a time `duration` [s] did not grow by that of free fall, to a fifth.
pub fn strays(world: &World, grains: &Grains, before: &Grains, duration: f64) -> f64 {
    let (grid, _) = guide_grid(world);
    let mut old = Vec::new();
    Renumbering::default().find(&grains.id, &before.id, &mut old);
    let fall = (world.gravity * duration).as_vec3();
    let lost = (0..grains.len()).into_par_iter().filter(|&i| {
        let mut near = false;
        grid.near(grains.place(i), |j, squared| {
            let reach = REACH * world.guides.radius[j as usize];
            near |= squared < reach * reach;
        });
        let was = old[i];
        let flies = was != NEW_ROW && {
            let gained = grains.rate(i) - before.rate(was as usize);
            gained.distance(fall) < 0.2 * fall.length()
        };
        !near && !flies
    });
    lost.count() as f64 / grains.len().max(1) as f64
}

/// Returns the share of the grains that stick to moving bodies [-]: they touch a moving part of one from the side or
/// below, move with it, faster than a crawl, and no guide is in reach. Grains that lie in a bucket do not stick.
pub fn sticking(world: &World, grains: &Grains, radius: f64) -> f64 {
    let (grid, _) = guide_grid(world);
    let up = -world.gravity.normalize_or_zero();
    let moving: Vec<_> = world.bodies.iter().filter(|b| b.is_present(world.time)).collect();
    let stuck = (0..grains.len()).into_par_iter().filter(|&i| {
        let place = world.origin + grains.place(i).as_dvec3();
        let rate = grains.rate(i).as_dvec3();
        let sticks = moving.iter().any(|body| {
            let local = body.pose.local(place);
            let of_body = body.velocity_at(place);
            of_body.length() > CRAWL
                && (rate - of_body).length() < 0.2 * of_body.length()
                && body.shape.bounds().grown(2.0 * radius).contains(local)
                && body.shape.distance(local) < 1.5 * radius
                && (body.pose.rotation * body.shape.normal(local)).dot(up) < 0.1
        });
        let mut guided = false;
        if sticks {
            grid.near(grains.place(i), |j, squared| {
                let reach = REACH * world.guides.radius[j as usize];
                guided |= squared < reach * reach;
            });
        }
        sticks && !guided
    });
    stuck.count() as f64 / grains.len().max(1) as f64
}

/// Speed of a body from which on what goes with it sticks [m/s].
const CRAWL: f64 = 0.1;

pub(super) fn guide_grid(world: &World) -> (Grid, f32) {
    let reach = REACH * world.guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let mut grid = Grid::new();
    grid.build(&world.guides.position, reach).expect("guides are finite");
    (grid, reach)
}

/// Returns a test for positions at which the sum of the guides' weights is at least `filling` of that in settled
/// material. Positions are relative to the world's origin [m].
pub fn is_filled(world: &World, filling: f32) -> impl Fn(Vec3) -> bool + Sync {
    let (grid, _) = guide_grid(world);
    let least = filling * bulk_weight(barchan_world::SETTLED_FRACTION as f32);
    move |p| {
        let mut sum = 0.0;
        grid.near(p, |j, squared| {
            let reach = REACH * world.guides.radius[j as usize];
            sum += weight(squared, 1.0 / (reach * reach));
        });
        sum >= least
    }
}

/// Flow through a horizontal plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Share of the guides' mass below the plane [-].
    pub guides: f64,
    /// Share of the grains below the plane [-].
    pub grains: f64,
}

/// Returns the shares of guides and grains below the height `z` [m].
pub fn flow(world: &World, grains: &Grains, z: f64) -> Flow {
    let level = z - world.origin.z;
    let (mut below, mut all) = (0.0, 0.0);
    for i in 0..world.guides.len() {
        let mass = f64::from(world.guides.mass[i]);
        all += mass;
        below += if f64::from(world.guides.position[i].z) < level {
            mass
        } else {
            0.0
        };
    }
    let fallen = grains.position[2].iter().filter(|z| f64::from(**z) < level).count();
    Flow {
        guides: below / all,
        grains: fallen as f64 / grains.len().max(1) as f64,
    }
}
