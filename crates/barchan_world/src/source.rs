//! Emitters and sinks of guides during a run.

use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::sample::Radii;
use glam::DVec3;

use crate::MaterialId;

/// A shape in which guides appear.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// Shape, in the world.
    pub shape: Arc<dyn Shape>,
    /// Material of the guides.
    pub material: MaterialId,
    /// Radii of the guides.
    pub radii: Radii,
    /// Mass flow rate [kg/s].
    pub rate: f64,
    /// Initial velocity [m/s].
    pub velocity: DVec3,
    /// Start time [s].
    pub start: f64,
    /// End time [s].
    pub end: f64,
    /// Mass owed so far and not yet emitted [kg].
    pub owed: f64,
}

/// A shape in which guides vanish.
#[derive(Clone, Debug)]
pub struct Sink {
    /// Shape, in the world.
    pub shape: Arc<dyn Shape>,
}
