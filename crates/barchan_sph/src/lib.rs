//! Sand as a continuum of particles: smoothed particle hydrodynamics with friction ([Ihmsen13], with errors of the
//! paper corrected).
//!
//! The material resists compression only: a non-negative pressure keeps its density from exceeding that of settled
//! sand. Friction is a stress bounded by the pressure, so that slopes up to the angle of repose stand. `step` is the
//! list of stages, `laws` holds the equations, `cpu` the loops.
//!
//! Density is counted in volumes: a guide of mass m of a material of density ρ represents V = m/ρ, and the compression
//! of guide i is δ = Σ V W + λ, 1 in settled sand. λ is the part of the kernel that lies in walls. So materials of
//! different density share a boundary.

mod cpu;
mod forces;
mod frame;
mod laws;
mod rest;
mod settings;
mod spec;
mod step;

pub use frame::MAX_SUPPORT_RATIO;
pub use laws::drag::Air;
pub use laws::repose::STEEPEST;
pub use laws::stress::Yield;
pub use settings::{
    Correction, Gradients, Integration, Prediction, Pressure, Rest, STEP, SettingsError, SphSettings, WallShear, Walls,
};
pub use spec::SPEC;
pub use step::SphSolver;
