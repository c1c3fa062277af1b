//! Settled beds of sand: packing, load on bodies, and penetration.

use std::f64::consts::FRAC_1_SQRT_2;

use super::Broken;
use crate::measures::{HeightMap, fractions, quantile, settled};
use crate::stage::{Observation, Stage, values};

/// Distance of the probe from floor and surface, in diameters [-].
const MARGIN: f64 = 5.0;
/// Number of layers in the probe.
const LAYERS: usize = 4;
/// Time over which forces are averaged [s].
const WINDOW: f64 = 0.25;

/// Measures a bed of `side` [m] that has settled for `watch` [s]: the share of its weight that bodies carry, and its
/// packing.
pub(super) fn bed(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, side) = (stage.value("d")?, stage.value("side")?);
    let [least, most] = weigh_until(stage, stage.value("watch")?)?;
    let (positions, radii) = (stage.positions(), stage.radii());
    let mut tops: Vec<f64> = positions.iter().map(|p| p.z).collect();
    let probe = [MARGIN * d, quantile(&mut tops, 0.99) - MARGIN * d];
    let layers = fractions(&positions, &radii, side * side, probe, LAYERS);
    Ok(Observation {
        values: values([
            ("fraction", layers.iter().sum::<f64>() / LAYERS as f64),
            ("densest layer", layers.iter().copied().fold(0.0, f64::max)),
            ("loosest layer", layers.iter().copied().fold(1.0, f64::min)),
            ("overlap", f64::from(stage.simulation().report().max_overlap)),
            ("least force", least),
            ("most force", most),
        ]),
        guides: positions.len(),
        ..Observation::default()
    })
}

/// Waits for rest, until `limit` [s] at most, and a second more, lowers the floor by `sink` [m] at `speed` [m/s], and
/// waits for another second. Measures the share of the weight that floor and walls carry together, from the first
/// motion on.
pub(super) fn weigh(stage: &mut Stage) -> Result<Observation, Broken> {
    let (sink, speed) = (stage.value("sink")?, stage.value("speed")?);
    stage.until_rest(stage.value("d")?, stage.value("limit")?)?;
    stage.carried(1.0)?;
    stage.drive("floor", glam::DVec3::new(0.0, 0.0, -speed));
    let sinking = weigh_until(stage, stage.time() + sink / speed)?;
    stage.drive("floor", glam::DVec3::ZERO);
    let after = weigh_until(stage, stage.time() + 1.0)?;
    Ok(Observation {
        values: values([
            ("least force", sinking[0].min(after[0])),
            ("most force", sinking[1].max(after[1])),
        ]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// Returns the smallest and largest share of the weight that bodies carry, averaged over windows, up to `time` [s].
fn weigh_until(stage: &mut Stage, time: f64) -> Result<[f64; 2], Broken> {
    let [mut least, mut most] = [f64::INFINITY, f64::NEG_INFINITY];
    while stage.time() < time - 1e-9 {
        let carried = stage.carried(WINDOW)?;
        [least, most] = [least.min(carried), most.max(carried)];
    }
    Ok([least, most])
}

/// Drops the body `ball` of radius `ball` [m] and `ratio` [-] times the sand's density onto a bed of friction `mu` [-]
/// for `watch` [s], and measures its depth relative to [Uehara03]: depth = 0.14 / μ √ratio D^⅔ H^⅓, with H the total
/// drop from rest.
pub(super) fn ball(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, radius) = (stage.value("d")?, stage.value("ball")?);
    let (ratio, mu) = (stage.value("ratio")?, stage.value("mu")?);
    let (positions, radii) = (stage.positions(), stage.radii());
    let map = HeightMap::new(&positions, &radii, &settled(&positions, d), 2.0 * d);
    let below = map.points().filter(|(at, _)| at.length() < radius / FRAC_1_SQRT_2);
    let heights: Vec<f64> = below.map(|(_, height)| height).collect();
    let surface = crate::measures::mean(&heights);
    let start = stage.body("ball").pose.position.z;
    stage.advance_to(stage.value("watch")?)?;
    let end = stage.body("ball").pose.position.z;
    let depth = surface - (end - radius);
    let expected = 0.14 / mu * ratio.sqrt() * (2.0 * radius).powf(2.0 / 3.0) * (start - end).cbrt();
    Ok(Observation {
        values: values([
            ("depth", depth / expected),
            ("depth of the ball", depth / (2.0 * radius)),
        ]),
        guides: positions.len(),
        ..Observation::default()
    })
}
