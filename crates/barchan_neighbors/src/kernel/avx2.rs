//! 8 candidates at a time. Hits are moved to the front by a permutation looked up by their mask.

use std::arch::x86_64::*;

use super::{Block, Segment, Test};
use crate::PACKING;

const LANES: usize = 8;

/// # Safety
/// Segments must be padded as [`Segment`] says.
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn rows<const RADII: bool, const PERIODIC: bool>(
    test: &Test,
    block: &Block<'_>,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let most = segments.iter().map(|s| s.len).sum::<usize>() + LANES;
    let (scale, margin) = (_mm256_set1_ps(test.scale), _mm256_set1_ps(test.margin));
    let lengths = test.lengths.map(|length| _mm256_set1_ps(length));
    let squared_reach = _mm256_set1_ps(test.reach * test.reach);
    for q in 0..block.len() {
        let [x, y, z] = [block.x[q], block.y[q], block.z[q]].map(|c| _mm256_set1_ps(c));
        let radius = _mm256_set1_ps(if RADII { block.radius[q] } else { 0.0 });
        let skip = _mm256_set1_epi32(block.skip(q).cast_signed());
        out.reserve(most);
        let start = out.len();
        // SAFETY: at most `len` of the capacity, which is what `out` holds.
        let mut end = unsafe { out.as_mut_ptr().add(start) };
        for s in segments {
            let mut c = 0;
            while c < s.len {
                let live = if s.len - c < LANES {
                    (1 << (s.len - c)) - 1
                } else {
                    0xFF
                };
                // SAFETY: `c < len`, and the columns are longer than `len` by more than the lanes of a vector.
                let (cx, cy, cz, id) = unsafe {
                    (
                        _mm256_loadu_ps(s.x.as_ptr().add(c)),
                        _mm256_loadu_ps(s.y.as_ptr().add(c)),
                        _mm256_loadu_ps(s.z.as_ptr().add(c)),
                        _mm256_loadu_si256(s.id.as_ptr().add(c).cast()),
                    )
                };
                let dx = difference::<PERIODIC>(x, cx, lengths[0]);
                let dy = difference::<PERIODIC>(y, cy, lengths[1]);
                let dz = difference::<PERIODIC>(z, cz, lengths[2]);
                let xx_yy = _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy));
                let squared = _mm256_add_ps(xx_yy, _mm256_mul_ps(dz, dz));
                let limit = if RADII {
                    // SAFETY: as above; radii are there where they play a part.
                    let other = unsafe { _mm256_loadu_ps(s.radius.as_ptr().add(c)) };
                    let reach = _mm256_add_ps(_mm256_mul_ps(scale, _mm256_add_ps(radius, other)), margin);
                    _mm256_mul_ps(reach, reach)
                } else {
                    squared_reach
                };
                let near = _mm256_cmp_ps::<_CMP_LT_OQ>(squared, limit);
                let own = _mm256_castsi256_ps(_mm256_cmpeq_epi32(id, skip));
                let hits = _mm256_movemask_ps(_mm256_andnot_ps(own, near)) & live;
                let front = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[hits as usize].cast_signed()));
                // SAFETY: room for all candidates and one vector was reserved.
                unsafe {
                    _mm256_storeu_si256(end.cast(), _mm256_permutevar8x32_epi32(id, front));
                    end = end.add(hits.count_ones() as usize);
                }
                c += LANES;
            }
        }
        // SAFETY: all elements up to `end` were written, within the capacity.
        unsafe {
            let len = end.offset_from_unsigned(out.as_ptr());
            out.set_len(len);
        }
        ends.push(out.len());
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn difference<const PERIODIC: bool>(a: __m256, b: __m256, length: __m256) -> __m256 {
    let d = _mm256_sub_ps(a, b);
    if !PERIODIC {
        return d;
    }
    let half = _mm256_mul_ps(length, _mm256_set1_ps(0.5));
    let above = _mm256_cmp_ps::<_CMP_GT_OQ>(d, half);
    let below = _mm256_cmp_ps::<_CMP_LT_OQ>(d, _mm256_sub_ps(_mm256_setzero_ps(), half));
    let lowered = _mm256_blendv_ps(d, _mm256_sub_ps(d, length), above);
    _mm256_blendv_ps(lowered, _mm256_add_ps(d, length), below)
}
