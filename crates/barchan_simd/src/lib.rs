//! Vector code: one function for every instruction set.
//!
//! A loop is a function over a token `S: Simd`, which proves the instruction set, and is called through [`vectorized!`] or
//! [`dispatch!`]. Vectors have a fixed number of lanes, [`f32x8`] or [`f32x16`], whatever the machine's registers hold; nothing is fused
//! unless the code calls [`Real::mul_add`], and sums run in a fixed order. Every [`Level`] therefore gives the same bits.
//!
//! Equations are written once over [`Real`], which a plain `f32` is too, so that tests and loops execute the same function.
//!
//! ```
//! use barchan_simd::{Level, Real, Simd, dispatch};
//!
//! /// max(0, 1 - x²).
//! #[inline(always)]
//! fn weight<T: Real>(x: T) -> T {
//!     (x.like(1.0) - x * x).max(x.like(0.0))
//! }
//!
//! #[inline(always)]
//! fn weights<S: Simd>(simd: S, values: &mut [f32; 8]) {
//!     *values = weight(simd.load8(values)).into();
//! }
//!
//! let mut values = [0.0, 0.5, 1.0, 1.5, 2.0, -0.5, -1.0, -2.0];
//! let expected = values.map(weight);
//! for level in Level::available() {
//!     let mut found = values;
//!     dispatch!(level, simd => weights(simd, &mut found));
//!     assert_eq!(found, expected);
//! }
//! ```
//!
//! Vectors, masks and tokens are those of `fearless_simd`. Added here are what it lacks or defines per machine: gathers of rows as columns and
//! back, packing by a mask without a zeroed rest, sums in a fixed order, and a maximum and minimum whose result for NaN and zeros of
//! both signs is that of the x86 instruction everywhere.

mod append;
mod gather;
mod level;
mod packing;
mod real;
mod simd;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use append::Appender;
#[cfg(target_arch = "x86_64")]
pub use fearless_simd::x86::{Avx2, Avx512};
pub use fearless_simd::{f32x4, f32x8, f32x16, f64x8, kernel, mask32x8, mask32x16, u32x8, u32x16};
pub use gather::{Gather, block, block_mut};
pub use level::{Level, Portable, Token};
pub use packing::PACKING;
pub use real::Real;
pub use simd::Simd;

/// Evaluates an expression for the instruction set of a [`Level`]: `dispatch!(level, simd => function(simd, arguments))`.
///
/// The function must be `#[inline(always)]`: only then is it compiled for the instruction set.
///
/// # Panics
/// Panics if the machine lacks the level.
#[macro_export]
macro_rules! dispatch {
    ($level:expr, $simd:ident => $body:expr) => {
        match $crate::Level::token($level).expect("a level of this machine") {
            $crate::Token::Scalar($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::Token::Avx2($simd) => $crate::Simd::within(
                $simd,
                #[inline(always)]
                || $body,
            ),
            #[cfg(target_arch = "x86_64")]
            $crate::Token::Avx512($simd) => $crate::Simd::within(
                $simd,
                #[inline(always)]
                || $body,
            ),
        }
    };
}

/// A function that is compiled for every instruction set and runs on [`Level::best`].
///
/// `fn name(arguments) = body` calls `body(simd, arguments)`, which must be `#[inline(always)]`. Arguments reach it as such, not through
/// a closure as with [`dispatch!`], so that the compiler knows that references do not overlap.
#[macro_export]
macro_rules! vectorized {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $body:ident) => {
        $crate::vectorized! { $(#[$doc])* $vis fn $name(; $($argument: $type),*) = $body at $crate::Level::best() }
    };
    (
        $(#[$doc:meta])* $vis:vis fn $name:ident(level: Level, $($argument:ident: $type:ty),* $(,)?) = $body:ident
    ) => {
        $crate::vectorized! { $(#[$doc])* $vis fn $name(level: $crate::Level; $($argument: $type),*) = $body at level }
    };
    (
        $(#[$doc:meta])* $vis:vis fn $name:ident($($level:ident: $level_type:ty)?; $($argument:ident: $type:ty),*)
        = $body:ident at $chosen:expr
    ) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "columns of one loop")]
        $vis fn $name($($level: $level_type,)? $($argument: $type),*) {
            $crate::kernel! {
                #[inline(always)]
                #[allow(clippy::too_many_arguments, reason = "columns of one loop")]
                fn wide(simd: Avx512 $(, $argument: $type)*) {
                    $body(simd, $($argument),*)
                }
            }
            $crate::kernel! {
                #[inline(always)]
                #[allow(clippy::too_many_arguments, reason = "columns of one loop")]
                fn half(simd: Avx2 $(, $argument: $type)*) {
                    $body(simd, $($argument),*)
                }
            }
            match $crate::Level::token($chosen).expect("a level of this machine") {
                $crate::Token::Scalar(simd) => $body(simd, $($argument),*),
                #[cfg(target_arch = "x86_64")]
                $crate::Token::Avx2(simd) => half(simd, $($argument),*),
                #[cfg(target_arch = "x86_64")]
                $crate::Token::Avx512(simd) => wide(simd, $($argument),*),
            }
        }
    };
}
