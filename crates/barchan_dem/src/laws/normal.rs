//! Normal force laws, by name. A new one is a file and a line in each table here.

use barchan_world::words;

use super::{effective, hertz_constant, hertz_tsuji, hertz_viscoelastic, linear};

words! {
    /// Normal force between two spheres.
    pub enum NormalLaw {
        /// Damped linear spring.
        Linear = "linear",
        /// Hertz with constant damping: restitution rises with speed.
        HertzConstant = "hertz_constant",
        /// Hertz with Tsuji's damping: the same restitution at any speed.
        HertzTsuji = "hertz_tsuji",
        /// Hertz with viscoelastic damping: restitution falls with speed.
        HertzViscoelastic = "hertz_viscoelastic",
    }
}

impl NormalLaw {
    /// Exponents α and β [-] of f = k_d ξ^α ξ' + k_r ξ^β, [Bell05] eq. (7).
    pub(crate) fn exponents(self) -> (f64, f64) {
        match self {
            Self::Linear => (0.0, 1.0),
            Self::HertzConstant => (0.0, 1.5),
            Self::HertzTsuji => (0.25, 1.5),
            Self::HertzViscoelastic => (0.5, 1.5),
        }
    }

    /// Stiffness and damping of a contact.
    #[inline(always)]
    pub(crate) fn coefficients(self, e: &Encounter, damping: f64) -> Coefficients {
        match self {
            Self::Linear => linear::coefficients(e, damping),
            Self::HertzConstant => hertz_constant::coefficients(e, damping),
            Self::HertzTsuji => hertz_tsuji::coefficients(e, damping),
            Self::HertzViscoelastic => hertz_viscoelastic::coefficients(e, damping),
        }
    }

    /// Repelling force [N] at overlap ξ [m] and approach ξ' [m/s]; never attracting: max(0, f), although damping
    /// makes the printed force negative at the end of a contact.
    #[inline(always)]
    pub(crate) fn force(self, c: &Coefficients, overlap: f64, approach: f64) -> f64 {
        let force = match self {
            Self::Linear => linear::force(c, overlap, approach),
            Self::HertzConstant => hertz_constant::force(c, overlap, approach),
            Self::HertzTsuji => hertz_tsuji::force(c, overlap, approach),
            Self::HertzViscoelastic => hertz_viscoelastic::force(c, overlap, approach),
        };
        force.max(0.0)
    }

    /// Tangential stiffness [N/m] at overlap ξ [m]: Mindlin's 8 G* √(R* ξ), [Mindlin49] eq. (34), which is 4 G*/E* of Hertz's
    /// 2 E* √(R* ξ); of a linear spring the same share.
    #[inline(always)]
    pub(crate) fn shear_stiffness(self, e: &Encounter, c: &Coefficients, overlap: f64) -> f64 {
        match self {
            Self::Linear => 4.0 * e.shear_modulus / e.modulus * c.stiffness,
            _ => 8.0 * e.shear_modulus * (e.radius * overlap).sqrt(),
        }
    }
}

/// Effective properties of a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encounter {
    /// Reduced mass [kg].
    pub mass: f64,
    /// Reduced radius [m].
    pub radius: f64,
    /// Effective modulus [Pa].
    pub modulus: f64,
    /// Effective shear modulus [Pa].
    pub shear_modulus: f64,
    /// Speed [m/s] at which the restitution is the specified one.
    pub reference_speed: f64,
    /// Duration of a linear contact [s]; 0 for that of Hertz.
    pub duration: f64,
}

impl Encounter {
    /// Hertz's stiffness [N/m^1.5].
    #[inline(always)]
    pub(crate) fn hertz_stiffness(&self) -> f64 {
        effective::hertz_stiffness(self.modulus, self.radius)
    }
}

/// Of a law f = k_d ξ^α ξ' + k_r ξ^β.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coefficients {
    /// k_r [N/m^β].
    pub stiffness: f64,
    /// k_d [N s/m^(1+α)].
    pub damping: f64,
}
