//! Bodies as guides see them: the world's own, then their images through periodic faces.

use barchan_bodies::{Dynamics, Impulses, place_seen, seen_count, seen_numbers, sum_loads};
use barchan_geometry::Aabb;
use barchan_world::{AdvanceError, Friction, World};
use glam::Vec3;
use rayon::prelude::*;

use super::CHUNK;
use super::bodies::{Load, PushedBody, extent};
use super::rules::SLACK;
use super::surface::ContactSurface;
use crate::laws::mass;

/// Bodies during a step, and what guides give them.
#[derive(Debug, Default)]
pub(crate) struct SeenBodies {
    pub steps: Vec<PushedBody>,
    pub surfaces: Vec<ContactSurface>,
    /// Friction of each material on each body, a row per body.
    pub friction: Vec<Friction>,
    /// Largest displacement of each body in this step [m].
    pub travels: Vec<f32>,
    /// Reach of each of the world's bodies from its center of mass [m].
    pub extents: Vec<f64>,
    /// Impulses and moments of guides on each [kg m, kg m²].
    loads: Vec<Load>,
    impulses: Impulses,
}

impl SeenBodies {
    /// Prepares bodies for a frame with guides of at most `largest` [m] radius. Returns whether they are others than before.
    pub(crate) fn begin_frame(&mut self, world: &World, largest: f32) -> bool {
        let largest = f64::from(largest);
        let of_bodies = self.surfaces.iter().zip(&world.bodies);
        let fits = self.surfaces.len() == seen_count(world) && { of_bodies }.all(|(s, body)| s.is_of(body, largest));
        if !fits {
            let surfaces = world.bodies.iter();
            let surfaces = surfaces.map(|body| ContactSurface::new(body, largest, 2.0 * f64::from(SLACK)));
            self.surfaces = surfaces.collect();
            let images = seen_numbers(world).skip(world.bodies.len());
            let images: Vec<ContactSurface> = images.map(|k| self.surfaces[k].clone()).collect();
            self.surfaces.extend(images);
        }
        let guides = guide_bounds(world);
        let extents = self.surfaces.iter().zip(&world.bodies);
        self.extents.clear();
        self.extents.extend(extents.map(|(s, body)| extent(s, body, guides)));
        self.friction.clear();
        for k in seen_numbers(world) {
            self.friction.extend(world.materials.frictions_on(k, &world.bodies[k]));
        }
        self.impulses.begin_frame(world);
        !fits
    }

    /// Places bodies and images for the next `step` [s]; in pieces of that volume [m³], if guides meet those.
    pub(crate) fn place(&mut self, world: &World, step: f64, pieces: Option<f64>) {
        let own = |k: usize| {
            let body = PushedBody::new(world, k, step);
            pieces.map_or(body, |volume| body.in_pieces(volume, world.bodies[k].density))
        };
        place_seen(&mut self.steps, world, own, PushedBody::seen);
        let travel = |body: &PushedBody| body.step.travel(self.extents[body.step.of as usize]) as f32;
        self.travels.clear();
        self.travels.extend(self.steps.iter().map(travel));
    }

    /// Farthest that any body goes in this step [m].
    pub(crate) fn farthest(&self) -> f32 {
        self.travels.iter().copied().fold(0.0, f32::max)
    }

    /// Checks whether guides can push any body.
    pub(crate) fn has_dynamic(&self) -> bool {
        self.steps.iter().any(|body| body.is_dynamic)
    }

    /// Sums the loads of all chunks, in their order, and moves dynamic bodies by them.
    pub(crate) fn give(&mut self, chunks: &[Vec<Load>], relaxation: f32) {
        sum_loads(&mut self.loads, self.steps.len(), chunks.iter().map(Vec::as_slice));
        let (own, images) = self.steps.split_at_mut(self.extents.len());
        let (loads, of_images) = self.loads.split_at_mut(own.len());
        for (image, load) in images.iter().zip(of_images) {
            loads[image.step.of as usize] += std::mem::take(load);
        }
        for (body, load) in own.iter_mut().zip(loads) {
            body.share(mass::shared_by(load.contacts as f32, relaxation));
            body.give(load);
        }
        for image in images {
            let PushedBody {
                contacts, shift, turn, ..
            } = own[image.step.of as usize];
            (image.contacts, image.shift, image.turn) = (contacts, shift, turn);
        }
    }

    /// Moves the world's bodies by `step` [s]: as prescribed, or by gravity and the impulses of guides, which are those on guides with the
    /// other sign.
    pub(crate) fn advance(
        &mut self,
        dynamics: &mut Dynamics,
        world: &mut World,
        step: f64,
    ) -> Result<(), AdvanceError> {
        self.impulses.add(self.loads.iter().map(|load| load.sum), -1.0 / step);
        self.impulses.step(dynamics, world, step)
    }

    /// Sets the mean force and torque of guides on bodies over a frame of `duration` [s].
    pub(crate) fn end_frame(&self, world: &mut World, duration: f64) {
        self.impulses.end_frame(world, duration);
    }
}

/// Bounds of all guides [m].
fn guide_bounds(world: &World) -> Aabb {
    let around = |a: [Vec3; 2], b: [Vec3; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let chunks = world.guides.position.par_chunks(CHUNK);
    let [low, high] = chunks
        .map(|chunk| chunk.iter().fold([Vec3::MAX, Vec3::MIN], |all, &p| around(all, [p; 2])))
        .reduce(|| [Vec3::MAX, Vec3::MIN], around);
    Aabb::new(world.origin + low.as_dvec3(), world.origin + high.as_dvec3())
}
