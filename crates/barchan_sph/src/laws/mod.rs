//! Equations: no loops over guides, no storage, no threads.

pub(crate) mod cohesion;
pub(crate) mod discrete;
pub(crate) mod drag;
pub(crate) mod kernel;
pub(crate) mod moisture;
pub(crate) mod prototype;
pub(crate) mod repose;
pub(crate) mod rest;
pub(crate) mod shear;
pub(crate) mod stress;
pub(crate) mod viscosity;
pub(crate) mod volume;
pub(crate) mod wall;
