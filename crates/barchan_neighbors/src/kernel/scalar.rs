//! One candidate at a time: the reference.

use super::{Block, Segment, Test};
use crate::axes::nearest_image;

pub(super) fn rows<const RADII: bool, const PERIODIC: bool>(
    test: &Test,
    block: &Block<'_>,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let difference = |a: f32, b: f32, axis: usize| {
        if PERIODIC {
            nearest_image(a, b, test.lengths[axis])
        } else {
            a - b
        }
    };
    for q in 0..block.len() {
        for s in segments {
            for c in 0..s.len {
                let dx = difference(block.x[q], s.x[c], 0);
                let dy = difference(block.y[q], s.y[c], 1);
                let dz = difference(block.z[q], s.z[c], 2);
                let reach = if RADII {
                    test.scale * (block.radius[q] + s.radius[c]) + test.margin
                } else {
                    test.reach
                };
                if dx * dx + dy * dy + dz * dz < reach * reach && s.id[c] != block.skip(q) {
                    out.push(s.id[c]);
                }
            }
        }
        ends.push(out.len());
    }
}
