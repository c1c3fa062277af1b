//! Grains that follow guides: seeding, advection, quality measures. Independent of the solver.
//!
//! A [`GrainRefiner`] holds the grains of a world and moves them with its guides, frame by frame. Each grain takes the
//! weighted velocity of the guides within three of their radii; in regions of sparse guides it keeps a share of its own
//! velocity and falls [Ihmsen13] [Sommer22]. Grains do not interact: a step is one pass over memory.

mod advect;
mod boundary;
mod clearance;
mod cloud;
mod contact;
mod domain;
mod even;
mod field;
mod flight;
mod grains;
pub mod laws;
pub mod measures;
mod order;
mod periodic;
mod play;
mod refiner;
mod repel;
mod seed;
mod separate;
mod settings;
mod terms;
mod touch;

pub use barchan_simd::Level;
pub use grains::{Grains, radius_of};
pub use refiner::{GrainRefiner, RefineError};
pub use seed::Source;
pub use settings::{Mode, RefineSettings, Seeding};
