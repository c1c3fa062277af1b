//! Bounds of physical quantities, shared by all tables of keys.
//!
//! They are wide enough for any granular scene, from dust of 0.1 µm to shapes as large as the Earth, and narrow enough for single precision.

use crate::field::Kind::{self, Between, Range, Vector};

/// Largest coordinate [m]: beyond it, millimeters are lost.
pub(crate) const FARTHEST: f64 = 1e9;
/// Smallest and largest length [m].
pub(crate) const LENGTHS: [f64; 2] = [1e-7, 1e9];
/// Smallest and largest radius of a particle [m].
pub(crate) const RADII: [f64; 2] = [1e-7, 1e6];
/// Latest time [s]: 116 days.
const LATEST: f64 = 1e7;

/// Radius of a particle [m].
pub(crate) const RADIUS: Kind = Between(RADII[0], RADII[1]);
/// Length [m].
pub(crate) const LENGTH: Kind = Between(LENGTHS[0], LENGTHS[1]);
/// Length [m], zero included.
pub(crate) const LENGTH_OR_ZERO: Kind = Between(0.0, LENGTHS[1]);
/// Side lengths [m].
pub(crate) const SIZE: Kind = Vector(LENGTHS[0], LENGTHS[1]);
/// Coordinate [m].
pub(crate) const COORDINATE: Kind = Between(-FARTHEST, FARTHEST);
/// Position [m].
pub(crate) const POSITION: Kind = Vector(-FARTHEST, FARTHEST);
/// Interval of a coordinate [m].
pub(crate) const INTERVAL: Kind = Range(-FARTHEST, FARTHEST);
/// Point in time [s].
pub(crate) const TIME: Kind = Between(-LATEST, LATEST);
/// Time span [s].
pub(crate) const SPAN: Kind = Between(1e-6, LATEST);
/// Time span [s], zero included.
pub(crate) const SPAN_OR_ZERO: Kind = Between(0.0, LATEST);
/// Time step [s].
pub(crate) const STEP: Kind = Between(1e-12, 1e3);
/// Velocity [m/s].
pub(crate) const VELOCITY: Kind = Vector(-1e5, 1e5);
/// Density [kg/m³].
pub(crate) const DENSITY: Kind = Between(1e-3, 1e5);
/// Coefficient of friction [-].
pub(crate) const FRICTION: Kind = Between(0.0, 1e3);
/// Young's modulus [Pa].
pub(crate) const MODULUS: Kind = Between(1.0, 1e13);
