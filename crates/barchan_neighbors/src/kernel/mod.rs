//! The pair test: rows of neighbours of a few queries among many candidates, for each instruction set.
//!
//! Every path tests `dx*dx + dy*dy + dz*dz < reach*reach` in f32, in this order, without fused operations, so that all
//! of them agree bit for bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::sort::PAD;

/// Instruction set of the pair test. All give the same lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// One candidate at a time.
    Scalar,
    /// 8 candidates at a time.
    Avx2,
    /// 16 candidates at a time.
    Avx512,
}

impl Simd {
    /// The widest that this machine has.
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2]
            .into_iter()
            .find(|simd| simd.is_available())
            .unwrap_or(Self::Scalar)
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("popcnt"),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// Constants of the pair test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) reach: f32,
    pub(crate) scale: f32,
    pub(crate) margin: f32,
    pub(crate) lengths: [f32; 3],
}

/// Queries that share their candidates [-], at most.
pub(crate) const BLOCK: usize = 32;

/// Queries that share their candidates.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) x: [f32; BLOCK],
    pub(crate) y: [f32; BLOCK],
    pub(crate) z: [f32; BLOCK],
    pub(crate) radius: [f32; BLOCK],
    /// Candidate to leave out: the query itself.
    pub(crate) skip: [u32; BLOCK],
    pub(crate) len: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            x: [0.0; BLOCK],
            y: [0.0; BLOCK],
            z: [0.0; BLOCK],
            radius: [0.0; BLOCK],
            skip: [0; BLOCK],
            len: 0,
        }
    }
}

/// Columns of candidates, of which the first `len` count. Each column is at least [`PAD`] longer than `len`, except
/// that `radius` may be empty where radii play no part.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) y: &'a [f32],
    pub(crate) z: &'a [f32],
    pub(crate) radius: &'a [f32],
    pub(crate) id: &'a [u32],
    pub(crate) len: usize,
}

impl Segment<'_> {
    /// Checked once per block, so that the vector loads need no checks of their own.
    fn check(&self, radii: bool) {
        let padded = self.len + PAD;
        assert!(self.x.len() >= padded && self.y.len() >= padded && self.z.len() >= padded && self.id.len() >= padded);
        assert!(!radii || self.radius.len() >= padded);
    }
}

/// Appends the row of each query to `out`, and where it ends to `ends`.
pub(crate) fn rows<const RADII: bool, const PERIODIC: bool>(
    simd: Simd,
    test: &Test,
    block: &Block,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    segments.iter().for_each(|segment| segment.check(RADII));
    match simd {
        Simd::Scalar => scalar::rows::<RADII, PERIODIC>(test, block, segments, out, ends),
        // SAFETY: `Lists` takes only an instruction set that is available; the segments were checked above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { avx2::rows::<RADII, PERIODIC>(test, block, segments, out, ends) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { avx512::rows::<RADII, PERIODIC>(test, block, segments, out, ends) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => scalar::rows::<RADII, PERIODIC>(test, block, segments, out, ends),
    }
}
