//! Quality of grains: measures of the faults that the method's authors name.

mod airborne;
mod clumping;
mod field;
mod places;
mod quality;

pub use airborne::{Dispersal, Velocities, dispersal, edge_fano};
pub use clumping::{Clumping, clumping, nearest_distances, share_below};
pub use field::{MassError, mass_error};
pub use places::{Creep, Flow, creep, flow, inside_bodies, is_filled, sticking, strays};
pub use quality::Quality;
