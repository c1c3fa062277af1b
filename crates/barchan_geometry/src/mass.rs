//! Volume, centre and inertia of solids.

use glam::{DMat3, DVec3};

/// Mass properties of a solid of density 1 kg/m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume [m³].
    pub volume: f64,
    /// Centre of mass [m].
    pub center: DVec3,
    /// Inertia about the centre of mass, per density [m⁵].
    pub inertia: DMat3,
}
