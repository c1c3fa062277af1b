//! Sand that has rained into a box without walls.

use super::{Broken, heap::pour};
use crate::measures::{coordination, fractions, quantile};
use crate::stage::{Observation, Stage, values};

/// Distance of the probe from floor and surface, in diameters [-].
const MARGIN: f64 = 5.0;
/// Number of layers in the probe.
const LAYERS: usize = 4;

/// Rains for `pour` [s], waits for rest, until `limit` [s] at most, and measures the packing five diameters below the
/// surface.
pub(super) fn packing(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, side, limit) = (stage.value("d")?, stage.value("side")?, stage.value("limit")?);
    let rest = pour(stage)?;
    let (positions, radii) = (stage.positions(), stage.radii());
    let mut seen = Observation {
        guides: positions.len(),
        ..Observation::default()
    };
    if rest.is_none() {
        seen.notes.push(format!("not at rest after {limit:.0} s"));
    }
    let mut tops: Vec<f64> = positions.iter().map(|p| p.z).collect();
    let probe = [MARGIN * d, quantile(&mut tops, 0.99) - MARGIN * d];
    if probe[1] - probe[0] < LAYERS as f64 * d {
        seen.notes.push("too shallow to be probed".to_owned());
        return Ok(seen);
    }
    let layers = fractions(&positions, &radii, side * side, probe, LAYERS);
    let fraction = layers.iter().sum::<f64>() / LAYERS as f64;
    let uneven = layers.iter().map(|f| (f / fraction - 1.0).abs()).fold(0.0, f64::max);
    let within = |p: glam::DVec3| p.z > probe[0] && p.z < probe[1];
    seen.values = values([
        ("fraction", fraction),
        ("densest layer", layers.iter().copied().fold(0.0, f64::max)),
        ("unevenness", 100.0 * uneven),
        ("contacts", coordination(&positions, &radii, 0.0, &within)),
        ("floor force", stage.carried(0.2)?),
    ]);
    Ok(seen)
}
