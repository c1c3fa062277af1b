//! Particles from shapes: volume and surface sampling.

pub mod surface;
