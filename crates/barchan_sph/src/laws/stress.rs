//! Friction as a stress s [Pa], symmetric and without trace, bounded by the pressure.

use barchan_world::words;
use glam::{Mat3A, Vec3, Vec3A};

/// A symmetric matrix: xx, yy, zz and yz, zx, xy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Sym {
    pub diagonal: Vec3,
    pub off: Vec3,
}

impl Sym {
    /// ½ (A + Aᵀ).
    #[inline(always)]
    pub(crate) fn of(a: Mat3A) -> Self {
        Self {
            diagonal: Vec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z),
            off: 0.5
                * Vec3::new(
                    a.y_axis.z + a.z_axis.y,
                    a.z_axis.x + a.x_axis.z,
                    a.x_axis.y + a.y_axis.x,
                ),
        }
    }

    /// As a full matrix.
    #[inline(always)]
    pub(crate) fn matrix(self) -> Mat3A {
        let Self { diagonal: d, off: o } = self;
        Mat3A::from_cols(
            Vec3A::new(d.x, o.z, o.y),
            Vec3A::new(o.z, d.y, o.x),
            Vec3A::new(o.y, o.x, d.z),
        )
    }

    /// Its determinant, and its inverse times that.
    #[inline(always)]
    pub(crate) fn determinant_and_adjugate(self) -> (f32, Self) {
        let Self { diagonal: d, off: o } = self;
        let adjugate = Self {
            diagonal: Vec3::new(d.y * d.z - o.x * o.x, d.z * d.x - o.y * o.y, d.x * d.y - o.z * o.z),
            off: Vec3::new(o.y * o.z - d.x * o.x, o.z * o.x - d.y * o.y, o.x * o.y - d.z * o.z),
        };
        let determinant = d.x * adjugate.diagonal.x + o.z * adjugate.off.z + o.y * adjugate.off.y;
        (determinant, adjugate)
    }

    /// Frobenius norm.
    #[inline(always)]
    pub(crate) fn norm(self) -> f32 {
        (self.diagonal.length_squared() + 2.0 * self.off.length_squared()).sqrt()
    }

    /// self - other.
    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            diagonal: self.diagonal - other.diagonal,
            off: self.off - other.off,
        }
    }

    /// factor self.
    #[inline(always)]
    pub(crate) fn times(self, factor: f32) -> Self {
        Self {
            diagonal: factor * self.diagonal,
            off: factor * self.off,
        }
    }
}

words! {
    /// Yield criterion of friction: ‖s‖ ≤ Y p.
    pub enum Yield {
        /// Y = √2 tan θ: a slope of angle θ stands.
        Repose = "repose",
        /// Y = √2 sin θ, [Narain10], [Ihmsen13] eq. (4): a slope of arctan sin θ stands.
        Narain = "narain",
        /// Y = √(2/3) sin θ, [Zhu05].
        ZhuBridson = "zhu_bridson",
        /// Y = 2√6 sin θ / (3 - sin θ), [Klar16].
        Klar = "klar",
    }
}

impl Yield {
    /// Y [-] for a friction angle whose tangent is `friction` [-].
    pub fn slope(self, friction: f32) -> f32 {
        let sine = friction / (1.0 + friction * friction).sqrt();
        match self {
            Self::Repose => 2f32.sqrt() * friction,
            Self::Narain => 2f32.sqrt() * sine,
            Self::ZhuBridson => (2.0 / 3f32).sqrt() * sine,
            Self::Klar => 2.0 * 6f32.sqrt() * sine / (3.0 - sine),
        }
    }
}

/// Increase of Y [-] in fast flow, where friction grows from `friction` by `flow` [-]. None without friction: a liquid has none at any speed. No friction grows beyond 1, where
/// stress would pull.
pub(crate) fn gain(convention: Yield, friction: f32, flow: f32) -> f32 {
    if friction <= 0.0 {
        return 0.0;
    }
    let fastest = (friction + flow).min(friction.max(1.0));
    convention.slope(fastest) - convention.slope(friction)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::laws) fn some() -> Sym {
        Sym {
            diagonal: Vec3::new(3.0, -1.0, 4.0),
            off: Vec3::new(0.5, -2.0, 1.0),
        }
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let (determinant, adjugate) = some().determinant_and_adjugate();
        let one = some().matrix() * adjugate.times(1.0 / determinant).matrix();
        assert!((determinant - some().matrix().determinant()).abs() < 1e-4);
        assert!(one.abs_diff_eq(Mat3A::IDENTITY, 1e-5), "{one}");
    }

    #[test]
    fn fast_flow_gains_friction_but_liquids_none_and_no_sand_pulls() {
        let gain = |friction: f32| gain(Yield::Repose, friction, 0.2) / 2f32.sqrt();
        assert_eq!(gain(0.0), 0.0);
        assert!((gain(0.5) - 0.2).abs() < 1e-6);
        assert!((gain(0.9) - 0.1).abs() < 1e-6);
        assert_eq!(gain(1.2), 0.0);
    }

    #[test]
    fn conventions_support_the_slopes_that_are_known_of_them() {
        // Simple shear: tan(slope) = Y/√2. Slopes of 30 degrees asked for, [Ihmsen13] and others.
        let slope = |convention: Yield| {
            let y = convention.slope(30f32.to_radians().tan());
            (y / 2f32.sqrt()).atan().to_degrees()
        };
        for (convention, expected) in [
            (Yield::Repose, 30.0),
            (Yield::Narain, 26.6),
            (Yield::ZhuBridson, 16.1),
            (Yield::Klar, 34.7),
        ] {
            assert!((slope(convention) - expected).abs() < 0.05, "{convention:?}");
        }
    }
}
