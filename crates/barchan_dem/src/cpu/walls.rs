//! Contacts of spheres with bodies.

use barchan_world::Wrench;
use glam::DVec3;

use super::block::{Block, History};
use super::contacts::Chunk;
use super::past::Wall;
use super::rows::{Push, Row};
use super::rules::Rules;
use super::simd::LANES;
use super::surface::{Placed, Surface};
use crate::laws::effective;

/// Cosine above which two normals of a body, in two steps, are the same face [-].
const SAME_FACE: f64 = 0.8;

/// A sphere that touches a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touch {
    /// Number of the sphere in its chunk.
    pub sphere: u32,
    pub body: u32,
    /// Outward normal of the body there, in the world [-].
    pub normal: DVec3,
    /// [m].
    pub overlap: f64,
    pub history: History,
    pub rolled: History,
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
        }
    }
}

/// What contacts with bodies see.
#[derive(Clone, Copy)]
pub(crate) struct Solids<'a> {
    pub origin: DVec3,
    pub surfaces: &'a [Surface],
    pub bodies: &'a [Placed],
    /// How far each body went in this step at most [m].
    pub travels: &'a [f64],
}

impl Chunk {
    /// Finds which bodies its spheres touch. `ways` is how far each sphere of the chunk went in this step [m].
    pub(crate) fn touch(&mut self, rows: &[Row], ways: &[f32], solids: &Solids<'_>) {
        std::mem::swap(&mut self.touches, &mut self.old_touches);
        self.touches.clear();
        let mut before = 0;
        for near in &mut self.near {
            let (k, b) = (near.sphere as usize, near.body as usize);
            near.clear -= ways[k] + solids.travels[b] as f32;
            let row = &rows[self.start + k];
            if f64::from(near.clear) >= row.radius {
                continue;
            }
            while self.old_touches.get(before).is_some_and(|old| old.sphere < near.sphere) {
                before += 1;
            }
            let old = &self.old_touches[before..];
            let body = &solids.bodies[b];
            let local = body.local(solids.origin + row.place());
            let touches = &mut self.touches;
            let clear = solids.surfaces[b].touches(local, row.radius, |normal, overlap| {
                let normal = body.turned(normal);
                let own = old.iter().take_while(|old| old.sphere == near.sphere);
                let same = own
                    .filter(|old| old.body == near.body)
                    .find(|old| old.normal.dot(normal) > SAME_FACE);
                touches.push(Touch {
                    sphere: near.sphere,
                    body: near.body,
                    normal,
                    overlap,
                    history: same.map_or([0.0; 4], |old| old.history),
                    rolled: same.map_or([0.0; 4], |old| old.rolled),
                });
            });
            near.clear = clear.min(f64::from(f32::MAX)) as f32 - 1e-6 * clear.abs() as f32;
        }
    }

    /// Adds what bodies push its spheres by, and sums what those push back.
    #[inline(always)]
    pub(crate) fn push_walls(&mut self, rows: &[Row], pushes: &mut [Push], rules: &Rules, solids: &Solids<'_>) {
        self.loads.fill(Wrench::default());
        let mut block = Block::new();
        let mut arms = [DVec3::ZERO; LANES];
        for eight in self.touches.chunks_mut(LANES) {
            block.overlap = [0.0; LANES];
            for (l, touch) in eight.iter().enumerate() {
                let (row, body) = (
                    &rows[self.start + touch.sphere as usize],
                    &solids.bodies[touch.body as usize],
                );
                let normal = -touch.normal;
                arms[l] = normal * (row.radius - 0.5 * touch.overlap);
                let place = solids.origin + row.place() + arms[l];
                let spin = DVec3::from_array(row.spin);
                let velocity = DVec3::from_array(row.velocity) + spin.cross(arms[l]) - body.velocity_at(place);
                let relative = spin - body.twist.angular;
                for axis in 0..3 {
                    block.normal[axis][l] = normal[axis];
                    block.velocity[axis][l] = velocity[axis];
                    block.spin[axis][l] = relative[axis];
                }
                block.overlap[l] = touch.overlap;
                block.mass[l] = match body.mass.is_finite() {
                    true => effective::reduced(row.mass, body.mass),
                    false => row.mass,
                };
                block.radius[l] = row.radius;
                let pairing = touch.body as usize * rules.materials + row.material as usize;
                block.pair(l, &rules.bodies[pairing]);
                block.recall(l, &touch.history);
                block.recall_rolling(l, &touch.rolled);
            }
            block.solve(rules);
            for (l, touch) in eight.iter_mut().enumerate() {
                touch.history = block.memory(l);
                touch.rolled = block.rolling_memory(l);
                let force = DVec3::new(block.force[0][l], block.force[1][l], block.force[2][l]);
                let moment = match rules.rolls {
                    true => DVec3::new(block.moment[0][l], block.moment[1][l], block.moment[2][l]),
                    false => DVec3::ZERO,
                };
                let (k, b) = (touch.sphere as usize, touch.body as usize);
                let row = &rows[self.start + k];
                pushes[k].add(force.to_array(), (arms[l].cross(force) + moment).to_array());
                let arm = solids.origin + row.place() + arms[l] - solids.bodies[b].center;
                self.loads[b] += Wrench {
                    force: -force,
                    torque: -arm.cross(force) - moment,
                };
                self.deepest = self.deepest.max(touch.overlap / row.radius);
            }
        }
    }
}
