//! Sand as a continuum of particles: smoothed particle hydrodynamics with friction ([Ihmsen13], with their errors corrected).
//!
//! Material resists compression and nothing else: its density may not exceed that of settled sand, and a pressure, never negative,
//! sees to it. Friction is a stress that the pressure bounds, so that slopes up to the angle of repose stand. `step` is the list of
//! stages, `laws` holds the equations, `cpu` the loops.
//!
//! Density is counted in volumes: a guide of mass m of a material of density ρ stands for V = m/ρ, and the compression of guide i is
//! δ = Σ V W + λ, 1 where sand lies settled. λ is what walls hold of the kernel. So materials of different density share a boundary.

mod cpu;
mod forces;
mod frame;
mod laws;
mod rest;
mod settings;
mod spec;
mod step;

pub use frame::WIDEST;
pub use laws::drag::Air;
pub use laws::repose::STEEPEST;
pub use laws::stress::Yield;
pub use settings::{Integration, Pressure, STEP, SettingsError, SphSettings, Walls};
pub use spec::SPEC;
pub use step::SphSolver;
