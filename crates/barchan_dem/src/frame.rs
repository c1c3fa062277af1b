//! Work once per frame.

use barchan_neighbors::{Curve, is_along_curve};
use barchan_world::{AdvanceError, AdvanceReport, Spare, World};
use glam::DVec3;
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::contacts::{self, Chunk, Pairs};
use crate::cpu::past::Past;
use crate::cpu::rows::Row;
use crate::cpu::rules::Rules;
use crate::cpu::surface::{ContactSurface, Placed};
use crate::state::State;

/// Cells of the curve that orders spheres, of the mean radius [-].
const CELL: f64 = 2.0;
/// Overlap above which a contact is meaningless, as a fraction of a radius [-].
pub(crate) const MAX_OVERLAP: f64 = 1.0;

impl DemSolver {
    /// Takes over the world, sorts spheres, and prepares what stays the same over a frame.
    pub(crate) fn begin_frame(&mut self, world: &mut World) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        self.first_turns = Vec::new();
        match !self.settings.has_particles() {
            true => self.state.follow(world),
            false => self.state.follow_particles(world, &self.settings),
        }
        self.wrap(world);
        self.sort(world);
        if !self.state.old.is_empty() && self.past.is_none() {
            let past = self.past.insert(Past::default());
            for chunk in &mut self.chunks {
                past.add(chunk);
                chunk.pairs = Pairs::default();
            }
        }
        let count = self.state.spheres();
        self.rules = Rules::new(&self.settings, world, &mut self.dampings);
        contacts::divide(&mut self.chunks, count, &self.state.first, world.bodies.len());
        match &self.past {
            Some(past) => past.restore_walls(&mut self.chunks, &self.state.old),
            None => self.chunks.iter_mut().for_each(Chunk::forget),
        }
        self.make_surfaces(world);
        self.impulses.begin_frame(world);
        self.searches = 0;
        Ok(())
    }

    fn sort(&mut self, world: &mut World) {
        let State { rows, particles, .. } = &self.state;
        let radii: f64 = world.guides.radius.iter().map(|&radius| f64::from(radius)).sum();
        let side = (CELL * radii / world.guides.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let (is_new, has_particles) = (!self.state.old.is_empty(), self.settings.has_particles());
        let order = match has_particles {
            false => new_order(rows[..world.guides.len()].par_iter().map(Row::place), side, is_new),
            true => new_order(particles.par_iter().map(|particle| particle.position), side, is_new),
        };
        if let Some(order) = &order {
            world.guides.gather(order, &mut Spare::default());
        }
        match has_particles {
            false => self.state.gather(order.as_deref()),
            true => self
                .state
                .gather_particles(order.as_deref(), world, &self.settings.clumps),
        }
    }

    /// Brings spheres that left a periodic range back into it. Decided by the rounded positions that the world has, so that measures of
    /// displacements count the same periods.
    fn wrap(&mut self, world: &World) {
        if world.periodic.iter().all(Option::is_none) {
            return;
        }
        for i in 0..world.guides.len() {
            let shift = world.shift_into_ranges(world.place(i));
            match self.state.particles.get_mut(i) {
                Some(particle) => particle.position += shift,
                None => {
                    let row = &mut self.state.rows[i];
                    row.position = (row.place() + shift).to_array();
                }
            }
        }
    }

    fn make_surfaces(&mut self, world: &World) {
        let fits = self.surfaces.len() == world.bodies.len()
            && self.surfaces.iter().zip(&world.bodies).all(|(s, body)| s.is_of(body));
        if !fits {
            let rows = &self.state.rows;
            let largest = rows.iter().map(Row::radius).fold(0.0, f64::max);
            self.surfaces = world
                .bodies
                .iter()
                .map(|body| ContactSurface::new(body, largest))
                .collect();
        }
        self.extents.clear();
        let surfaces = self.surfaces.iter().zip(&world.bodies);
        self.extents.extend(surfaces.map(|(s, body)| {
            let extent = s.extent(body.mass_properties.center);
            // Of a body without end only what spheres can see moves.
            if extent.is_finite() {
                extent
            } else {
                self.state.reach(world.origin, body.center())
            }
        }));
        self.bodies.clear();
        self.bodies
            .extend((0..world.bodies.len()).map(|k| Placed::new(world, k, world.time)));
    }

    /// Leaves the world as it is at the end of the frame, and says how it went.
    pub(crate) fn end_frame(
        &mut self,
        world: &mut World,
        duration: f64,
        steps: u32,
    ) -> Result<AdvanceReport, AdvanceError> {
        self.clock.enter("report");
        self.state.publish(world);
        if world.guides.velocity.iter().any(|v| !v.is_finite()) {
            return Err(self.not_finite(world));
        }
        self.deepest = self.chunks.iter().map(|chunk| chunk.deepest).fold(0.0, f64::max);
        let deepest = self.chunks.iter().map(|chunk| chunk.deepest_yet).fold(0.0, f64::max);
        if deepest > MAX_OVERLAP {
            return Err(AdvanceError::Scene {
                what: format!(
                    "in the frame up to {:.4} s grains overlap each other or a body by {deepest:.2} of a radius",
                    world.time
                ),
                advice: "raise `youngs_modulus` of the materials, and let no fill, and no body that appears, overlap what is there"
                    .to_owned(),
            });
        }
        self.impulses.end_frame(world, duration);
        let pairs: usize = self.chunks.iter().map(Chunk::candidates).sum();
        let remembered = |chunk: &Chunk| chunk.pairs.remembered(chunk.start).count();
        let contacts: usize = self.chunks.iter().map(remembered).sum();
        Ok(AdvanceReport {
            steps,
            max_overlap: deepest as f32,
            extras: vec![
                ("searches", f64::from(self.searches)),
                ("pairs", pairs as f64),
                ("contacts", contacts as f64),
            ],
            stages: self.clock.take(),
        })
    }

    /// The error of a state that is not finite.
    pub(crate) fn not_finite(&self, world: &World) -> AdvanceError {
        let is_broken = |&i: &usize| {
            let (place, velocity) = self.state.guide(i);
            !place.is_finite() || !velocity.is_finite()
        };
        let guide = (0..self.state.ids.len()).find(is_broken).unwrap_or_default();
        AdvanceError::Unstable {
            time: world.time,
            guide: self.state.ids.get(guide).copied().unwrap_or_default(),
            what: "has no finite position or velocity".to_owned(),
            advice: "shorten `step` or raise `steps_per_contact`".to_owned(),
        }
    }
}

/// The order of the curve through `places` [m] with cells of `side` [m]; nothing where what there is will do. A new one is always put in order.
fn new_order(places: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64, is_new: bool) -> Option<Vec<u32>> {
    let count = places.len();
    if !is_new && is_along_curve(places.clone(), side) {
        return None;
    }
    let order = Curve::default().sort(places, side).to_vec();
    let is_same = (0..count as u32).eq(order.iter().copied());
    (!is_same).then_some(order)
}
