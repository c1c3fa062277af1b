//! Response of friction to motion, for eight guides at once: one by one, each would wait for its square roots and
//! divisions.
//!
//! A matrix is its rows; a symmetric one is xx, yy, zz, yz, zx, xy.

use super::stress::Sym;
use crate::cpu::simd::{Lane, Vectors};

type Full<V> = [[<V as Vectors>::Eight; 3]; 3];
type Half<V> = [<V as Vectors>::Eight; 6];

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
    fn load<V: Vectors>(&self) -> Half<V> {
        let [xx, yy, zz, yz, zx, xy] = &self.0;
        [
            V::load(xx),
            V::load(yy),
            V::load(zz),
            V::load(yz),
            V::load(zx),
            V::load(xy),
        ]
    }

    #[inline(always)]
    fn store<V: Vectors>([xx, yy, zz, yz, zx, xy]: Half<V>) -> Self {
        let lanes = [
            V::store(xx),
            V::store(yy),
            V::store(zz),
            V::store(yz),
            V::store(zx),
            V::store(xy),
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
pub(crate) fn answered<V: Vectors>(motion: &Motion, turn: Option<f32>) -> (Syms, [[Lane; 3]; 3]) {
    let [x, y, z] = &motion.strain;
    let row = |row: &[Lane; 3]| [V::load(&row[0]), V::load(&row[1]), V::load(&row[2])];
    let exact = full::<V>(motion.exact.load::<V>());
    let gradient = product::<V>(exact, [row(x), row(y), row(z)]);
    let mut stress = motion.stress.load::<V>();
    if let Some(step) = turn {
        stress = turned::<V>(stress, gradient, step);
    }
    let rate = halved::<V>(gradient);
    let trial = plus::<V>(stress, V::load(&motion.response), rate);
    let number = V::mul(V::load(&motion.inertia), norm::<V>(deviator::<V>(rate)));
    let slope = V::add(
        V::load(&motion.slope),
        V::mul(V::load(&motion.gain), mobilized::<V>(number)),
    );
    let friction = V::mul(slope, V::load(&motion.pressure));
    let limit = V::add(friction, V::load(&motion.intercept));
    let stress = returned::<V>(deviator::<V>(trial), limit);
    let [x, y, z] = product::<V>(full::<V>(stress), exact);
    let rows = [x, y, z].map(|[x, y, z]| [V::store(x), V::store(y), V::store(z)]);
    (Syms::store::<V>(stress), rows)
}

/// As a full matrix.
#[inline(always)]
fn full<V: Vectors>([xx, yy, zz, yz, zx, xy]: Half<V>) -> Full<V> {
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

/// a b.
#[inline(always)]
fn product<V: Vectors>(a: Full<V>, b: Full<V>) -> Full<V> {
    let column = |c: usize| [b[0][c], b[1][c], b[2][c]];
    let columns = [column(0), column(1), column(2)];
    let mut all = a;
    for r in 0..3 {
        for c in 0..3 {
            all[r][c] = V::dot(a[r], columns[c]);
        }
    }
    all
}

/// ½ (a + aᵀ).
#[inline(always)]
fn halved<V: Vectors>(a: Full<V>) -> Half<V> {
    let half = V::splat(0.5);
    let mean = |a, b| V::mul(half, V::add(a, b));
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
fn plus<V: Vectors>(a: Half<V>, factor: V::Eight, b: Half<V>) -> Half<V> {
    let mut sum = a;
    for k in 0..6 {
        sum[k] = V::add(a[k], V::mul(factor, b[k]));
    }
    sum
}

/// factor a.
#[inline(always)]
fn times<V: Vectors>(a: Half<V>, factor: V::Eight) -> Half<V> {
    let mut all = a;
    for value in &mut all {
        *value = V::mul(*value, factor);
    }
    all
}

/// Without its trace: s - ⅓ tr(s) I.
#[inline(always)]
fn deviator<V: Vectors>([xx, yy, zz, yz, zx, xy]: Half<V>) -> Half<V> {
    let mean = V::div(V::add(V::add(xx, yy), zz), V::splat(3.0));
    [V::sub(xx, mean), V::sub(yy, mean), V::sub(zz, mean), yz, zx, xy]
}

/// Frobenius norm.
#[inline(always)]
fn norm<V: Vectors>([xx, yy, zz, yz, zx, xy]: Half<V>) -> V::Eight {
    let (on, off) = (V::dot([xx, yy, zz], [xx, yy, zz]), V::dot([yz, zx, xy], [yz, zx, xy]));
    V::sqrt(V::add(on, V::mul(V::splat(2.0), off)))
}

/// min(1, a/b), where b is not below 0.
#[inline(always)]
fn part<V: Vectors>(a: V::Eight, b: V::Eight) -> V::Eight {
    V::min(V::div(a, V::max(b, V::splat(f32::MIN_POSITIVE))), V::splat(1.0))
}

/// Inertial number I₀ [-] at which friction has gained half of what it gains in the fastest flow: that of [Jop06] for glass beads.
const HALF_GAIN: f32 = 0.279;

/// Part of the gain of friction at the inertial number I = γ̇ d √(ρ/p), γ̇ = √2 ‖ε̇‖: I²/(I₀² + I²) [-], so that μ(I) = μ_s + (μ_2 - μ_s) I²/(I₀² + I²). `number` is I/√2.
///
/// [Jop06] has μ(I) = μ_s + (μ_2 - μ_s)/(1 + I₀/I). Both meet at I₀ and have the same limits; squares gain less below it. The strain rate of sand that hardly flows
/// is known no better than the passes leave it: with the first power small heaps stand up to 4° too steep.
#[inline(always)]
fn mobilized<V: Vectors>(number: V::Eight) -> V::Eight {
    let squared = V::mul(number, number);
    V::div(squared, V::add(V::splat(0.5 * HALF_GAIN * HALF_GAIN), squared))
}

/// Radial return to the cone ‖s‖ ≤ `limit` [Pa]: s min(1, limit/‖s‖).
#[inline(always)]
fn returned<V: Vectors>(s: Half<V>, limit: V::Eight) -> Half<V> {
    times::<V>(s, part::<V>(limit, norm::<V>(s)))
}

/// s turned by the spin of the material over `step` [s]: s + Δt (Ω s - s Ω), Ω = ½ (∇vᵀ - ∇v) with (∇v)ab = ∂a vb, the objective rate of
/// Jaumann. `gradient` [1/s] is ∇v.
#[inline(always)]
fn turned<V: Vectors>(s: Half<V>, gradient: Full<V>, step: f32) -> Half<V> {
    let half = V::splat(0.5);
    let spin = |a: usize, b: usize| V::mul(half, V::sub(gradient[b][a], gradient[a][b]));
    let (xy, yz, zx) = (spin(0, 1), spin(1, 2), spin(2, 0));
    let (none, minus) = (V::splat(0.0), |a| V::sub(V::splat(0.0), a));
    let spin = [[none, xy, minus(zx)], [minus(xy), none, yz], [zx, minus(yz), none]];
    // Ω s - s Ω is twice the symmetric part of Ω s.
    let change = halved::<V>(product::<V>(spin, full::<V>(s)));
    let turned = plus::<V>(s, V::splat(2.0 * step), change);
    // A first-order turn grows the norm; friction must not.
    times::<V>(turned, part::<V>(norm::<V>(s), norm::<V>(turned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::{LANES, Portable};
    use crate::laws::stress::tests::some;
    use glam::{Mat3A, Vec3};

    fn alike(s: Sym) -> Half<Portable> {
        let mut all = Syms::default();
        (0..LANES).for_each(|l| all.set(l, s));
        all.load::<Portable>()
    }

    fn first(s: Half<Portable>) -> Sym {
        Syms::store::<Portable>(s).get(0)
    }

    /// s without its trace.
    fn shear() -> Sym {
        first(deviator::<Portable>(alike(some())))
    }

    #[test]
    fn a_deviator_has_no_trace_and_a_returned_stress_lies_on_the_cone() {
        let s = shear();
        let within = |limit: f32| first(returned::<Portable>(alike(s), [limit; LANES]));
        assert!(s.diagonal.element_sum().abs() < 1e-6);
        assert!((within(2.0).norm() - 2.0).abs() < 1e-6);
        assert_eq!(within(1e3), s);
        assert_eq!(within(0.0).norm(), 0.0);
        assert_eq!(
            first(returned::<Portable>(alike(Sym::default()), [0.0; LANES])).norm(),
            0.0
        );
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
            answered::<Portable>(&motion, None).0.get(0).norm()
        };
        assert!((friction(0.0) - 0.5).abs() < 1e-6);
        assert!((friction(HALF_GAIN) - 0.6).abs() < 1e-6, "{}", friction(HALF_GAIN));
        assert!((friction(1e3) - 0.7).abs() < 1e-5);
    }

    #[test]
    fn a_stress_turns_with_its_material() {
        // v = ω × x, so (∇v)ab = ∂a vb. A full turn in small steps brings every stress back.
        let omega = Vec3::new(0.6, -0.3, 0.8);
        let gradient = [0, 1, 2].map(|a| omega.cross(Vec3::AXES[a]).to_array().map(|v| [v; LANES]));
        let start = shear();
        let apart = |a: Sym, b: Sym| first(plus::<Portable>(alike(a), [-1.0; LANES], alike(b))).norm();
        let steps = 20_000;
        let step = std::f32::consts::TAU / omega.length() / steps as f32;
        let mut s = start;
        for k in 0..steps {
            s = first(turned::<Portable>(alike(s), gradient, step));
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
        let (stress, rows) = answered::<Portable>(&motion, None);
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
