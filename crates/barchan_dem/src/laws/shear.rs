//! Tangential force laws, by name: [Bell05] eqs. (16)-(19), with |f_n| instead of the printed f_n, which is
//! negative there, and with the history that eq. (19) leaves open: the spring rotates with the contact, and is cut
//! while it slides.

use barchan_world::words;

words! {
    /// Tangential force.
    pub enum ShearLaw {
        /// Eq. (16): viscous, without bound.
        Viscous = "viscous",
        /// Eq. (17): Coulomb's, against the motion however slow.
        Coulomb = "coulomb",
        /// Eq. (18): viscous up to Coulomb's bound.
        Capped = "capped",
        /// Eq. (19): a spring since first touch up to Coulomb's bound, damped.
        Spring = "spring",
    }
}

/// Size of the force [N] of the laws without memory at sliding speed v [m/s], normal force f [N]: eqs. (16), (17), (18).
#[inline(always)]
pub(crate) fn size(law: ShearLaw, viscosity: f64, friction: f64, force: f64, speed: f64) -> f64 {
    match law {
        ShearLaw::Viscous => viscosity * speed,
        ShearLaw::Coulomb => friction * force,
        ShearLaw::Capped | ShearLaw::Spring => (friction * force).min(viscosity * speed),
    }
}

/// Damping [N s/m] of the tangential spring k_t [N/m]: c_t = 2 ζ √(k_t m_t), where m_t = 2/7 of the reduced mass m [kg] is what a
/// tangential push at the contact of two spheres moves, and ζ [-] the damping ratio of the restitution.
#[inline(always)]
pub(crate) fn spring_damping(ratio: f64, stiffness: f64, mass: f64) -> f64 {
    2.0 * ratio * (stiffness * mass * (2.0 / 7.0)).sqrt()
}

/// Returns the factor that limits a trial force of a spring [-], and true if it slides: it sticks up to μ_s f, and once
/// sliding it slides with μ_k f until the trial is less.
#[inline(always)]
pub(crate) fn slide(trial: f64, is_sliding: bool, r#static: f64, kinetic: f64, force: f64) -> (f64, bool) {
    let bound = if is_sliding { kinetic } else { r#static } * force;
    let slides = trial > bound;
    let share = kinetic * force / trial.max(f64::MIN_POSITIVE);
    (if slides { share } else { 1.0 }, slides)
}
