//! 16 candidates at a time. Hits are compressed in a register and stored as a full vector: compressing into memory is
//! microcoded on Zen 4.

use std::arch::x86_64::*;

use super::{Block, Segment, Test};

const LANES: usize = 16;

/// # Safety
/// Segments must be padded as [`Segment`] says.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) unsafe fn rows<const RADII: bool, const PERIODIC: bool>(
    test: &Test,
    block: &Block,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let most = segments.iter().map(|s| s.len).sum::<usize>() + LANES;
    let (scale, margin) = (_mm512_set1_ps(test.scale), _mm512_set1_ps(test.margin));
    let lengths = test.lengths.map(|length| _mm512_set1_ps(length));
    let squared_reach = _mm512_set1_ps(test.reach * test.reach);
    for q in 0..block.len {
        let [x, y, z] = [block.x[q], block.y[q], block.z[q]].map(|c| _mm512_set1_ps(c));
        let radius = _mm512_set1_ps(block.radius[q]);
        let skip = _mm512_set1_epi32(block.skip[q].cast_signed());
        if out.capacity() - out.len() < most {
            out.reserve(most);
        }
        let start = out.len();
        // SAFETY: at most `len` of the capacity, which is what `out` holds.
        let mut end = unsafe { out.as_mut_ptr().add(start) };
        for s in segments {
            let mut c = 0;
            while c < s.len {
                let live = if s.len - c < LANES {
                    (1 << (s.len - c)) - 1
                } else {
                    u16::MAX
                };
                // SAFETY: `c < len`, and the columns are longer than `len` by the lanes of a vector.
                let (cx, cy, cz, id) = unsafe {
                    (
                        _mm512_loadu_ps(s.x.as_ptr().add(c)),
                        _mm512_loadu_ps(s.y.as_ptr().add(c)),
                        _mm512_loadu_ps(s.z.as_ptr().add(c)),
                        _mm512_loadu_si512(s.id.as_ptr().add(c).cast()),
                    )
                };
                let dx = difference::<PERIODIC>(x, cx, lengths[0]);
                let dy = difference::<PERIODIC>(y, cy, lengths[1]);
                let dz = difference::<PERIODIC>(z, cz, lengths[2]);
                let xx_yy = _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy));
                let squared = _mm512_add_ps(xx_yy, _mm512_mul_ps(dz, dz));
                let limit = if RADII {
                    // SAFETY: as above; radii are there where they play a part.
                    let other = unsafe { _mm512_loadu_ps(s.radius.as_ptr().add(c)) };
                    let reach = _mm512_add_ps(_mm512_mul_ps(scale, _mm512_add_ps(radius, other)), margin);
                    _mm512_mul_ps(reach, reach)
                } else {
                    squared_reach
                };
                let near = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(live, squared, limit);
                let hits = _mm512_mask_cmpneq_epi32_mask(near, id, skip);
                // SAFETY: room for all candidates and one vector was reserved.
                unsafe {
                    _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi32(hits, id));
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
#[target_feature(enable = "avx512f")]
fn difference<const PERIODIC: bool>(a: __m512, b: __m512, length: __m512) -> __m512 {
    let d = _mm512_sub_ps(a, b);
    if !PERIODIC {
        return d;
    }
    let half = _mm512_mul_ps(length, _mm512_set1_ps(0.5));
    let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(d, half);
    let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(d, _mm512_sub_ps(_mm512_setzero_ps(), half));
    _mm512_mask_add_ps(_mm512_mask_sub_ps(d, above, d, length), below, d, length)
}
