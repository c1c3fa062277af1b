//! Bodies as guides see them: the world's own, then their images through periodic faces.

use barchan_geometry::Aabb;
use barchan_world::{Friction, World, Wrench};
use glam::Vec3;
use rayon::prelude::*;

use super::bodies::{BodyStep, Load, extent};
use super::rules::SLACK;
use super::surface::ContactSurface;
use super::{CHUNK, images};
use crate::laws::mass;

/// Bodies during a step, and what guides give them.
#[derive(Debug, Default)]
pub(crate) struct SeenBodies {
    pub steps: Vec<BodyStep>,
    pub surfaces: Vec<ContactSurface>,
    /// Friction of each material on each body, a row per body.
    pub friction: Vec<Friction>,
    /// Largest displacement of each body in this step [m].
    pub travels: Vec<f32>,
    /// Reach of each of the world's bodies from its center of mass [m].
    pub extents: Vec<f64>,
    /// Impulses and moments of guides on each [kg m, kg m²].
    loads: Vec<Load>,
    /// Impulses on the world's bodies in the last step [N s], and their sums over the frame.
    impulses: Vec<Wrench>,
    sums: Vec<Wrench>,
}

impl SeenBodies {
    /// Prepares bodies for a frame with guides of at most `largest` [m] radius. Returns whether they are others than before.
    pub(crate) fn begin_frame(&mut self, world: &World, largest: f32) -> bool {
        let largest = f64::from(largest);
        let of_bodies = self.surfaces.iter().zip(&world.bodies);
        let fits = self.surfaces.len() == images::count(world) && { of_bodies }.all(|(s, body)| s.is_of(body, largest));
        if !fits {
            let surfaces = world.bodies.iter();
            let surfaces = surfaces.map(|body| ContactSurface::new(body, largest, 2.0 * f64::from(SLACK)));
            self.surfaces = surfaces.collect();
            let images = images::numbers(world).skip(world.bodies.len());
            let images: Vec<ContactSurface> = images.map(|k| self.surfaces[k].clone()).collect();
            self.surfaces.extend(images);
        }
        let guides = guide_bounds(world);
        let extents = self.surfaces.iter().zip(&world.bodies);
        self.extents.clear();
        self.extents.extend(extents.map(|(s, body)| extent(s, body, guides)));
        self.friction.clear();
        for k in images::numbers(world) {
            self.friction.extend(world.materials.frictions_on(k, &world.bodies[k]));
        }
        self.sums.clear();
        self.sums.resize(world.bodies.len(), Wrench::default());
        !fits
    }

    /// Places bodies and images for the next `step` [s]; in pieces of that volume [m³], if guides meet those.
    pub(crate) fn place(&mut self, world: &World, step: f64, pieces: Option<f64>) {
        images::place(&mut self.steps, world, step, pieces);
        let travel = |body: &BodyStep| {
            let k = body.of as usize;
            body.travel(world.bodies[k].mass_properties.center, self.extents[k]) as f32
        };
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
        self.loads.clear();
        self.loads.resize(self.steps.len(), Load::default());
        for chunk in chunks {
            for (sum, load) in self.loads.iter_mut().zip(chunk) {
                sum.add(load);
            }
        }
        let own = self.extents.len();
        images::gather(&mut self.loads, &self.steps, own);
        for (body, load) in self.steps[..own].iter_mut().zip(&self.loads) {
            body.share(mass::shared_by(load.contacts as f32, relaxation));
            body.give(load);
        }
        images::follow(&mut self.steps, own);
    }

    /// Impulses on the world's bodies in a step of `step` [s]: what guides got, with the other sign [N s, N m s].
    pub(crate) fn impulses(&mut self, step: f64) -> &[Wrench] {
        self.impulses.clear();
        let own = self.loads.iter().take(self.extents.len());
        self.impulses.extend(own.map(|load| load.sum * (-1.0 / step)));
        for (sum, impulse) in self.sums.iter_mut().zip(&self.impulses) {
            *sum += *impulse;
        }
        &self.impulses
    }

    /// Leaves the mean force and torque of guides over a frame of `duration` [s] with the world's bodies [N, N m].
    pub(crate) fn end_frame(&self, world: &mut World, duration: f64) {
        for (body, sum) in world.bodies.iter_mut().zip(&self.sums) {
            body.wrench = *sum * (1.0 / duration);
        }
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
