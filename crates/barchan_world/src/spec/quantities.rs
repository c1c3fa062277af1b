//! Bounds of physical quantities, shared by all tables of keys.
//!
//! They are wide enough for any granular scene, from dust of 0.1 µm to shapes as large as the Earth, and narrow enough for single precision.

use super::table::Kind::{self, Between, Range, Vector};

/// Largest coordinate [m]: beyond it, millimeters are lost.
pub const FARTHEST: f64 = 1e9;
/// Smallest and largest length [m].
pub const LENGTHS: [f64; 2] = [1e-7, 1e9];
/// Smallest and largest radius of a particle [m].
pub const RADII: [f64; 2] = [1e-7, 1e6];
/// Latest time [s]: 116 days.
const LATEST: f64 = 1e7;

/// Radius of a particle [m].
pub const RADIUS: Kind = Between(RADII[0], RADII[1]);
/// Length [m].
pub const LENGTH: Kind = Between(LENGTHS[0], LENGTHS[1]);
/// Length [m], zero included.
pub const LENGTH_OR_ZERO: Kind = Between(0.0, LENGTHS[1]);
/// Side lengths [m].
pub const SIZE: Kind = Vector(LENGTHS[0], LENGTHS[1]);
/// Coordinate [m].
pub const COORDINATE: Kind = Between(-FARTHEST, FARTHEST);
/// Position [m].
pub const POSITION: Kind = Vector(-FARTHEST, FARTHEST);
/// Interval of a coordinate [m].
pub const INTERVAL: Kind = Range(-FARTHEST, FARTHEST);
/// Point in time [s].
pub const TIME: Kind = Between(-LATEST, LATEST);
/// Time span [s].
pub const SPAN: Kind = Between(1e-6, LATEST);
/// Time span [s], zero included.
pub const SPAN_OR_ZERO: Kind = Between(0.0, LATEST);
/// Time step [s].
pub const STEP: Kind = Between(1e-12, 1e3);
/// Velocity [m/s].
pub const VELOCITY: Kind = Vector(-1e5, 1e5);
/// Density [kg/m³].
pub const DENSITY: Kind = Between(1e-3, 1e5);
/// Coefficient of friction [-].
pub const FRICTION: Kind = Between(0.0, 1e3);
/// Young's modulus [Pa].
pub const MODULUS: Kind = Between(1.0, 1e13);
