//! Guides in free flight, which let their grains go.
//!
//! Interpolated velocities hold grains together: around a lone guide they all have its velocity, and fly as a ball. A guide
//! that falls freely has nothing to say about its grains but that they fall, too. So they keep their own velocities, which
//! they took from the guides around them while these were neighbors, and a fluctuation by the granular temperature there.

use barchan_neighbors::Grid;
use barchan_world::{Archive, ArchiveError, World};
use glam::Vec3;
use rayon::prelude::*;

use crate::field::Mover;
use crate::laws::{COMPANY, REACH, agitation, bulk_weight, fall_share, gate, sharp, weight};

/// Guides of a task [-], at least.
const TASK: usize = 1024;

/// Finds guides in free flight, frame by frame.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    /// Velocity in the last frame [m/s], by the guides' ids; no number for guides that are new.
    velocities: Vec<Vec3>,
    /// Share of their own velocity that grains of the guide keep [-], by id.
    free: Vec<f32>,
    grid: Grid,
    /// Share of free fall of each guide, in the world's order [-].
    falling: Vec<f32>,
}

/// Guides around one.
#[derive(Default)]
struct Company {
    /// Their weights over those of settled material [-].
    filling: f32,
    /// Their velocity fluctuation along an axis [m/s].
    agitation: f32,
    /// Velocity of the guide less the mean velocity of its grains [m/s].
    lack: Vec3,
}

/// Points about a guide that stand for its grains, in its radii from its center [-].
const SPOTS: [Vec3; 7] = [
    Vec3::ZERO,
    Vec3::new(SPOT, 0.0, 0.0),
    Vec3::new(-SPOT, 0.0, 0.0),
    Vec3::new(0.0, SPOT, 0.0),
    Vec3::new(0.0, -SPOT, 0.0),
    Vec3::new(0.0, 0.0, SPOT),
    Vec3::new(0.0, 0.0, -SPOT),
];
const SPOT: f32 = 0.8;

impl Flights {
    /// Lets the grains of those `movers` go that fall freely, over a frame of `duration` [s] in `steps`. Guides have `velocities`
    /// [m/s]; all are in the world's order.
    pub fn advance(&mut self, world: &World, velocities: &[Vec3], duration: f64, steps: f32, movers: &mut [Mover]) {
        let known = world.next_id as usize;
        self.velocities.resize(known, Vec3::NAN);
        self.free.resize(known, 0.0);
        let (gravity, rate) = (world.gravity.as_vec3(), (1.0 / duration) as f32);
        let (before, free) = (&self.velocities, &self.free);
        let ids = &world.guides.id;
        let falling = |(velocity, &id): (&Vec3, &u32)| fall_share((*velocity - before[id as usize]) * rate, gravity);
        let guides = velocities.par_iter().zip(ids).with_min_len(TASK);
        guides.map(falling).collect_into_vec(&mut self.falling);
        let falling = &self.falling;
        if falling.iter().any(|share| *share > 0.0) {
            let largest = world.guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            self.grid
                .build(&world.guides.position, REACH * largest)
                .expect("guides are finite");
            let grid = &self.grid;
            let lets_go = |(i, mover): (usize, &mut Mover)| {
                if falling[i] > 0.0 {
                    let company = Company::of(grid, world, velocities, i);
                    let before = free[ids[i] as usize];
                    let now = falling[i] * gate(company.filling, COMPANY);
                    let share = (now - before).max(0.0) / steps;
                    mover.let_go(now, share * company.agitation, share * company.lack);
                }
            };
            movers.par_iter_mut().enumerate().with_min_len(TASK).for_each(lets_go);
        }
        for ((&id, velocity), mover) in ids.iter().zip(velocities).zip(movers) {
            self.velocities[id as usize] = *velocity;
            self.free[id as usize] = mover.free();
        }
    }

    pub fn save(&self, archive: &mut Archive) {
        archive.put("grains.guide_velocities", &self.velocities);
        archive.put("grains.free", &self.free);
    }

    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        self.velocities = archive.get("grains.guide_velocities")?;
        self.free = archive.get_fit("grains.free", |share: &f32| (0.0..=1.0).contains(share))?;
        Ok(())
    }
}

impl Company {
    /// The guides around guide `i`, weighted as by a grain at its center.
    fn of(grid: &Grid, world: &World, velocities: &[Vec3], i: usize) -> Self {
        let (mut sum, mut momentum, mut squared) = (0.0, Vec3::ZERO, 0.0);
        let mut spots = [(0.0, Vec3::ZERO); SPOTS.len()];
        let (place, radius) = (world.guides.position[i], world.guides.radius[i]);
        grid.near(place, |j, distance| {
            let j = j as usize;
            let reach = REACH * world.guides.radius[j];
            let w = weight(distance, 1.0 / (reach * reach));
            sum += w;
            let relative = velocities[j] - velocities[i];
            momentum += w * relative;
            squared += w * relative.length_squared();
            for ((shares, pull), spot) in spots.iter_mut().zip(SPOTS) {
                let distance = world.guides.position[j].distance_squared(place + radius * spot);
                let share = sharp(weight(distance, 1.0 / (reach * reach)));
                *shares += share;
                *pull += share * relative;
            }
        });
        // The guide itself is in reach of each.
        let field: Vec3 = spots.iter().map(|(shares, pull)| *pull / *shares).sum();
        Self {
            // It is one of them itself, and weighs 1.
            filling: (sum - 1.0) / bulk_weight(barchan_world::SETTLED_FRACTION as f32),
            agitation: agitation(sum, momentum, squared),
            lack: -field / SPOTS.len() as f32,
        }
    }
}
