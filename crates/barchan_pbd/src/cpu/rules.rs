//! What every pass over contacts is told.

use crate::{FrictionMode, PbdSettings};

/// What a pass is told.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub friction: FrictionMode,
    /// Share of old impulses to start from [-], with the change of the time step in it.
    pub memory: f32,
    /// Factor on corrections [-].
    pub relaxation: f32,
    /// Whether inherited overlaps are left to the stabilisation.
    pub inherits: bool,
}

impl Rules {
    pub(crate) fn new(settings: &PbdSettings, step: f64, last_step: f64) -> Self {
        let remembers = settings.remembers();
        // An impulse in positions' terms goes with the square of the step.
        let scale = if last_step > 0.0 {
            (step / last_step).powi(2) as f32
        } else {
            0.0
        };
        Self {
            friction: settings.friction,
            memory: if remembers { scale } else { 0.0 },
            relaxation: settings.calm_relaxation(),
            inherits: remembers && settings.stabilisation > 0,
        }
    }
}

/// A pair counts as a contact up to this gap, of the sum of its radii [-]: passes may yet close it.
pub(crate) const SLACK: f32 = 0.02;
