//! Water in sand: exchange between guides, and drying.

use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::SphSettings;
use crate::laws::{cohesion, kernel, moisture};

/// Lets guides that touch share their `wetness` [-], and dry, over `step` [s]: w ← w + Δt/τ Σ V W (w_j - w), which keeps Σ V w, and then
/// w e^(-Δt/τ).
pub(crate) fn spread(
    wetness: &mut Vec<f32>,
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    settings: &SphSettings,
    step: f32,
) {
    let left = settings.drying_time.map_or(1.0, |time| moisture::left(step, time));
    let shared = settings.wetting_time.map(|time| moisture::shared(step, time));
    let Columns {
        place,
        lump,
        wetter: next,
        ..
    } = columns;
    let chunks = next.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (next, rows))| {
        for (k, next) in next.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = 0.0;
            if shared.is_some() {
                for (j, _) in rows.row(k) {
                    let way = match space.is_open() {
                        true => space.between::<true>(place[i], place[j]),
                        false => space.between::<false>(place[i], place[j]),
                    };
                    let value = kernel::value_and_slope(way.length(), 1.0 / (lump[i].x + lump[j].x)).0;
                    sum += lump[j].y * value * (wetness[j] - wetness[i]);
                }
            }
            *next = left * (wetness[i] + shared.unwrap_or_default() * sum);
        }
    });
    std::mem::swap(wetness, next);
}

/// Gives guides of `wetness` [-] the attraction and viscosity of it.
pub(crate) fn soak(wetness: &[f32], columns: &mut Columns, material: &[u8], settings: &SphSettings) {
    let Columns {
        lump,
        cohesion,
        viscosity,
        half_support,
        ..
    } = columns;
    for (i, &wetness) in wetness.iter().enumerate() {
        let material = usize::from(material[i]);
        let strongest = settings.cohesion.get(material).copied().unwrap_or_default();
        let (volume, density) = (lump[i].y, 1.0 / lump[i].z);
        let tension = cohesion::TENSION * strongest * wetness;
        cohesion[i] = cohesion::attraction(tension, volume, density, 2.0 * half_support[i]).sqrt();
        let [dry, wet] = settings.viscosity.get(material).copied().unwrap_or_default();
        viscosity[i] = moisture::between(dry, wet, wetness);
        lump[i].w = wetness;
    }
}
