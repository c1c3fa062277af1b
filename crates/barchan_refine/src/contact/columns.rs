//! Loops over columns of a chunk's grains.

use barchan_geometry::sdf_grid::{LANES, Lane};

use crate::advect::CHUNK;

/// Uses up `gone` of each of the `gaps`, and lists the grains that have none left, with their number.
#[inline(always)]
pub(super) fn used_up(gaps: &mut [u8], gone: u8) -> ([u8; CHUNK], usize) {
    let (mut due, mut count) = ([0; CHUNK], 0);
    for gap in gaps.iter_mut() {
        *gap = gap.saturating_sub(gone);
    }
    for (k, eight) in (0..).step_by(8).zip(gaps.chunks(8)) {
        if eight.first_chunk().is_some_and(|eight| !has_zero(*eight)) {
            continue;
        }
        for (i, gap) in (k..).zip(eight) {
            due[count % CHUNK] = i;
            count += usize::from(*gap == 0);
        }
    }
    (due, count)
}

/// Returns true if one of eight bytes is 0: subtracting 1 from each sets the highest bit only of a 0 and of bytes that
/// had it before.
#[inline(always)]
fn has_zero(bytes: [u8; 8]) -> bool {
    let bytes = u64::from_le_bytes(bytes);
    bytes.wrapping_sub(u64::from_le_bytes([1; 8])) & !bytes & u64::from_le_bytes([0x80; 8]) != 0
}

/// Gathers `columns` for up to sixteen grains, repeating the last one if there are fewer.
#[inline(always)]
pub(super) fn gathered(columns: &[&mut [f32]; 3], grains: &[u8]) -> [Lane; 3] {
    let mut from = [grains[grains.len() - 1]; LANES];
    from[..grains.len()].copy_from_slice(grains);
    let mut gathered = [[0.0; LANES]; 3];
    for (gathered, column) in gathered.iter_mut().zip(columns) {
        for (to, &i) in gathered.iter_mut().zip(&from) {
            *to = column[usize::from(i)];
        }
    }
    gathered
}

/// The least and the greatest of `values`, sixteen at a time.
#[inline(always)]
pub(super) fn range(values: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let (full, rest) = values.as_chunks::<LANES>();
    let mut last = [values[0]; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for sixteen in full.iter().chain([&last]) {
        for l in 0..LANES {
            low[l] = if sixteen[l] < low[l] { sixteen[l] } else { low[l] };
            high[l] = if sixteen[l] > high[l] { sixteen[l] } else { high[l] };
        }
    }
    // By halves, since one after the other would wait for each other.
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            low[l] = if low[l + half] < low[l] { low[l + half] } else { low[l] };
            high[l] = if high[l + half] > high[l] {
                high[l + half]
            } else {
                high[l]
            };
        }
    }
    (low[0], high[0])
}
