//! Sand, snow, elastic solids and water by the material point method: MLS-MPM with APIC transfers and quadratic
//! B-splines ([Hu18], [Jiang15]).
//!
//! Guides carry mass, velocity and strain. Each step spreads mass and momentum to a sparse grid, moves its nodes, keeps
//! them out of bodies, and brings velocities and their gradients back. `step` is the list of stages, `laws` holds the
//! equations, `cpu` the loops.
//!
//! All materials are isotropic, so that the left Cauchy-Green strain F Fᵀ - I is the whole elastic state: six numbers,
//! exact for small strains, and a symmetric eigenvalue problem in the place of a singular value decomposition.

mod cpu;
mod frame;
mod laws;
mod settings;
mod spec;
mod step;

pub use laws::Law;
pub use laws::elastic::Elastic;
pub use laws::sand::{Sand, Yield};
pub use laws::snow::Snow;
pub use laws::water::Water;
pub use settings::{MpmSettings, SettingsError};
pub use spec::SPEC;
pub use step::MpmSolver;
