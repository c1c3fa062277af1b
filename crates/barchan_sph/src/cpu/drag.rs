//! Air drag on guides.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::laws::drag::{self, Air, Exposed};

/// Takes guides of velocity `velocity` [m/s] along with the air over `step` [s], in `columns.base`: v ← (v + Δt k v_air)/(1 + Δt k), which is
/// stable for any drag. A guide behind another feels less of it: ω = 1 - max(0, max v̂·x̂), 0 where one is straight upwind, [Gissler17].
pub(crate) fn resist(
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    velocity: &[Vec3],
    particle_density: impl Fn(usize) -> f32 + Sync,
    (air, support, step): (&Air, f32, f32),
) {
    let Columns {
        place,
        half_support,
        inverse_mass,
        base,
        ..
    } = columns;
    let wind = air.wind.extend(0.0);
    let chunks = base.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (base, rows))| {
        for (k, base) in base.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let relative = air.wind - velocity[i];
            let speed = relative.length();
            if speed == 0.0 {
                continue;
            }
            let toward = (relative / speed).extend(0.0);
            let (mut shielded, mut neighbors) = (0.0f32, 0);
            for (j, _) in rows.row(k) {
                let way = match space.is_open() {
                    true => space.between::<true>(place[i], place[j]),
                    false => space.between::<false>(place[i], place[j]),
                };
                shielded = shielded.max(toward.dot(way.normalize_or_zero()));
                neighbors += 1;
            }
            let guide = Exposed {
                speed,
                spacing: 2.0 * half_support[i] / support,
                inverse_mass: inverse_mass[i],
                particle_density: particle_density(i),
                crowded: drag::crowded(neighbors, support),
            };
            let part: f32 = step * (1.0 - shielded).max(0.0) * drag::rate(air, guide);
            let pulled: Vec4 = *base + part * wind;
            *base = pulled / (1.0 + part);
        }
    });
}
