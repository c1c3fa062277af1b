//! 16 candidates at a time. Hits are compressed in a register and stored as a full vector: compressing into memory is
//! microcoded on Zen 4.

use std::arch::x86_64::*;

use super::{Block, Gathered, Segment, Test};

const LANES: usize = 16;
/// Candidates of a group [-], whose hits are one word of bits.
const GROUP: usize = 2 * LANES;

/// The constants of the test, in vectors.
struct Constants {
    scale: __m512,
    margin: __m512,
    squared_reach: __m512,
    lengths: [__m512; 3],
}

/// One query, in vectors.
struct Query {
    x: __m512,
    y: __m512,
    z: __m512,
    radius: __m512,
}

/// Rows among gathered candidates: the bits of 32 tests at a time, then one compression of their lane numbers.
/// Stores that split a cache line cost as much as the tests here, so the fewer stores the better.
///
/// # Safety
/// The machine must have the features.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")]
pub(super) unsafe fn gathered_rows<const RADII: bool, const PERIODIC: bool>(
    test: &Test,
    block: &Block<'_>,
    candidates: &Gathered,
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let constants = Constants::new(test);
    let len = candidates.len;
    assert!(len.is_multiple_of(GROUP) && len <= super::ROOM);
    for q in 0..block.len() {
        let query = Query::new::<RADII>(block, q);
        let own = candidates.own.map_or(usize::MAX, |first| first + q);
        out.reserve(len + LANES);
        let start = out.len();
        // SAFETY: at most `len` of the capacity, which is what `out` holds.
        let mut end = unsafe { out.as_mut_ptr().add(start) };
        for group in (0..len).step_by(GROUP) {
            // SAFETY: the columns hold at least `len` elements, a whole number of groups; room for all candidates and
            // one vector was reserved.
            unsafe {
                let near = |c: usize| {
                    let columns = [&candidates.x.0, &candidates.y.0, &candidates.z.0].map(|x| x.as_ptr().add(c));
                    near::<RADII, PERIODIC>(&constants, &query, columns, candidates.radius.0.as_ptr().add(c))
                };
                let bits = u32::from(near(group)) | u32::from(near(group + LANES)) << LANES;
                let own_bit = own.wrapping_sub(group);
                let hits = bits & !(u32::from(own_bit < GROUP) << (own_bit % GROUP));
                end = store_ids(hits, candidates.id.0.as_ptr().add(group), end);
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

/// Stores those of the 32 `ids` whose bit is set in `hits` to `end`, and up to a vector more; gives the new end.
///
/// # Safety
/// 32 ids must be readable, and room for the hits and 16 more writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")]
unsafe fn store_ids(hits: u32, ids: *const u32, end: *mut u32) -> *mut u32 {
    // SAFETY: 32 ids are readable, says the caller.
    let [low, high] = unsafe {
        [
            _mm512_loadu_si512(ids.cast()),
            _mm512_loadu_si512(ids.add(LANES).cast()),
        ]
    };
    let lanes = _mm256_maskz_compress_epi8(hits, lane_numbers());
    let count = hits.count_ones() as usize;
    let first = _mm512_cvtepu8_epi32(_mm256_castsi256_si128(lanes));
    // SAFETY: there is room for the hits and a vector, says the caller.
    unsafe {
        _mm512_storeu_si512(end.cast(), _mm512_permutex2var_epi32(low, first, high));
        if count > LANES {
            let rest = _mm512_cvtepu8_epi32(_mm256_extracti128_si256::<1>(lanes));
            _mm512_storeu_si512(end.add(LANES).cast(), _mm512_permutex2var_epi32(low, rest, high));
        }
        end.add(count)
    }
}

/// The bytes 0 to 31.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_numbers() -> __m256i {
    const NUMBERS: [u8; GROUP] = {
        let mut numbers = [0; GROUP];
        let mut k = 0;
        while k < GROUP {
            numbers[k] = k as u8;
            k += 1;
        }
        numbers
    };
    // SAFETY: 32 bytes are 32 bytes.
    unsafe { _mm256_loadu_si256(NUMBERS.as_ptr().cast()) }
}

/// Rows among candidates in place.
///
/// # Safety
/// The machine must have the features, and segments be padded as [`Segment`] says.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) unsafe fn rows<const RADII: bool, const PERIODIC: bool>(
    test: &Test,
    block: &Block<'_>,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let constants = Constants::new(test);
    let most = segments.iter().map(|s| s.len).sum::<usize>() + LANES;
    for q in 0..block.len() {
        let query = Query::new::<RADII>(block, q);
        let skip = _mm512_set1_epi32(block.skip(q).cast_signed());
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
                    u16::MAX
                };
                // SAFETY: `c < len`, and the columns are longer than `len` by the lanes of a vector; radii are read
                // only where they play a part.
                let (near, id) = unsafe {
                    let columns = [s.x, s.y, s.z].map(|x| x.as_ptr().add(c));
                    let radius = s.radius.as_ptr().wrapping_add(c);
                    let near = near::<RADII, PERIODIC>(&constants, &query, columns, radius);
                    (near, _mm512_loadu_si512(s.id.as_ptr().add(c).cast()))
                };
                let hits = _mm512_mask_cmpneq_epi32_mask(near & live, id, skip);
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

impl Constants {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(test: &Test) -> Self {
        Self {
            scale: _mm512_set1_ps(test.scale),
            margin: _mm512_set1_ps(test.margin),
            squared_reach: _mm512_set1_ps(test.reach * test.reach),
            lengths: test.lengths.map(|length| _mm512_set1_ps(length)),
        }
    }
}

impl Query {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new<const RADII: bool>(block: &Block<'_>, q: usize) -> Self {
        Self {
            x: _mm512_set1_ps(block.x[q]),
            y: _mm512_set1_ps(block.y[q]),
            z: _mm512_set1_ps(block.z[q]),
            radius: _mm512_set1_ps(if RADII { block.radius[q] } else { 0.0 }),
        }
    }
}

/// Which of 16 candidates are near.
///
/// # Safety
/// 16 elements of each column must be readable, of `radius` only if `RADII`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn near<const RADII: bool, const PERIODIC: bool>(
    constants: &Constants,
    query: &Query,
    [x, y, z]: [*const f32; 3],
    radius: *const f32,
) -> u16 {
    // SAFETY: the caller says so.
    let [x, y, z] = unsafe { [_mm512_loadu_ps(x), _mm512_loadu_ps(y), _mm512_loadu_ps(z)] };
    let dx = nearest_image::<PERIODIC>(_mm512_sub_ps(query.x, x), constants.lengths[0]);
    let dy = nearest_image::<PERIODIC>(_mm512_sub_ps(query.y, y), constants.lengths[1]);
    let dz = nearest_image::<PERIODIC>(_mm512_sub_ps(query.z, z), constants.lengths[2]);
    let xx_yy = _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy));
    let squared = _mm512_add_ps(xx_yy, _mm512_mul_ps(dz, dz));
    if !RADII {
        return _mm512_cmp_ps_mask::<_CMP_LT_OQ>(squared, constants.squared_reach);
    }
    // SAFETY: the caller says so.
    let sum = _mm512_add_ps(query.radius, unsafe { _mm512_loadu_ps(radius) });
    let reach = _mm512_add_ps(_mm512_mul_ps(constants.scale, sum), constants.margin);
    _mm512_cmp_ps_mask::<_CMP_LT_OQ>(squared, _mm512_mul_ps(reach, reach))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn nearest_image<const PERIODIC: bool>(d: __m512, length: __m512) -> __m512 {
    if !PERIODIC {
        return d;
    }
    let half = _mm512_mul_ps(length, _mm512_set1_ps(0.5));
    let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(d, half);
    let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(d, _mm512_sub_ps(_mm512_setzero_ps(), half));
    _mm512_mask_add_ps(_mm512_mask_sub_ps(d, above, d, length), below, d, length)
}
