//! Forces between single guides, where sand is too thin to have a pressure: a spring with a damper, and Coulomb's friction, [Bell05] with
//! the linear law.

/// Speed after over speed before an impact [-]; 0.4 for a force that never pulls.
const RESTITUTION: f32 = 0.3;
/// Duration of an impact, in steps [-].
const DURATION: f32 = 10.0;
/// Part of a pair's sliding that friction can stop in a step [-]: a guide has several partners.
const GRIP: f32 = 0.1;

/// Force [N] that pushes two guides apart: k ξ + c ξ', at least 0, with c = -2 m ln ε/t and k = m (ln²ε + π²)/t².
///
/// `mass` is 1/(1/m₁ + 1/m₂) [kg], `overlap` ξ [m], `approach` ξ' [m/s], `step` the time step [s], of which an impact takes ten.
#[inline]
pub(crate) fn repulsion(mass: f32, overlap: f32, approach: f32, step: f32) -> f32 {
    let duration = DURATION * step;
    let log = RESTITUTION.ln();
    let damping = -2.0 * mass * log / duration;
    let stiffness = mass / (duration * duration) * (log * log + std::f32::consts::PI.powi(2));
    (stiffness * overlap + damping * approach).max(0.0)
}

/// Friction over the speed of sliding [kg/s]: min(μ f, c |v|)/|v|, for a repulsion of `force` [N] and sliding at `speed` [m/s].
#[inline]
pub(crate) fn grip(mass: f32, friction: f32, force: f32, speed: f32, step: f32) -> f32 {
    (friction * force / speed.max(f32::MIN_POSITIVE)).min(GRIP * mass / step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impact_takes_its_time_and_leaves_as_much_speed_as_it_should() {
        // Two guides of 0.2 kg approach at 1 m/s; steps a hundred times shorter than the law's own.
        let (mass, law_step, step) = (0.1, 1e-3, 1e-5);
        let (mut overlap, mut speed, mut time) = (0.0, 1.0, 0.0);
        while overlap >= 0.0 {
            speed -= repulsion(mass, overlap, speed, law_step) / mass * step;
            overlap += speed * step;
            time += step;
            assert!(time < 0.1);
        }
        // 0.3 becomes 0.397 because the force never pulls.
        assert!((-speed / 0.397 - 1.0).abs() < 0.02f32, "{speed}");
        assert!((time / (DURATION * law_step) - 1.0).abs() < 0.4, "{time}");
    }

    #[test]
    fn friction_is_coulombs_and_never_turns_sliding_round() {
        assert_eq!(grip(0.1, 0.5, 2.0, 1e6, 1e-3) * 1e6, 1.0);
        let slow = 1e-4;
        assert!(grip(0.1, 0.5, 2.0, slow, 1e-3) * slow * 1e-3 / 0.1 <= slow);
    }
}
