//! Lists of what may touch, made anew only when something has moved too far for them.

use barchan_world::{AdvanceError, World};
use glam::DVec3;
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::{contacts, near};
use crate::state::State;

/// Steps that lists should last if spheres go on as they do [-].
const HORIZON: f64 = 25.0;
/// What a sphere may speed up by meanwhile [-].
const HASTE: f64 = 1.2;
/// Leeway of a sphere at rest, and the most of a fast one, of its radius [-].
const LEEWAY: f64 = 0.02;
const MOST_LEEWAY: f64 = 0.5;
/// Steps that lists last at least, however fast a sphere is [-].
const LEAST: f64 = 3.0;

impl DemSolver {
    /// Finds pairs and near bodies anew, for the next steps of `step` [s].
    pub(crate) fn search(&mut self, world: &World, step: f64) -> Result<(), AdvanceError> {
        // The first search of a frame goes on from what was remembered at its start.
        if self.searches > 0 {
            self.past.collect(&self.chunks);
            let count = self.state.spheres() as u32;
            self.state.old.clear();
            self.state.old.extend(0..count);
        }
        self.searches += 1;
        self.look_ahead(world, step);
        let State {
            rows,
            left,
            old,
            grain_of,
            ..
        } = &mut self.state;
        let count = left.len();
        let spare = &mut self.spare;
        spare.positions.clear();
        spare
            .positions
            .extend(rows[..count].iter().map(|row| row.place().as_vec3()));
        let far = spare
            .positions
            .iter()
            .map(|p| p.abs().max_element())
            .fold(0.0, f32::max);
        // Places are rounded to single precision here.
        let rounding = 4.0 * f32::EPSILON * far;
        spare.reaches.clear();
        // Bridges are at most as long: the reduced radius is a quarter of the sum of both at most.
        let long = (1.0 + 0.25 * self.rules.bridge) as f32;
        let reach =
            |(row, left): (&crate::cpu::rows::Row, &f32)| (long * row.radius as f32 + left) * (1.0 + 1e-6) + rounding;
        spare.reaches.extend(rows.iter().zip(&*left).map(reach));
        self.near.find(&spare.positions, &spare.reaches).map_err(search_error)?;
        contacts::rebuild(&mut self.chunks, &self.near, &self.past, old, grain_of, &self.rules);
        let farthest = self.travels.iter().copied().fold(0.0, f64::max);
        self.body_margin = HASTE * HORIZON * farthest;
        self.body_travel = 0.0;
        let (margin, surfaces, bodies) = (self.body_margin, &self.surfaces, &self.bodies);
        let (rows, left, origin) = (&*rows, &*left, world.origin);
        self.chunks
            .par_iter_mut()
            .for_each(|chunk| near::find(chunk, rows, origin, left, margin, surfaces, bodies));
        self.state.ways.fill(0.0);
        self.travels.fill(0.0);
        Ok(())
    }

    /// How far each sphere may go until the next search.
    fn look_ahead(&mut self, world: &World, step: f64) {
        let State { rows, left, .. } = &mut self.state;
        let fall = 0.5 * world.gravity.length() * (HORIZON * step).powi(2);
        for (row, left) in rows.iter().zip(left) {
            let way = DVec3::from_array(row.velocity).length() * step;
            let wanted = HASTE * HORIZON * way + fall.min(0.1 * row.radius) + LEEWAY * row.radius;
            let most = (MOST_LEEWAY * row.radius).max(HASTE * LEAST * way);
            *left = wanted.min(most) as f32;
        }
    }
}

pub(crate) fn search_error(error: barchan_neighbors::Error) -> AdvanceError {
    AdvanceError::Scene {
        what: format!("guides cannot be searched: {error}"),
        advice: "check periodic ranges, radii and positions".to_owned(),
    }
}
