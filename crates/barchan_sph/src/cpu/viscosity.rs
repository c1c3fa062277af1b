//! Artificial viscosity between guides.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::laws::viscosity;

/// Slows guides of `velocity` [m/s] that approach each other, over `step` [s], in `columns.base`: 1/ρ Σ V f ∇W. A pair has the mean α
/// of both.
pub(crate) fn damp(columns: &mut Columns, rows: &[Rows], space: &Space, velocity: &[Vec3], sound: f32, step: f32) {
    let Columns {
        place,
        lump,
        viscosity: alpha,
        base,
        ..
    } = columns;
    let chunks = base.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (base, rows))| {
        for (k, base) in base.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = Vec4::ZERO;
            for (j, slope) in rows.row(k) {
                let viscosity = 0.5 * (alpha[i] + alpha[j]);
                let way = match space.is_open() {
                    true => space.between::<true>(place[i], place[j]),
                    false => space.between::<false>(place[i], place[j]),
                };
                let approach = (velocity[i] - velocity[j]).extend(0.0).dot(way);
                let (support, inverse) = (lump[i].x + lump[j].x, lump[i].z + lump[j].z);
                let factor = viscosity::factor(viscosity, sound, support, inverse, approach, way.length_squared());
                sum += factor * slope * way;
            }
            *base += step * lump[i].z * sum;
        }
    });
}
