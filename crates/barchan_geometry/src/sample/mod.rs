//! Particles from shapes: volume and surface sampling.
