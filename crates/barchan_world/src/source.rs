//! Where guides come from and go to during a run.

use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::sample::Radii;
use glam::DVec3;

use crate::MaterialId;

/// A shape in which guides appear.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// Where, in the world.
    pub shape: Arc<dyn Shape>,
    /// What.
    pub material: MaterialId,
    /// How large.
    pub radii: Radii,
    /// How much [kg/s].
    pub rate: f64,
    /// How fast at first [m/s].
    pub velocity: DVec3,
    /// From when [s].
    pub start: f64,
    /// Until when [s].
    pub end: f64,
    /// Mass owed so far and not yet emitted [kg].
    pub owed: f64,
}

/// A shape in which guides vanish.
#[derive(Clone, Debug)]
pub struct Sink {
    /// Where, in the world.
    pub shape: Arc<dyn Shape>,
}
