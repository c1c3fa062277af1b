//! Response of friction to motion, for eight guides at once: one by one, each would wait for its square roots and
//! divisions.
//!
//! A matrix is its rows; a symmetric one is xx, yy, zz, yz, zx, xy.

use super::stress::Sym;
use crate::cpu::simd::{LANES, Lane};
use barchan_simd::{Real, Simd, f32x8};

type Full<T> = [[T; 3]; 3];
type Half<T> = [T; 6];

/// Symmetric matrices of eight guides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Syms(pub [Lane; 6]);

impl Syms {
    /// Puts `s` at lane `l`.
    #[inline(always)]
    pub(crate) fn set(&mut self, l: usize, s: Sym) {
        let values = [s.diagonal.x, s.diagonal.y, s.diagonal.z, s.off.x, s.off.y, s.off.z];
        for (lane, value) in self.0.iter_mut().zip(values) {
            lane[l] = value;
        }
    }

    /// The matrix at lane `l`.
    #[inline(always)]
    pub(crate) fn get(&self, l: usize) -> Sym {
        let [xx, yy, zz, yz, zx, xy] = self.0.map(|lane| lane[l]);
        Sym {
            diagonal: [xx, yy, zz].into(),
            off: [yz, zx, xy].into(),
        }
    }

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> Half<f32x8<S>> {
        let [xx, yy, zz, yz, zx, xy] = &self.0;
        [
            simd.load8(xx),
            simd.load8(yy),
            simd.load8(zz),
            simd.load8(yz),
            simd.load8(zx),
            simd.load8(xy),
        ]
    }

    #[inline(always)]
    fn store<S: Simd>([xx, yy, zz, yz, zx, xy]: Half<f32x8<S>>) -> Self {
        let lanes = [
            <[f32; LANES]>::from(xx),
            <[f32; LANES]>::from(yy),
            <[f32; LANES]>::from(zz),
            <[f32; LANES]>::from(yz),
            <[f32; LANES]>::from(zx),
            <[f32; LANES]>::from(xy),
        ];
        Self(lanes)
    }
}

/// Motion of eight guides, and the parameters of the response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Motion {
    /// Rows of A = Σ V ∇W (v_j - v)ᵀ [1/s]; ∇v = L A.
    pub strain: [[Lane; 3]; 3],
    /// L [-].
    pub exact: Syms,
    /// Stress of the previous pass [Pa].
    pub stress: Syms,
    /// Stress for a strain rate, ω D⁻¹ [Pa s].
    pub response: Lane,
    /// Largest norm of the stress [Pa] of slow flow, Y p: Y [-] and p [Pa]; and the bound at zero pressure [Pa].
    pub slope: Lane,
    pub pressure: Lane,
    pub intercept: Lane,
    /// Inertial number of a shear rate, d √(ρ/p) [s].
    pub inertia: Lane,
    /// Increase of Y in fast flow [-].
    pub gain: Lane,
}

/// The stress [Pa] after one pass, s ← s + ω D⁻¹ ε̇ without its trace, back to the cone, and the rows of s L [Pa]. A stress from the step before
/// is first turned with the material over `turn` [s].
#[inline(always)]
pub(crate) fn answered<S: Simd>(simd: S, motion: &Motion, turn: Option<f32>) -> (Syms, [[Lane; 3]; 3]) {
    let [x, y, z] = &motion.strain;
    let row = |row: &[Lane; 3]| [simd.load8(&row[0]), simd.load8(&row[1]), simd.load8(&row[2])];
    let exact = full(motion.exact.load(simd));
    let gradient = product(exact, [row(x), row(y), row(z)]);
    let mut stress = motion.stress.load(simd);
    if let Some(step) = turn {
        stress = turned(stress, gradient, step);
    }
    let rate = halved(gradient);
    let trial = plus(stress, simd.load8(&motion.response), rate);
    let number = simd.load8(&motion.inertia) * norm(deviator(rate));
    let slope = simd.load8(&motion.slope) + simd.load8(&motion.gain) * mobilized(number);
    let friction = slope * simd.load8(&motion.pressure);
    let limit = friction + simd.load8(&motion.intercept);
    let stress = returned(deviator(trial), limit);
    let [x, y, z] = product(full(stress), exact);
    let rows = [x, y, z].map(|[x, y, z]| {
        [
            <[f32; LANES]>::from(x),
            <[f32; LANES]>::from(y),
            <[f32; LANES]>::from(z),
        ]
    });
    (Syms::store(stress), rows)
}

/// As a full matrix.
#[inline(always)]
fn full<T: Real>([xx, yy, zz, yz, zx, xy]: Half<T>) -> Full<T> {
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

/// a b.
#[inline(always)]
fn product<T: Real>(a: Full<T>, b: Full<T>) -> Full<T> {
    let column = |c: usize| [b[0][c], b[1][c], b[2][c]];
    let columns = [column(0), column(1), column(2)];
    let mut all = a;
    for r in 0..3 {
        for c in 0..3 {
            all[r][c] = Real::dot(a[r], columns[c]);
        }
    }
    all
}

/// ½ (a + aᵀ).
#[inline(always)]
fn halved<T: Real>(a: Full<T>) -> Half<T> {
    let half = a[0][0].like(0.5);
    let mean = |a, b| half * (a + b);
    [
        a[0][0],
        a[1][1],
        a[2][2],
        mean(a[1][2], a[2][1]),
        mean(a[2][0], a[0][2]),
        mean(a[0][1], a[1][0]),
    ]
}

/// a + factor b.
#[inline(always)]
fn plus<T: Real>(a: Half<T>, factor: T, b: Half<T>) -> Half<T> {
    let mut sum = a;
    for k in 0..6 {
        sum[k] = a[k] + factor * b[k];
    }
    sum
}

/// factor a.
#[inline(always)]
fn times<T: Real>(a: Half<T>, factor: T) -> Half<T> {
    let mut all = a;
    for value in &mut all {
        *value = *value * factor;
    }
    all
}

/// Without its trace: s - ⅓ tr(s) I.
#[inline(always)]
fn deviator<T: Real>([xx, yy, zz, yz, zx, xy]: Half<T>) -> Half<T> {
    let mean = (xx + yy + zz) / xx.like(3.0);
    [xx - mean, yy - mean, zz - mean, yz, zx, xy]
}

/// Frobenius norm.
#[inline(always)]
fn norm<T: Real>([xx, yy, zz, yz, zx, xy]: Half<T>) -> T {
    let (on, off) = (
        Real::dot([xx, yy, zz], [xx, yy, zz]),
        Real::dot([yz, zx, xy], [yz, zx, xy]),
    );
    (on + off.like(2.0) * off).sqrt()
}

/// min(1, a/b), where b is not below 0.
#[inline(always)]
fn part<T: Real>(a: T, b: T) -> T {
    (a / b.max(b.like(f32::MIN_POSITIVE))).min(b.like(1.0))
}

/// Inertial number I₀ [-] at which friction has gained half of what it gains in the fastest flow: that of [Jop06] for glass beads.
const HALF_GAIN: f32 = 0.279;

/// Part of the gain of friction at the inertial number I = γ̇ d √(ρ/p), γ̇ = √2 ‖ε̇‖: I²/(I₀² + I²) [-], so that μ(I) = μ_s + (μ_2 - μ_s) I²/(I₀² + I²). `number` is I/√2.
///
/// [Jop06] has μ(I) = μ_s + (μ_2 - μ_s)/(1 + I₀/I). Both meet at I₀ and have the same limits; squares gain less below it. The strain rate of sand that hardly flows
/// is known no better than the passes leave it: with the first power small heaps stand up to 4° too steep.
#[inline(always)]
fn mobilized<T: Real>(number: T) -> T {
    let squared = number * number;
    squared / (squared.like(0.5 * HALF_GAIN * HALF_GAIN) + squared)
}

/// Radial return to the cone ‖s‖ ≤ `limit` [Pa]: s min(1, limit/‖s‖).
#[inline(always)]
fn returned<T: Real>(s: Half<T>, limit: T) -> Half<T> {
    times(s, part(limit, norm(s)))
}

/// s turned by the spin of the material over `step` [s]: s + Δt (Ω s - s Ω), Ω = ½ (∇vᵀ - ∇v) with (∇v)ab = ∂a vb, the objective rate of
/// Jaumann. `gradient` [1/s] is ∇v.
#[inline(always)]
fn turned<T: Real>(s: Half<T>, gradient: Full<T>, step: f32) -> Half<T> {
    let half = s[0].like(0.5);
    let spin = |a: usize, b: usize| half * (gradient[b][a] - gradient[a][b]);
    let (xy, yz, zx) = (spin(0, 1), spin(1, 2), spin(2, 0));
    let none = s[0].like(0.0);
    let minus = |a: T| none - a;
    let spin = [[none, xy, minus(zx)], [minus(xy), none, yz], [zx, minus(yz), none]];
    // Ω s - s Ω is twice the symmetric part of Ω s.
    let change = halved(product(spin, full(s)));
    let turned = plus(s, none.like(2.0 * step), change);
    // A first-order turn grows the norm; friction must not.
    times(turned, part(norm(s), norm(turned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::LANES;
    use crate::laws::stress::tests::some;
    use barchan_simd::{Level, dispatch};
    use glam::{Mat3A, Vec3};

    fn half(s: Sym) -> Half<f32> {
        [s.diagonal.x, s.diagonal.y, s.diagonal.z, s.off.x, s.off.y, s.off.z]
    }

    fn sym([xx, yy, zz, yz, zx, xy]: Half<f32>) -> Sym {
        Sym {
            diagonal: Vec3::new(xx, yy, zz),
            off: Vec3::new(yz, zx, xy),
        }
    }

    /// [`answered`] on every level of this machine, which must agree bit for bit.
    fn answered_on_all(motion: &Motion) -> (Syms, [[Lane; 3]; 3]) {
        let mut all = Level::available().map(|level| dispatch!(level, simd => answered(simd, motion, None)));
        let first = all.next().unwrap();
        assert!(all.all(|other| other == first));
        first
    }

    /// s without its trace.
    fn shear() -> Sym {
        sym(deviator(half(some())))
    }

    #[test]
    fn a_deviator_has_no_trace_and_a_returned_stress_lies_on_the_cone() {
        let s = shear();
        let within = |limit: f32| sym(returned(half(s), limit));
        assert!(s.diagonal.element_sum().abs() < 1e-6);
        assert!((within(2.0).norm() - 2.0).abs() < 1e-6);
        assert_eq!(within(1e3), s);
        assert_eq!(within(0.0).norm(), 0.0);
        assert_eq!(sym(returned(half(Sym::default()), 0.0)).norm(), 0.0);
    }

    #[test]
    fn friction_grows_with_the_inertial_number_up_to_its_gain() {
        // Simple shear that is faster than any friction allows: the stress lies on the cone.
        let friction = |number: f32| {
            let mut motion = Motion {
                response: [1e9; LANES],
                slope: [0.5; LANES],
                gain: [0.2; LANES],
                pressure: [1.0; LANES],
                inertia: [number; LANES],
                ..Motion::default()
            };
            for l in 0..LANES {
                motion.exact.set(l, Sym::of(Mat3A::IDENTITY));
            }
            motion.strain[2][0] = [1.0; LANES];
            answered_on_all(&motion).0.get(0).norm()
        };
        assert!((friction(0.0) - 0.5).abs() < 1e-6);
        assert!((friction(HALF_GAIN) - 0.6).abs() < 1e-6, "{}", friction(HALF_GAIN));
        assert!((friction(1e3) - 0.7).abs() < 1e-5);
    }

    #[test]
    fn a_stress_turns_with_its_material() {
        // v = ω × x, so (∇v)ab = ∂a vb. A full turn in small steps brings every stress back.
        let omega = Vec3::new(0.6, -0.3, 0.8);
        let gradient = [0, 1, 2].map(|a| omega.cross(Vec3::AXES[a]).to_array());
        let start = shear();
        let apart = |a: Sym, b: Sym| sym(plus(half(a), -1.0, half(b))).norm();
        let steps = 20_000;
        let step = std::f32::consts::TAU / omega.length() / steps as f32;
        let mut s = start;
        for k in 0..steps {
            s = sym(turned(half(s), gradient, step));
            if k == steps / 4 {
                // It follows R s Rᵀ, not its inverse.
                let angle = omega.length() * step * (k + 1) as f32;
                let r = Mat3A::from_axis_angle(omega.normalize(), angle);
                let expected = Sym::of(r * start.matrix() * r.transpose());
                assert!(apart(s, expected) < 0.02 * start.norm());
            }
        }
        assert!(apart(s, start) < 0.02 * start.norm());
    }

    #[test]
    fn a_pass_answers_the_strain_rate_of_exact_gradients() {
        let exact = Sym {
            diagonal: Vec3::new(1.1, 0.9, 1.2),
            off: Vec3::new(0.1, -0.05, 0.2),
        };
        let strain = Mat3A::from_cols_array(&[0.3, -0.1, 0.2, 0.5, 0.1, -0.4, 0.0, 0.7, -0.2]);
        let mut motion = Motion {
            response: [2.0; LANES],
            slope: [1e3; LANES],
            pressure: [1.0; LANES],
            ..Motion::default()
        };
        for l in 0..LANES {
            motion.exact.set(l, exact);
            motion.stress.set(l, shear());
            for a in 0..3 {
                for b in 0..3 {
                    motion.strain[a][b][l] = strain.col(b)[a];
                }
            }
        }
        let (stress, rows) = answered_on_all(&motion);
        let rate = Sym::of(exact.matrix() * strain);
        let mean = rate.diagonal.element_sum() / 3.0;
        let expected = Sym {
            diagonal: shear().diagonal + 2.0 * (rate.diagonal - mean),
            off: shear().off + 2.0 * rate.off,
        };
        let found = stress.get(LANES - 1);
        assert!((found.diagonal - expected.diagonal).length() < 1e-5);
        assert!((found.off - expected.off).length() < 1e-5);
        let loaded = expected.matrix() * exact.matrix();
        for (a, row) in rows.iter().enumerate() {
            for (b, lane) in row.iter().enumerate() {
                assert!((lane[0] - loaded.col(b)[a]).abs() < 1e-5);
            }
        }
    }
}
