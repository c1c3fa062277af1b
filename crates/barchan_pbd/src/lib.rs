//! Position-based sand ([Sommer22], with what the paper left open).
//!
//! A step predicts where guides would go, then finds the impulses of contacts and friction that keep them apart and rubbing:
//! `step` is the list of stages, `laws` holds the equations, `cpu` the loops.
//!
//! Impulses are kept in positions' terms: an impulse of P [kg m] moves a guide of mass m by P/m in this step, a force of P/dt².

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
