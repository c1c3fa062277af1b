//! Contact search, repeated only once something has moved too far for the lists.

use barchan_world::{AdvanceError, World};
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::cells::{Reaching, TooNarrow};
use crate::cpu::contacts::Known;
use crate::cpu::{contacts, near};
use crate::state::State;

/// Number of steps that lists should last if spheres keep their velocities [-].
const LIST_STEPS: f64 = 25.0;
/// Largest increase of a sphere's speed between searches [-].
const MAX_SPEEDUP: f64 = 1.2;
/// Skin of a sphere at rest, and the largest of a fast one, as a fraction of its radius [-].
const SKIN: f64 = 0.02;
const MAX_SKIN: f64 = 0.5;
/// Fewest steps that lists last, however fast a sphere is [-].
const MIN_STEPS: f64 = 3.0;

impl DemSolver {
    /// Searches pairs and near bodies again, for the next steps of `step` [s].
    pub(crate) fn search(&mut self, world: &World, step: f64) -> Result<(), AdvanceError> {
        self.searches += 1;
        self.look_ahead(world, step);
        let State {
            rows, old, particle_of, ..
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
            particle_of,
            rules: &self.rules,
        };
        contacts::rebuild(&mut self.chunks, &known);
        // From here on pairs have the numbers of now.
        self.past = None;
        *old = Vec::new();
        let farthest = self.travels.iter().copied().fold(0.0, f64::max);
        self.body_margin = MAX_SPEEDUP * LIST_STEPS * farthest;
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

    /// Computes the distance that each sphere may move until the next search.
    fn look_ahead(&mut self, world: &World, step: f64) {
        let count = self.state.spheres();
        let fall = 0.5 * world.gravity.length() * (LIST_STEPS * step).powi(2);
        for row in &mut self.state.rows[..count] {
            let (way, radius) = (row.velocity().length() * step, row.radius());
            let wanted = MAX_SPEEDUP * LIST_STEPS * way + fall.min(0.1 * radius) + SKIN * radius;
            let most = (MAX_SKIN * radius).max(MAX_SPEEDUP * MIN_STEPS * way);
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
