//! Real numbers of one or more lanes.

use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Sub, SubAssign};

use fearless_simd::{f32x8, f32x16, mask32x8, mask32x16};

use crate::Simd;

/// Single-precision numbers of one or more lanes. Equations over this trait hold for scalar tests and for vector loops.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + AddAssign + SubAssign
{
    /// One truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask>;

    /// Returns `value` in every lane.
    #[must_use]
    fn like(self, value: f32) -> Self;

    /// The greater one; `other` if either is NaN or both are zeros.
    #[must_use]
    fn max(self, other: Self) -> Self;

    /// The lesser one; `other` if either is NaN or both are zeros.
    #[must_use]
    fn min(self, other: Self) -> Self;

    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;

    /// `self · b + c`, rounded once.
    #[must_use]
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// `c - self · b`, rounded once.
    #[must_use]
    fn neg_mul_add(self, b: Self, c: Self) -> Self;

    /// Rounds to integers, halves to even ones.
    #[must_use]
    fn round_ties_even(self) -> Self;

    /// `self < other`, false for NaN.
    fn lt(self, other: Self) -> Self::Mask;

    /// `self <= other`, false for NaN.
    fn le(self, other: Self) -> Self::Mask;

    /// `a` where `mask` is set, else `b`.
    #[must_use]
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// One bit per lane, the first lane lowest.
    fn bits(mask: Self::Mask) -> u32;

    /// Applies `each` to every lane, one after the other.
    #[must_use]
    fn map(self, each: impl Fn(f32) -> f32) -> Self;

    /// Scalar product of two vectors, summed from x to z.
    #[must_use]
    #[inline(always)]
    fn dot(a: [Self; 3], b: [Self; 3]) -> Self {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }
}

impl Real for f32 {
    type Mask = bool;

    #[inline(always)]
    fn like(self, value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        (-self).mul_add(b, c)
    }
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        self.round_ties_even()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn bits(mask: bool) -> u32 {
        u32::from(mask)
    }
    #[inline(always)]
    fn map(self, each: impl Fn(f32) -> f32) -> Self {
        each(self)
    }
}

/// Implements [`Real`] for a vector by the functions of its token.
macro_rules! real {
    (
        $vector:ident, $mask:ident, $lanes:literal, $splat:ident, $max:ident, $min:ident, $sqrt:ident, $mul_add:ident, $round:ident,
        $lt:ident, $le:ident, $select:ident
    ) => {
        impl<S: Simd> Real for $vector<S> {
            type Mask = $mask<S>;

            #[inline(always)]
            fn like(self, value: f32) -> Self {
                self.simd.$splat(value)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                match S::IS_NATIVE {
                    true => self.simd.$max(self, other),
                    false => self.simd.$select(self.simd.$lt(other, self), self, other),
                }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                match S::IS_NATIVE {
                    true => self.simd.$min(self, other),
                    false => self.simd.$select(self.simd.$lt(self, other), self, other),
                }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.simd.$sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                match S::IS_NATIVE {
                    true => self.simd.$mul_add(self, b, c),
                    false => {
                        let mut all = self;
                        for l in 0..$lanes {
                            all[l] = f32::mul_add(self[l], b[l], c[l]);
                        }
                        all
                    }
                }
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                Real::mul_add(-self, b, c)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                self.simd.$round(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                self.simd.$lt(self, other)
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                self.simd.$le(self, other)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, a: Self, b: Self) -> Self {
                a.simd.$select(mask, a, b)
            }
            #[inline(always)]
            fn bits(mask: Self::Mask) -> u32 {
                fearless_simd::SimdMask::to_bitmask(mask) as u32
            }
            #[inline(always)]
            fn map(mut self, each: impl Fn(f32) -> f32) -> Self {
                for l in 0..$lanes {
                    self[l] = each(self[l]);
                }
                self
            }
        }
    };
}

real!(
    f32x8,
    mask32x8,
    8,
    splat_f32x8,
    max_f32x8,
    min_f32x8,
    sqrt_f32x8,
    mul_add_precise_f32x8,
    round_ties_even_f32x8,
    simd_lt_f32x8,
    simd_le_f32x8,
    select_f32x8
);
real!(
    f32x16,
    mask32x16,
    16,
    splat_f32x16,
    max_f32x16,
    min_f32x16,
    sqrt_f32x16,
    mul_add_precise_f32x16,
    round_ties_even_f32x16,
    simd_lt_f32x16,
    simd_le_f32x16,
    select_f32x16
);
