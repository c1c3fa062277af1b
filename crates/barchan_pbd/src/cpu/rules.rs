//! Parameters of every pass over contacts.

use crate::{FrictionMode, PbdSettings};

/// Parameters of a pass.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub friction: FrictionMode,
    /// True if contacts start from the impulses of the previous step.
    pub remembers: bool,
    /// Factor on corrections [-].
    pub relaxation: f32,
    /// Share of an inherited overlap [-] that impulses leave to the stabilization in this step.
    pub left: f32,
}

impl Rules {
    /// Rules for a step that undoes the share `recovery` [-] of inherited overlaps.
    pub(crate) fn new(settings: &PbdSettings, recovery: f32) -> Self {
        let remembers = settings.remembers();
        Self {
            friction: settings.friction,
            remembers,
            relaxation: settings.calm_relaxation(),
            left: match remembers && settings.stabilization > 0 {
                true => 1.0 - recovery,
                false => 0.0,
            },
        }
    }
}

/// A pair counts as a contact up to this gap, of the sum of its radii [-]: passes may yet close it.
pub(crate) const SLACK: f32 = 0.02;
