//! barchan simulates granular material (sand, gravel, grain, snow) in high resolution; this crate is what a library user
//! depends on.
//!
//! What works today: shapes and meshes become particles.
//!
//! ```
//! use barchan::sampling::{Fill, Solid, fill};
//!
//! let solid = Solid::open("{ sphere = { radius = 0.1 } }")?;
//! let sand = fill(&solid, &Fill::new(0.01)?, &|_| ())?;
//! assert!(sand.particles.len() > 400);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod look;
mod registry;
pub mod running;
pub mod sampling;
mod simulation;

pub use look::{LookError, look};
pub use registry::SolverError;
pub use simulation::{Simulation, SimulationError};

pub use {
    barchan_geometry as geometry, barchan_io as io, barchan_neighbors as neighbors, barchan_render as render,
    barchan_scene as scene, barchan_world as world,
};
