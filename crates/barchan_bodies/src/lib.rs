//! Rigid-body dynamics for every solver, on rapier: impulses in, poses and velocities out.
//!
//! [`Dynamics`] is the one place where rigid motion is integrated. A solver asks where a body would go
//! ([`free_motion`]), how easily it gives way ([`Mobility`]), sums what its guides push, and calls [`Dynamics::step`].
//!
//! Lengths are meters, masses kilograms, times seconds, angles radians. Everything is `f64` and in the world's frame, so
//! that a body a kilometer from the origin moves as it would at it.

mod collider;
mod cover;
mod dynamics;
mod error;
mod friction;
mod joint;
mod loads;
mod matching;
mod mobility;
mod motion;
mod snapshot;
mod step;
mod tree;

pub use cover::ParticleBoundary;
pub use dynamics::Dynamics;
pub use error::BodiesError;
pub use loads::{Impulses, sum_loads};
pub use matching::{fit, matched_motion, rotation_of};
pub use mobility::Mobility;
pub use motion::{carried, carried_at, free_motion, twist_between};
pub use step::{BodyStep, place_seen, pose_after, seen_count, seen_numbers};
