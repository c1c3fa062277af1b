//! Kinematics of the elastic strain e = F Fᵀ - I.

use barchan_simd::Real;

use super::eigen::Half;

/// Largest principal stretch squared that a step leaves, less one [-], and the smallest. Laws yield long before.
const BOUNDS: [f32; 2] = [-0.75, 3.0];

/// Strain after a step in which the material moves with the displacement gradient m = Δt ∇v:
/// e' = (I + m)(I + e)(I + m)ᵀ - I. `m[a]` is the derivative along axis a.
///
/// Written in differences from I, so that small strains keep their digits.
#[inline(always)]
pub(crate) fn moved<T: Real>(e: Half<T>, m: [[T; 3]; 3]) -> Half<T> {
    let full = [[e[0], e[5], e[4]], [e[5], e[1], e[3]], [e[4], e[3], e[2]]];
    // n = m (I + e), by rows.
    let n = [0, 1, 2]
        .map(|r| [0, 1, 2].map(|c| m[c][r] + m[0][r] * full[0][c] + m[1][r] * full[1][c] + m[2][r] * full[2][c]));
    let element = |r: usize, c: usize| {
        full[r][c] + n[r][c] + n[c][r] + (n[r][0] * m[0][c] + n[r][1] * m[1][c] + n[r][2] * m[2][c])
    };
    [
        element(0, 0),
        element(1, 1),
        element(2, 2),
        element(1, 2),
        element(2, 0),
        element(0, 1),
    ]
}

/// Keeps a principal strain within what the logarithm below holds for.
#[inline(always)]
pub(crate) fn bounded<T: Real>(strain: T) -> T {
    strain.max(strain.like(BOUNDS[0])).min(strain.like(BOUNDS[1]))
}

/// Hencky strain ½ ln(1 + e) = artanh(e/(2 + e)) of a principal strain, by Padé's approximant of order [5/4].
#[inline(always)]
pub(crate) fn hencky<T: Real>(strain: T) -> T {
    let s = strain / (strain.like(2.0) + strain);
    let s2 = s * s;
    let like = |value: f32| strain.like(value);
    let top = like(945.0) + s2 * (like(-735.0) + s2 * like(64.0));
    let bottom = like(945.0) + s2 * (like(-1050.0) + s2 * like(225.0));
    s * top / bottom
}

/// Principal strain e = exp(2ε) - 1 = 2 s/(1 - s), s = tanh ε, of a Hencky strain, by Padé's approximant of order [5/4].
#[inline(always)]
pub(crate) fn of_hencky<T: Real>(hencky: T) -> T {
    let x2 = hencky * hencky;
    let like = |value: f32| hencky.like(value);
    let top = like(945.0) + x2 * (like(105.0) + x2);
    let bottom = like(945.0) + x2 * (like(420.0) + x2 * like(15.0));
    let s = hencky * top / bottom;
    (s + s) / (like(1.0) - s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};

    #[test]
    fn strains_follow_the_deformation_gradient() {
        let gradient = DMat3::from_cols(
            DVec3::new(0.02, -0.01, 0.03),
            DVec3::new(0.05, 0.01, -0.02),
            DVec3::new(0.01, 0.04, -0.03),
        );
        let (mut f, mut e) = (DMat3::IDENTITY, [0f32; 6]);
        let m = [0, 1, 2].map(|a| gradient.col(a).as_vec3().to_array());
        for _ in 0..5 {
            f = (DMat3::IDENTITY + gradient) * f;
            e = moved(e, m);
        }
        let wanted = f * f.transpose() - DMat3::IDENTITY;
        let elements = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)];
        for (found, (r, c)) in e.iter().zip(elements) {
            assert!((f64::from(*found) - wanted.col(c)[r]).abs() < 1e-6, "{e:?} {wanted}");
        }
    }

    #[test]
    fn a_rotation_leaves_the_size_of_a_small_strain() {
        let e = [1e-4f32, -2e-4, 0.0, 0.0, 0.0, 1e-4];
        let (s, c) = 0.01f64.sin_cos();
        let m = [[c - 1.0, s, 0.0], [-s, c - 1.0, 0.0], [0.0, 0.0, 0.0]].map(|v| v.map(|x| x as f32));
        let turned = moved(e, m);
        let norm = |e: Half<f32>| {
            (0..3)
                .map(|k| e[k] * e[k] + 2.0 * e[k + 3] * e[k + 3])
                .sum::<f32>()
                .sqrt()
        };
        assert!((norm(turned) / norm(e) - 1.0).abs() < 1e-3, "{turned:?}");
    }

    #[test]
    fn logarithmic_strains_are_those_of_the_library_and_small_ones_keep_their_digits() {
        for k in -60..=120 {
            let strain = 0.0115f64 * f64::from(k);
            let found = hencky(strain as f32);
            let wanted = 0.5 * strain.ln_1p();
            assert!(
                (f64::from(found) - wanted).abs() < 2e-5 + 1e-6 * wanted.abs(),
                "{strain}: {found}"
            );
            let back = of_hencky(found);
            assert!(
                (f64::from(back) - strain).abs() < 3e-4 * (1.0 + strain.abs()),
                "{strain}: {back}"
            );
        }
        assert!((hencky(2e-9f32) - 1e-9).abs() < 1e-15);
        assert!((of_hencky(1e-9f32) - 2e-9).abs() < 1e-15);
    }
}
