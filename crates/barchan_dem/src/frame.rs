//! What happens once a frame.

use barchan_bodies::Dynamics;
use barchan_neighbors::Grid;
use barchan_world::{AdvanceError, AdvanceReport, Body, World, Wrench};
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::contacts::{self, Chunk};
use crate::cpu::levels::Near;
use crate::cpu::order;
use crate::cpu::rows::Row;
use crate::cpu::rules::Rules;
use crate::cpu::surface::{Placed, Surface};
use crate::state::{State, is_identity};

/// Cells of the curve that orders spheres, of the mean radius [-].
const CELL: f64 = 2.0;
/// An overlap above this, of a radius [-], is no contact any more.
const DEEPEST: f64 = 1.0;

impl DemSolver {
    /// Takes over the world, sorts spheres, and prepares what stays the same over a frame.
    pub(crate) fn begin_frame(&mut self, world: &mut World) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        match !self.settings.has_grains() {
            true => self.state.follow(world),
            false => self.state.follow_grains(world, &self.settings),
        }
        self.wrap(world);
        self.sort(world);
        let count = self.state.spheres();
        self.rules = Rules::new(&self.settings, world, &mut self.dampings);
        contacts::divide(&mut self.chunks, count, &self.state.first, world.bodies.len());
        self.past.restore_walls(&mut self.chunks, &self.state.old);
        self.make_grid(world)?;
        self.make_surfaces(world);
        self.know_bodies(world)?;
        self.loads.resize(world.bodies.len(), Wrench::default());
        self.given.clear();
        self.given.resize(world.bodies.len(), Wrench::default());
        self.searches = 0;
        Ok(())
    }

    fn sort(&mut self, world: &mut World) {
        let State { rows, grains, .. } = &self.state;
        let radii: f64 = world.guides.radius.iter().map(|&radius| f64::from(radius)).sum();
        let side = (CELL * radii / world.guides.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let keyed = &mut self.spare.keyed;
        match !self.settings.has_grains() {
            true => order::sort(rows[..world.guides.len()].par_iter().map(Row::place), side, keyed),
            false => order::sort(grains.par_iter().map(|grain| grain.position), side, keyed),
        }
        let order: Vec<u32> = keyed.iter().map(|k| k.1).collect();
        *keyed = Vec::new();
        if !is_identity(&order) {
            world.guides.gather(&order);
        }
        match !self.settings.has_grains() {
            true => self.state.gather(&order),
            false => self.state.gather_grains(&order, world, &self.settings.clumps),
        }
    }

    /// Brings spheres that left a periodic range back into it.
    fn wrap(&mut self, world: &World) {
        for axis in 0..3 {
            let Some([low, high]) = world.periodic[axis] else {
                continue;
            };
            let origin = world.origin[axis];
            let image = |x: &mut f64| {
                let place = *x + origin;
                if !(low..high).contains(&place) {
                    *x = low + (place - low).rem_euclid(high - low) - origin;
                }
            };
            let grains = self.state.grains.iter_mut();
            grains.for_each(|grain| image(&mut grain.position[axis]));
            if !self.settings.has_grains() {
                let rows = &mut self.state.rows[..world.guides.len()];
                rows.iter_mut().for_each(|row| image(&mut row.position[axis]));
            }
        }
    }

    fn make_grid(&mut self, world: &World) -> Result<(), AdvanceError> {
        let wanted = (world.periodic, world.origin);
        if self.periodic == Some(wanted) {
            return Ok(());
        }
        let local = |axis: usize| {
            let range = world.periodic[axis]?;
            let at = |x: f64| (x - world.origin[axis]) as f32;
            Some(at(range[0])..at(range[1]))
        };
        let ranges = [local(0), local(1), local(2)];
        Grid::periodic(ranges.clone()).map_err(crate::search::search_error)?;
        self.near = Near::new(|| Grid::periodic(ranges.clone()).expect("ranges that were good"));
        self.periodic = Some(wanted);
        Ok(())
    }

    /// Takes note of bodies that forces did not move so far.
    fn know_bodies(&mut self, world: &World) -> Result<(), AdvanceError> {
        let now = world.bodies.iter().map(Body::is_dynamic);
        if now.clone().eq(self.is_dynamic.iter().copied()) {
            return Ok(());
        }
        self.is_dynamic = now.collect();
        self.dynamics = Dynamics::new(world).map_err(|error| AdvanceError::Scene {
            what: error.to_string(),
            advice: "change the body".to_owned(),
        })?;
        Ok(())
    }

    fn make_surfaces(&mut self, world: &World) {
        let fits = self.surfaces.len() == world.bodies.len()
            && self.surfaces.iter().zip(&world.bodies).all(|(s, body)| s.is_of(body));
        if !fits {
            let rows = &self.state.rows;
            let largest = rows.iter().map(|row| row.radius).fold(0.0, f64::max);
            self.surfaces = world.bodies.iter().map(|body| Surface::new(body, largest)).collect();
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
        self.past.collect(&self.chunks);
        self.state.publish(world);
        self.spins.clear();
        let spin = |i: usize| self.state.spin(i, &self.settings.clumps).as_vec3();
        self.spins.extend((0..world.guides.len()).map(spin));
        self.turns.clear();
        self.turns.extend(
            self.state
                .grains
                .iter()
                .map(|grain| grain.rotation.to_scaled_axis().as_vec3()),
        );
        if world.guides.velocity.iter().any(|v| !v.is_finite()) {
            return Err(self.not_finite(world));
        }
        self.deepest = self.chunks.iter().map(|chunk| chunk.deepest).fold(0.0, f64::max);
        if self.deepest > DEEPEST {
            return Err(AdvanceError::Scene {
                what: format!(
                    "at {:.4} s grains overlap by {:.2} of a radius",
                    world.time, self.deepest
                ),
                advice: "raise `youngs_modulus` of the materials, or let the fill overlap less".to_owned(),
            });
        }
        for (body, given) in world.bodies.iter_mut().zip(&self.given) {
            body.wrench = *given * (1.0 / duration);
        }
        let pairs: usize = self.chunks.iter().map(Chunk::pairs).sum();
        let contacts = self.past.contacts();
        Ok(AdvanceReport {
            steps,
            max_overlap: self.deepest as f32,
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
