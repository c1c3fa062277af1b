//! Discrete elements: every guide is a sphere or a clump of spheres with contact forces ([Bell05], with the details
//! that the paper leaves open).
//!
//! `step` is the list of stages, `laws` holds the equations, `cpu` the loops. State is kept in double precision, since
//! overlaps are a thousandth of a radius; the world gets it rounded.

mod adaptive;
mod clumped;
mod cpu;
mod frame;
mod laws;
mod plan;
mod search;
mod settings;
mod spec;
mod state;
mod step;

pub use barchan_geometry::clump::{Clump, ClumpError, Member};
pub use laws::repose::STEEPEST;
pub use settings::{Contact, DemSettings, Integrator, NormalLaw, SettingsError, ShearLaw};
pub use spec::SPEC;
pub use step::{DemSolver, Sphere};
