//! Instruction set of this process.

use std::env;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use fearless_simd::x86::{Avx2, Avx512};

/// Token of the scalar level: what every machine of the architecture has. On x86-64 that is SSE2; the fallback of `fearless_simd` keeps
/// vectors in memory, and takes the compiler minutes per loop.
#[cfg(target_arch = "x86_64")]
pub type Portable = fearless_simd::x86::Sse2;
/// Token of the scalar level.
#[cfg(not(target_arch = "x86_64"))]
pub type Portable = fearless_simd::Fallback;

/// Vector instruction set of hot loops. Every level gives the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Portable code.
    Scalar,
    /// AVX2 with FMA and bit manipulation (Haswell, Zen and later).
    Avx2,
    /// AVX-512 with VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
}

/// Proof that the machine has the instructions of a level.
#[derive(Debug, Clone, Copy)]
pub enum Token {
    /// Portable code.
    Scalar(Portable),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Environment variable that forces a level by its name.
const VARIABLE: &str = "BARCHAN_SIMD";

impl Level {
    /// Every level, narrowest first.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// Name in `BARCHAN_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Returns the levels of this machine, narrowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Returns the level that loops use unless given another one: that of `BARCHAN_SIMD`, else the widest of this machine.
    ///
    /// The variable is read once. A value that [`requested`](Self::requested) rejects is ignored.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let requested = Self::requested().ok().flatten();
            requested.or_else(|| Self::available().last()).unwrap_or(Self::Scalar)
        })
    }

    /// Returns the level that `BARCHAN_SIMD` forces, if any; an error for an unknown name or a level that this machine lacks.
    pub fn requested() -> Result<Option<Self>, String> {
        env::var_os(VARIABLE).map_or(Ok(None), |name| Self::parse(&name.to_string_lossy()).map(Some))
    }

    fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|level| level.name() == name);
        let level = found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{VARIABLE}: `{name}` is none of {names}")
        })?;
        match level.is_available() {
            true => Ok(level),
            false => Err(format!("{VARIABLE}: this machine has no {name}")),
        }
    }

    /// Returns true if this machine has the instructions.
    pub fn is_available(self) -> bool {
        self.token().is_some()
    }

    /// Returns the proof that this machine has the instructions; none if it lacks them.
    #[inline]
    pub fn token(self) -> Option<Token> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Scalar => fearless_simd::Level::baseline().as_sse2().map(Token::Scalar),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Scalar => Some(Token::Scalar(Portable::new())),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => fearless_simd::Level::new().as_avx2().map(Token::Avx2),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => fearless_simd::Level::new().as_avx512().map(Token::Avx512),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_rejected() {
        for level in Level::ALL {
            assert_eq!(Level::parse(level.name()).is_ok(), level.is_available());
        }
        let error = Level::parse("avx1024").unwrap_err();
        assert_eq!(error, "BARCHAN_SIMD: `avx1024` is none of scalar, avx2, avx512");
    }

    #[test]
    fn the_widest_level_is_the_best() {
        if Level::requested() == Ok(None) {
            assert_eq!(Some(Level::best()), Level::available().last());
        }
    }
}
