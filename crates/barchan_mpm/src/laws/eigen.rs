//! Eigenvalues of symmetric matrices.

use barchan_simd::Real;

/// A symmetric matrix: xx, yy, zz, yz, zx, xy.
pub(crate) type Half<T> = [T; 6];

/// Cycles of rotations [-]. Three leave off-diagonals below rounding for all but nearly equal eigenvalues.
const CYCLES: usize = 4;

/// Index in a [`Half`] of the element at each row and column.
const ELEMENT: [[usize; 3]; 3] = [[0, 5, 4], [5, 1, 3], [4, 3, 2]];

/// Returns eigenvalues and unit eigenvectors of a symmetric matrix, by Jacobi's cyclic rotations. Eigenvalues are in no order; the vectors
/// are a rotation.
#[inline(always)]
pub(crate) fn eigen<T: Real>(matrix: Half<T>) -> ([T; 3], [[T; 3]; 3]) {
    let mut a = matrix;
    let (zero, one) = (a[0].like(0.0), a[0].like(1.0));
    let mut vectors = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    for _ in 0..CYCLES {
        for (p, q, r) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let coupling = a[ELEMENT[p][q]];
            let difference = a[q] - a[p];
            let twice = coupling + coupling;
            let root = (difference * difference + twice * twice).sqrt();
            let size = difference.max(zero - difference) + root;
            let signed = T::select(difference.lt(zero), zero - twice, twice);
            let tangent = signed / size.max(one.like(f32::MIN_POSITIVE));
            let cosine = one / (one + tangent * tangent).sqrt();
            let sine = tangent * cosine;
            a[p] = a[p] - tangent * coupling;
            a[q] = a[q] + tangent * coupling;
            a[ELEMENT[p][q]] = zero;
            let (with_p, with_q) = (a[ELEMENT[r][p]], a[ELEMENT[r][q]]);
            a[ELEMENT[r][p]] = cosine * with_p - sine * with_q;
            a[ELEMENT[r][q]] = sine * with_p + cosine * with_q;
            for axis in 0..3 {
                let (own, other) = (vectors[p][axis], vectors[q][axis]);
                vectors[p][axis] = cosine * own - sine * other;
                vectors[q][axis] = sine * own + cosine * other;
            }
        }
    }
    ([a[0], a[1], a[2]], vectors)
}

/// Σ valueₖ vₖ vₖᵀ.
#[inline(always)]
pub(crate) fn compose<T: Real>(values: [T; 3], vectors: [[T; 3]; 3]) -> Half<T> {
    let element = |r: usize, c: usize| {
        values[0] * vectors[0][r] * vectors[0][c]
            + values[1] * vectors[1][r] * vectors[1][c]
            + values[2] * vectors[2][r] * vectors[2][c]
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

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::random::Stream;
    use barchan_simd::{Level, Simd, dispatch};

    #[inline(always)]
    fn solve<S: Simd>(simd: S, matrices: &[[f32; 8]; 6], values: &mut [[f32; 8]; 3], vectors: &mut [[[f32; 8]; 3]; 3]) {
        let found = eigen(matrices.map(|lane| simd.load8(&lane)));
        *values = found.0.map(Into::into);
        *vectors = found.1.map(|vector| vector.map(Into::into));
    }

    fn check(matrix: Half<f32>) {
        let (values, vectors) = eigen(matrix);
        let size = matrix.iter().fold(0.0f32, |size, x| size.max(x.abs()));
        let back = compose(values, vectors);
        for (found, wanted) in back.iter().zip(&matrix) {
            assert!((found - wanted).abs() <= 3e-6 * size, "{matrix:?}: {back:?}");
        }
        for a in 0..3 {
            for b in 0..3 {
                let product = f32::dot(vectors[a], vectors[b]);
                assert!((product - f32::from(a == b)).abs() < 3e-6, "{matrix:?}: {product}");
            }
        }
        let [x, y, z] = vectors;
        let cross = [
            x[1] * y[2] - x[2] * y[1],
            x[2] * y[0] - x[0] * y[2],
            x[0] * y[1] - x[1] * y[0],
        ];
        assert!((f32::dot(cross, z) - 1.0).abs() < 3e-6, "{matrix:?} gives a reflection");
    }

    #[test]
    fn random_degenerate_and_nearly_equal_matrices_are_composed_of_what_is_found() {
        let mut stream = Stream::new(3, 0);
        for k in 0..4000 {
            let scale = 10f32.powi(k % 13 - 9);
            let matrix = [0; 6].map(|_| scale * (2.0 * stream.unit() - 1.0) as f32);
            check(matrix);
            // Rank one, and close to a multiple of one.
            let v = [0; 3].map(|_| (2.0 * stream.unit() - 1.0) as f32);
            check([
                v[0] * v[0],
                v[1] * v[1],
                v[2] * v[2],
                v[1] * v[2],
                v[2] * v[0],
                v[0] * v[1],
            ]);
            let near = matrix.map(|x| 1e-6 * x / scale);
            check([1.0 + near[0], 1.0 + near[1], 1.0 + near[2], near[3], near[4], near[5]]);
        }
        check([0.0; 6]);
        check([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        check([2.0, -3.0, 2.0, 0.0, 0.0, 0.0]);
        check([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn eigenvalues_of_known_matrices_are_found() {
        // Pure shear of 0.3 has ±0.3 and 0.
        let (mut values, _) = eigen([0.0, 0.0, 0.0, 0.0, 0.0, 0.3f32]);
        values.sort_by(f32::total_cmp);
        for (found, wanted) in values.iter().zip([-0.3, 0.0, 0.3]) {
            assert!((found - wanted).abs() < 1e-7, "{values:?}");
        }
    }

    #[test]
    fn every_level_gives_the_bits_of_plain_numbers() {
        let mut stream = Stream::new(5, 0);
        for _ in 0..200 {
            let matrices = [0; 6].map(|_| [0; 8].map(|_| (2.0 * stream.unit() - 1.0) as f32));
            for level in Level::available() {
                let (mut values, mut vectors) = ([[0.0; 8]; 3], [[[0.0; 8]; 3]; 3]);
                dispatch!(level, simd => solve(simd, &matrices, &mut values, &mut vectors));
                for l in 0..8 {
                    let (plain, axes) = eigen(matrices.map(|lane| lane[l]));
                    assert_eq!(values.map(|lane| lane[l]).map(f32::to_bits), plain.map(f32::to_bits));
                    assert_eq!(vectors.map(|v| v.map(|lane| lane[l])), axes);
                }
            }
        }
    }
}
