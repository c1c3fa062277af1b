//! Calibration: damping for a specified restitution, without attraction.
//!
//! Every law becomes x'' = -max(0, c x^α x' + x^β) with x(0) = 0, x'(0) = 1 in its own units of length and time, and
//! the speed at which x returns to 0, or the force to 0, is the restitution e(c).

use super::normal::NormalLaw;

/// Steps over an impact when it is integrated [-].
const STEPS: f64 = 2000.0;

/// The number `damping` of `law` for which an impact at the reference speed has restitution `wanted`, in (0, 1].
///
/// For the linear law it is the damping ratio ζ, and for Tsuji's the same number serves.
pub(crate) fn damping(law: NormalLaw, wanted: f64) -> f64 {
    let restitution = |c: f64| match law {
        NormalLaw::Linear | NormalLaw::HertzTsuji => of_spring(c),
        NormalLaw::HertzConstant | NormalLaw::HertzViscoelastic => of_impact(law.exponents(), c),
    };
    if wanted >= 1.0 {
        return 0.0;
    }
    let mut high = 1.0;
    while restitution(high) > wanted && high < 1e3 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Ends at neighboring numbers or where the integration's own error is.
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if restitution(middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Restitution of a spring of damping ratio ζ that lets go where its force vanishes, [Schwager07] eqs. (21) and (24): with
/// γ = ζ / √|1 - ζ²| it is exp(-γ (π - atan2(2γ, 1 - γ²))) for ζ < 1 and exp(-γ ln((γ + 1)/(γ - 1))) beyond.
fn of_spring(zeta: f64) -> f64 {
    let gamma = zeta / (1.0 - zeta * zeta).abs().sqrt().max(1e-8);
    let angle = match zeta < 1.0 {
        true => std::f64::consts::PI - (2.0 * gamma).atan2(1.0 - gamma * gamma),
        false => ((gamma + 1.0) / (gamma - 1.0)).ln(),
    };
    (-gamma * angle).exp()
}

/// Restitution of x'' = -max(0, c x^α x' + x^β), by Runge and Kutta's scheme of fourth order.
fn of_impact((alpha, beta): (f64, f64), c: f64) -> f64 {
    let force = |x: f64, v: f64| {
        let x = x.max(0.0);
        (c * x.powf(alpha) * v + x.powf(beta)).max(0.0)
    };
    let h = super::duration::HERTZ / STEPS;
    let (mut x, mut v) = (0.0f64, 1.0f64);
    loop {
        let (k1x, k1v) = (v, -force(x, v));
        let (k2x, k2v) = (v + 0.5 * h * k1v, -force(x + 0.5 * h * k1x, v + 0.5 * h * k1v));
        let (k3x, k3v) = (v + 0.5 * h * k2v, -force(x + 0.5 * h * k2x, v + 0.5 * h * k2v));
        let (k4x, k4v) = (v + h * k3v, -force(x + h * k3x, v + h * k3v));
        x += h / 6.0 * (k1x + 2.0 * (k2x + k3x) + k4x);
        v += h / 6.0 * (k1v + 2.0 * (k2v + k3v) + k4v);
        if v < 0.0 && (x <= 0.0 || force(x, v) == 0.0) {
            return -v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without attraction a target of 0.9/0.7/0.5/0.3/0.1 becomes this.
    const CLAMPED: [(f64, f64); 5] = [(0.9, 0.902), (0.7, 0.718), (0.5, 0.550), (0.3, 0.397), (0.1, 0.253)];

    #[test]
    fn a_spring_that_does_not_pull_gives_back_what_the_table_says() {
        for (target, realised) in CLAMPED {
            let gamma = -f64::ln(target) / std::f64::consts::PI;
            let zeta = gamma / (1.0 + gamma * gamma).sqrt();
            assert!((of_spring(zeta) - realised).abs() < 6e-4, "{target}");
            assert!((of_impact((0.0, 1.0), 2.0 * zeta) - realised).abs() < 1e-3, "{target}");
            assert!(
                (of_impact((0.25, 1.5), 5f64.sqrt() * zeta) - realised).abs() < 2e-3,
                "{target}"
            );
        }
        assert!((of_impact((0.5, 1.5), 0.5) - 0.5953).abs() < 1e-3);
    }

    #[test]
    fn every_law_gives_back_what_was_asked_for() {
        for &law in NormalLaw::ALL {
            for wanted in [0.05, 0.1, 0.15, 0.3, 0.5, 0.8, 0.95, 0.99] {
                let c = damping(law, wanted);
                let scaled = match law {
                    NormalLaw::Linear => 2.0 * c,
                    NormalLaw::HertzTsuji => 5f64.sqrt() * c,
                    _ => c,
                };
                let found = of_impact(law.exponents(), scaled);
                assert!((found - wanted).abs() < 2e-3, "{law:?} {wanted} {found}");
            }
            assert_eq!(damping(law, 1.0), 0.0);
        }
    }
}
