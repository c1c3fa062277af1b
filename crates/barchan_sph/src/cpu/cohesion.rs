//! Cohesion between moist guides.

use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::laws::kernel;

/// Adds the attraction over `step` [s] to `columns.base`: -κ Σ 2 m_j/(m + m_j) W x, antisymmetric for any masses.
pub(crate) fn attract(columns: &mut Columns, rows: &[Rows], space: &Space, step: f32) {
    let Columns {
        place,
        lump,
        inverse_mass,
        cohesion,
        base,
        ..
    } = columns;
    let chunks = base.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (base, rows))| {
        for (k, base) in base.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            if cohesion[i] == 0.0 {
                continue;
            }
            for (j, _) in rows.row(k).filter(|&(j, _)| cohesion[j] > 0.0) {
                let way = match space.is_open() {
                    true => space.between::<true>(place[i], place[j]),
                    false => space.between::<false>(place[i], place[j]),
                };
                let value = kernel::value_and_slope(way.length(), 1.0 / (lump[i].x + lump[j].x)).0;
                let share = 2.0 * inverse_mass[i] / (inverse_mass[i] + inverse_mass[j]);
                // κ of a pair is of both; cohesion holds √κ.
                *base -= step * cohesion[i] * cohesion[j] * share * value * way;
            }
        }
    });
}
