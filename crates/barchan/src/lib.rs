//! Simulates granular material (sand, gravel, cereal, snow) in high resolution. This crate is the library's entry
//! point.
//!
//! Simulate a scene frame by frame:
//!
//! ```
//! use barchan::Simulation;
//! use barchan::scene::{Document, parse_scene};
//!
//! let text = r#"
//!     name = "drop"
//!     duration = 1.0
//!     [materials.sand]
//!     density = 1600
//!     [[fill]]
//!     material = "sand"
//!     radius = 0.01
//!     shape = { sphere = { radius = 0.05 } }
//! "#;
//! let (scene, _warnings) = parse_scene(&Document::new("drop", text))?;
//! let mut simulation = Simulation::new(&scene)?;
//! simulation.advance()?;
//! assert!(simulation.frame().stats.max_speed > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sample shapes and meshes with particles:
//!
//! ```
//! use barchan::sampling::{Fill, Solid, fill};
//!
//! let solid = Solid::open("{ sphere = { radius = 0.1 } }")?;
//! let sand = fill(&solid, &Fill::new(0.01)?, &|_| ())?;
//! assert!(sand.particles.len() > 400);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clumps;
mod coloring;
mod disk;
mod exporting;
pub mod fields;
mod forecast;
pub mod interact;
mod look;
mod names;
mod nearest;
mod overlap;
mod phase;
mod pool;
pub mod refining;
mod registry;
pub mod running;
pub mod sampling;
pub mod scene;
mod simulation;
mod stage;
pub mod surfacing;
mod trial;
mod wires;

pub use coloring::{Coloring, Span};
pub use disk::{cache_bytes, cache_bytes_per_frame, free_bytes, mesh_bytes};
pub use exporting::export;
pub use forecast::{Forecast, ForecastError, forecast, forecast_frames, mass_note};
pub use look::{FIT, Look, LookError, Show, Viewpoint, read_frame};
pub use names::file_name;
pub use phase::{BuildTimes, Phase, PhaseWatch};
pub use registry::{SOLVERS, SolverError, check_settings, doubts};
pub use simulation::{Record, Simulation, SimulationError};
pub use stage::{Stage, StageError};
pub use trial::try_start;

pub use {
    barchan_geometry as geometry, barchan_io as io, barchan_neighbors as neighbors, barchan_refine as refine,
    barchan_render as render, barchan_simd as simd, barchan_world as world,
};
