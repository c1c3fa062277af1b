//! Contacts of spheres with bodies.

use barchan_world::Wrench;
use glam::{DMat3, DVec3};

use super::block::{Block, History};
use super::contacts::{Chunk, Kept};
use super::past::Wall;
use super::rows::{Push, Row};
use super::rules::Rules;
use super::simd::LANES;
use super::surface::{ContactSurface, Placed};
use crate::laws::effective;

/// Cosine above which two normals of a body, in two steps, are the same face [-].
const SAME_FACE_COSINE: f64 = 0.8;

/// A sphere that touches a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touch {
    /// Number of the sphere in its chunk.
    pub sphere: u32,
    pub body: u32,
    /// Outward normal of the body at the contact, in the world frame [-].
    pub normal: DVec3,
    /// Overlap [m].
    pub overlap: f64,
    pub history: History,
    pub rolled: History,
    /// Rates of the springs, if the integrator needs them.
    pub speeds: [History; 2],
    /// Share of the particle's mass that this contact stops [-]: a particle that lands on several spheres at once
    /// rebounds as one that lands on one of them.
    pub share: f64,
}

impl Touch {
    pub(crate) fn memory(&self) -> Wall {
        Wall {
            body: self.body,
            normal: self.normal.as_vec3().to_array(),
            history: self.history,
            rolled: self.rolled,
        }
    }

    pub(crate) fn of_memory(sphere: u32, wall: &Wall) -> Self {
        Self {
            sphere,
            body: wall.body,
            normal: glam::Vec3::from_array(wall.normal).as_dvec3(),
            overlap: 0.0,
            history: wall.history,
            rolled: wall.rolled,
            ..Self::default()
        }
    }
}

/// Inputs of contacts with bodies.
#[derive(Clone, Copy)]
pub(crate) struct Solids<'a> {
    pub origin: DVec3,
    pub surfaces: &'a [ContactSurface],
    pub bodies: &'a [Placed],
    /// Largest displacement of each body in this step [m].
    pub travels: &'a [f64],
    /// Particle of each sphere, if particles have several.
    pub particle_of: &'a [u32],
}

impl Chunk {
    /// Discards the state of contacts with bodies that is not in a checkpoint, so that an uninterrupted run continues like a resumed one.
    pub(crate) fn forget(&mut self) {
        for touch in &mut self.touches {
            *touch = Touch::of_memory(touch.sphere, &touch.memory());
        }
    }

    /// Finds which bodies its spheres touch. `ways` is how far each sphere of the chunk went in this step [m]. What is found in a try is
    /// kept apart.
    pub(crate) fn touch(&mut self, rows: &[Row], ways: &[f32], solids: &Solids<'_>, is_trial: bool) {
        if !is_trial {
            std::mem::swap(&mut self.touches, &mut self.old_touches);
        }
        let (mut touches, known) = match is_trial {
            true => (std::mem::take(&mut self.tries), &self.touches),
            false => (std::mem::take(&mut self.touches), &self.old_touches),
        };
        touches.clear();
        let mut before = 0;
        for near in &mut self.near {
            let (k, b) = (near.sphere as usize, near.body as usize);
            near.clear -= ways[k] + solids.travels[b] as f32;
            let row = &rows[self.start + k];
            if near.clear >= row.radius {
                continue;
            }
            while known.get(before).is_some_and(|old| old.sphere < near.sphere) {
                before += 1;
            }
            let old = &known[before..];
            let body = &solids.bodies[b];
            let local = body.at.local(solids.origin + row.place());
            let clear = solids.surfaces[b].touches(local, row.radius(), |normal, overlap| {
                let normal = body.at.pose.rotation * normal;
                let own = old.iter().take_while(|old| old.sphere == near.sphere);
                let same = own
                    .filter(|old| old.body == near.body)
                    .find(|old| old.normal.dot(normal) > SAME_FACE_COSINE);
                let old = same.copied().unwrap_or_default();
                touches.push(Touch {
                    sphere: near.sphere,
                    body: near.body,
                    normal,
                    overlap,
                    share: 1.0,
                    ..old
                });
            });
            near.clear = clear.min(f64::from(f32::MAX)) as f32 - 1e-6 * clear.abs() as f32;
        }
        self.share(&mut touches, solids.particle_of);
        match is_trial {
            true => self.tries = touches,
            false => self.touches = touches,
        }
    }

    /// Shares the mass of each particle among its contacts with one body that push the same way: 1/Σ (n·n')².
    fn share(&mut self, touches: &mut [Touch], particle_of: &[u32]) {
        let start = self.start;
        let particle = |touch: &Touch| {
            let sphere = start as u32 + touch.sphere;
            particle_of.get(sphere as usize).copied().unwrap_or(sphere)
        };
        for group in touches
            .chunk_by_mut(|a, b| particle(a) == particle(b))
            .filter(|g| g.len() > 1)
        {
            for touch in &*group {
                let n = touch.normal;
                self.crowds[touch.body as usize] += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
            }
            for touch in &mut *group {
                touch.share = 1.0
                    / touch
                        .normal
                        .dot(self.crowds[touch.body as usize] * touch.normal)
                        .max(1.0);
            }
            group
                .iter()
                .for_each(|touch| self.crowds[touch.body as usize] = DMat3::ZERO);
        }
    }

    /// Adds what bodies push its spheres by, and sums what those push back.
    #[inline(always)]
    pub(crate) fn push_walls(&mut self, rows: &[Row], pushes: &mut [Push], rules: &Rules, solids: &Solids<'_>) {
        self.loads.fill(Wrench::default());
        let touches = match rules.is_trial {
            true => &mut self.tries,
            false => &mut self.touches,
        };
        let mut block = Block::new();
        let mut arms = [DVec3::ZERO; LANES];
        for eight in touches.chunks_mut(LANES) {
            block.overlap = [0.0; LANES];
            for (l, touch) in eight.iter().enumerate() {
                let (row, body) = (
                    &rows[self.start + touch.sphere as usize],
                    &solids.bodies[touch.body as usize],
                );
                let normal = -touch.normal;
                arms[l] = normal * (row.radius() - 0.5 * touch.overlap);
                let place = solids.origin + row.place() + arms[l];
                let spin = row.spin();
                let velocity = row.velocity() + spin.cross(arms[l]) - body.velocity_at(place);
                let relative = spin - body.twist.angular;
                for axis in 0..3 {
                    block.normal[axis][l] = normal[axis];
                    block.velocity[axis][l] = velocity[axis];
                    block.spin[axis][l] = relative[axis];
                }
                block.overlap[l] = touch.overlap;
                let mass = match body.mass.is_finite() {
                    true => effective::reduced(row.mass(), body.mass),
                    false => row.mass(),
                };
                block.mass[l] = touch.share * mass;
                block.radius[l] = row.radius();
                let pairing = touch.body as usize * rules.materials + row.material as usize;
                block.pair(l, &rules.bodies[pairing]);
                block.recall(l, &touch.history);
                block.recall_rolling(l, &touch.rolled);
                if rules.is_adaptive {
                    block.run_ahead(l, rules.before, &touch.speeds);
                }
            }
            block.solve(rules);
            for (l, touch) in eight.iter_mut().enumerate() {
                touch.history = block.memory(l);
                touch.rolled = block.rolling_memory(l);
                if rules.is_adaptive {
                    touch.speeds = block.speeds(l);
                }
                let force = DVec3::new(block.force[0][l], block.force[1][l], block.force[2][l]);
                let moment = match rules.rolls {
                    true => DVec3::new(block.moment[0][l], block.moment[1][l], block.moment[2][l]),
                    false => DVec3::ZERO,
                };
                let (k, b) = (touch.sphere as usize, touch.body as usize);
                let row = &rows[self.start + k];
                if rules.keeps_contacts && block.acts(l) {
                    self.kept.push(Kept {
                        sphere: (self.start + k) as u32,
                        other: touch.body,
                        is_body: true,
                        point: (row.place() + arms[l]).to_array(),
                        normal: (-touch.normal).to_array(),
                        overlap: touch.overlap,
                        force: force.to_array(),
                    });
                }
                pushes[k].add(force.to_array(), (arms[l].cross(force) + moment).to_array());
                let arm = solids.origin + row.place() + arms[l] - solids.bodies[b].at.center;
                self.loads[b] += Wrench {
                    force: -force,
                    torque: -arm.cross(force) - moment,
                };
                self.deepest = self.deepest.max(touch.overlap / row.radius());
            }
        }
    }
}
