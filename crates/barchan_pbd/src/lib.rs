//! Position-based sand ([Sommer22], with the details that the paper leaves open).
//!
//! A step predicts the positions of guides, then computes the impulses of contacts and friction: `step` is the list of
//! stages, `laws` holds the equations, `cpu` the loops.
//!
//! Impulses are in units of displacements: an impulse of P [kg m] moves a guide of mass m by P/m in this step, a force
//! of P/dt².

mod cpu;
mod frame;
mod laws;
mod rest;
mod settings;
mod spec;
mod step;

pub use laws::repose::STEEPEST;
pub use settings::{FrictionMode, PbdSettings, Rigid, STEP, SettingsError, Splitting, natural_step};
pub use spec::SPEC;
pub use step::PbdSolver;
