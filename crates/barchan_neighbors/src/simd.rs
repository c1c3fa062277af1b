//! Vector instruction set of this process.

use std::env;
use std::sync::OnceLock;

/// Vector instruction set of hot loops. Every set gives the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// Portable code.
    Scalar,
    /// AVX2 with FMA and bit manipulation (Haswell, Zen and later).
    Avx2,
    /// AVX-512 with BW, DQ and VL (Skylake-X, Zen 4 and later).
    Avx512,
}

/// Environment variable that forces an instruction set by its name.
const VARIABLE: &str = "BARCHAN_SIMD";

impl Simd {
    /// Every set, narrowest first.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// Name in `BARCHAN_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Returns the set that loops use unless given another one: that of `BARCHAN_SIMD`, else the widest of this machine.
    ///
    /// The variable is read once. A value that [`requested`](Self::requested) rejects is ignored.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(|| {
            let widest = || Self::ALL.into_iter().rev().find(|simd| simd.is_available());
            let requested = Self::requested().ok().flatten();
            requested.or_else(widest).unwrap_or(Self::Scalar)
        })
    }

    /// Returns the set that `BARCHAN_SIMD` forces, if any; an error for an unknown name or a set that this machine lacks.
    pub fn requested() -> Result<Option<Self>, String> {
        env::var_os(VARIABLE).map_or(Ok(None), |name| Self::parse(&name.to_string_lossy()).map(Some))
    }

    fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|simd| simd.name() == name);
        let simd = found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{VARIABLE}: `{name}` is none of {names}")
        })?;
        match simd.is_available() {
            true => Ok(simd),
            false => Err(format!("{VARIABLE}: this machine has no {name}")),
        }
    }

    /// Returns true if this machine has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && Self::Avx2.is_available()
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_rejected() {
        for simd in Simd::ALL {
            assert_eq!(Simd::parse(simd.name()).is_ok(), simd.is_available());
        }
        let error = Simd::parse("avx1024").unwrap_err();
        assert_eq!(error, "BARCHAN_SIMD: `avx1024` is none of scalar, avx2, avx512");
    }
}
