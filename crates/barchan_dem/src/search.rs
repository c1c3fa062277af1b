//! Lists of what may touch, made anew only when something has moved too far for them.

use barchan_world::{AdvanceError, World};
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::cells::{Reaching, TooNarrow};
use crate::cpu::contacts::Known;
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
        self.searches += 1;
        self.look_ahead(world, step);
        let State {
            rows, old, grain_of, ..
        } = &mut self.state;
        let spheres = Reaching {
            rows: &rows[..rows.len().saturating_sub(1)],
            bridge: self.rules.bridge,
        };
        self.cells.build(spheres, self.rules.periods).map_err(refused)?;
        let known = Known {
            cells: &self.cells,
            spheres,
            past: self.past.as_ref(),
            old,
            grain_of,
            rules: &self.rules,
        };
        contacts::rebuild(&mut self.chunks, &known);
        // From here on pairs have the numbers of now.
        self.past = None;
        *old = Vec::new();
        let farthest = self.travels.iter().copied().fold(0.0, f64::max);
        self.body_margin = HASTE * HORIZON * farthest;
        self.body_travel = 0.0;
        let (margin, surfaces, bodies) = (self.body_margin, &self.surfaces, &self.bodies);
        let (rows, origin) = (&*rows, world.origin);
        self.chunks
            .par_iter_mut()
            .for_each(|chunk| near::find(chunk, rows, origin, margin, surfaces, bodies));
        self.state.ways.fill(0.0);
        self.travels.fill(0.0);
        Ok(())
    }

    /// How far each sphere may go until the next search.
    fn look_ahead(&mut self, world: &World, step: f64) {
        let count = self.state.spheres();
        let fall = 0.5 * world.gravity.length() * (HORIZON * step).powi(2);
        for row in &mut self.state.rows[..count] {
            let (way, radius) = (row.velocity().length() * step, row.radius());
            let wanted = HASTE * HORIZON * way + fall.min(0.1 * radius) + LEEWAY * radius;
            let most = (MOST_LEEWAY * radius).max(HASTE * LEAST * way);
            row.left = wanted.min(most) as f32;
        }
    }
}

fn refused(TooNarrow { axis, period, least }: TooNarrow) -> AdvanceError {
    let axis = ["x", "y", "z"][axis];
    AdvanceError::Scene {
        what: format!("axis {axis} closes upon itself after {period:.3e} m; spheres need {least:.3e} m"),
        advice: "widen the periodic range, or make guides smaller".to_owned(),
    }
}
