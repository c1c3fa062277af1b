//! Equations: no loops over guides, no storage, no threads.

pub(crate) mod cohesion;
pub(crate) mod kernel;
pub(crate) mod stress;
pub(crate) mod wall;
