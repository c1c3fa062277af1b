//! The solver and its settings.

use barchan_world::spec::{PRESET, Settings, SolverSpec};

use super::Check;
use crate::fields::Fields;
use crate::tables::SOLVER_KIND;

/// Most steps per frame that a setting may ask for [-].
const MOST_STEPS: f64 = 1e6;

/// Key of the longest step, for solvers and grains.
const STEP: &str = "step";

impl Check<'_, '_> {
    /// The solver, and its settings: those that are given, then those of a preset, then the defaults.
    pub(super) fn solver(&self) -> (&'static SolverSpec, Settings) {
        let choice = self.fields.table("solver");
        let chosen = choice.and_then(|choice| self.reader.solver(choice.text(SOLVER_KIND)?));
        // A wrong name was noted.
        let solver = chosen.unwrap_or(self.reader.solvers()[0]);
        let Some(table) = choice.and_then(|choice| choice.settings_of(solver)) else {
            return (solver, solver.defaults());
        };
        let mut settings = table.settings();
        if let Some(preset) = settings.word(PRESET).and_then(|name| solver.preset(name)) {
            for (key, value) in preset.settings {
                if !is_given(table, key) {
                    settings.set(key, value.clone());
                }
            }
        }
        self.steps(table);
        (solver, settings)
    }

    /// Notes a `step` of `table` that cuts a frame into more parts than are worth waiting for.
    pub(super) fn steps(&self, table: &Fields) {
        if table.spec.field(STEP).is_none() {
            return;
        }
        let (Some(span), Some(step), Some(rate)) = (
            table.written(STEP),
            table.number(STEP),
            self.fields.number("frame_rate"),
        ) else {
            return;
        };
        let steps = 1.0 / (rate * step);
        if steps > MOST_STEPS {
            let message = format!("a step of {step} s makes {steps:.3e} steps per frame; allowed are {MOST_STEPS:e}");
            self.error(span, message, "lengthen it, or raise `frame_rate`");
        }
    }
}

/// Returns whether `table` sets `key`, or one that says the same in another way.
fn is_given(table: &Fields, key: &str) -> bool {
    let pairs = table.spec.exclusive.iter().filter(|pair| pair.contains(&key));
    let mut keys = pairs.flatten().copied().chain([key]);
    keys.any(|key| table.written(key).is_some())
}
