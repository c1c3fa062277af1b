//! Equations as pure functions.

pub(crate) mod contact;
pub(crate) mod eigen;
pub mod elastic;
pub(crate) mod flow;
pub mod sand;
pub mod snow;
pub(crate) mod spline;
pub(crate) mod strain;
pub mod water;

use barchan_simd::Real;

pub use elastic::Elastic;
pub use sand::Sand;
pub use snow::Snow;
pub use water::Water;

/// Constitutive law of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Elastic up to a frictional yield criterion.
    Sand(Sand),
    /// Elastic between a critical compression and a critical stretch, hardened by compaction.
    Snow(Snow),
    /// Elastic at any strain.
    Elastic(Elastic),
    /// Pressure only.
    Water(Water),
}

/// Elastic strain in principal axes, and what plastic flow leaves behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Principal<T> {
    /// Eigenvalues of F Fᵀ - I [-], elastic part.
    pub strain: [T; 3],
    /// Plastic state [-]: the logarithm of the volume that sand and water have gained beyond settled material, and J_P - 1 of
    /// snow. 0 in new material.
    pub plastic: T,
}

/// State after the return to the yield surface, and the principal Kirchhoff stress τ [Pa].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Returned<T> {
    pub state: Principal<T>,
    pub stress: [T; 3],
}

/// Surroundings of a guide that laws depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<T> {
    /// Rate of shear √2 ‖dev ½(∇v + ∇vᵀ)‖ [1/s].
    pub shear_rate: T,
    /// Largest logarithm of the gained volume [-], by the mass around the guide.
    pub most_gain: T,
}

impl Law {
    /// Returns a trial state to the yield surface.
    #[inline(always)]
    pub(crate) fn respond<T: Real>(&self, trial: Principal<T>, around: Surroundings<T>) -> Returned<T> {
        match self {
            Self::Sand(law) => law.respond(trial, around),
            Self::Snow(law) => law.respond(trial),
            Self::Elastic(law) => law.respond(trial),
            Self::Water(law) => law.respond(trial, around),
        }
    }

    /// Elastic constants of new material.
    pub fn elastic(&self) -> Elastic {
        match self {
            Self::Sand(law) => law.elastic,
            Self::Snow(law) => law.elastic,
            Self::Elastic(law) => *law,
            Self::Water(law) => Elastic {
                shear: 0.0,
                bulk: law.bulk,
            },
        }
    }

    /// Factor on the elastic constants [-] in a plastic state.
    pub(crate) fn stiffening(&self, plastic: f32) -> f32 {
        match self {
            Self::Snow(law) => law.hardening_factor(plastic),
            Self::Sand(_) | Self::Elastic(_) | Self::Water(_) => 1.0,
        }
    }
}
