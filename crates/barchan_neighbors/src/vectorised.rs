//! One function, compiled for several instruction sets.

/// A function that is compiled for AVX-512 and AVX2 too, and chosen by what the machine has. Nothing is fused or reordered, so
/// the bits are the same on any.
///
/// `fn name(arguments) = body` calls `body(arguments)`, which is to be `#[inline(always)]`. A list `[Wide, Half, Any]` before it
/// names the type that `body` gets as its parameter on a machine with AVX-512, with AVX2, and on any.
#[macro_export]
macro_rules! vectorised {
    ([$wide:ty, $half:ty, $any:ty] $($function:tt)*) => {
        $crate::vectorised! { @ [::<$wide>] [::<$half>] [::<$any>] $($function)* }
    };
    (@ [$($wide:tt)*] [$($half:tt)*] [$($any:tt)*]
        $(#[$doc:meta])* $vis:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $body:ident
    ) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "columns of one loop")]
        $vis fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,popcnt")]
                fn wide($($argument: $type),*) {
                    $body $($wide)* ($($argument),*);
                }
                #[target_feature(enable = "avx2,popcnt")]
                fn half($($argument: $type),*) {
                    $body $($half)* ($($argument),*);
                }
                match $crate::Level::best() {
                    // SAFETY: `best` returns only what this machine has.
                    $crate::Level::Avx512 => return unsafe { wide($($argument),*) },
                    // SAFETY: as above.
                    $crate::Level::Avx2 => return unsafe { half($($argument),*) },
                    $crate::Level::Scalar => {}
                }
            }
            $body $($any)* ($($argument),*);
        }
    };
    ($($function:tt)*) => {
        $crate::vectorised! { @ [] [] [] $($function)* }
    };
}
