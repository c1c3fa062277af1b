//! Rolling resistance of round particles: a spring in the rolling angle, up to a bound, so that it holds on a slope;
//! [Ai11] model C.

/// Stiffness [N m/rad] of the spring: k_r = k_t R*², of the tangential stiffness k_t [N/m] and the reduced radius [m], [Luding08] section 3.2.
#[inline(always)]
pub(crate) fn stiffness(shear_stiffness: f64, radius: f64) -> f64 {
    shear_stiffness * radius * radius
}

/// Damping [N m s/rad] of the spring: 2 ζ √(k_r I), with I = 2/5 m R² of the reduced mass [kg] and radius [m].
#[inline(always)]
pub(crate) fn damping(ratio: f64, stiffness: f64, mass: f64, radius: f64) -> f64 {
    2.0 * ratio * (stiffness * 0.4 * mass).sqrt() * radius
}

/// Returns the factor that limits a trial torque of the spring [-], and true if the spring yields: it holds up to μ_r
/// R* f.
#[inline(always)]
pub(crate) fn give_way(trial: f64, friction: f64, radius: f64, force: f64) -> (f64, bool) {
    let bound = friction * radius * force;
    let gives_way = trial > bound;
    (
        if gives_way {
            bound / trial.max(f64::MIN_POSITIVE)
        } else {
            1.0
        },
        gives_way,
    )
}
