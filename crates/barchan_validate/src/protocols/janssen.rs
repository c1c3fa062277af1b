//! Janssen effect: sand in a tube is supported by its walls.

use glam::DVec3;

use super::Broken;
use crate::expression::GRAVITY;
use crate::stage::{Observation, Stage, values};

/// Waits for rest, until `limit` [s] at most, lowers the floor by `sink` [m] at `speed` [m/s] to mobilize the wall
/// friction everywhere, and measures the floor's mean load over the second half of its motion: relative to the total
/// weight, and to that of a column as high as the tube's radius `tube` [m].
pub(super) fn sink(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, limit) = (stage.value("d")?, stage.value("limit")?);
    let (depth, speed, radius) = (stage.value("sink")?, stage.value("speed")?, stage.value("tube")?);
    stage.until_rest(d, limit)?;
    let mut tops: Vec<f64> = stage.positions().iter().map(|p| p.z).collect();
    let top = crate::measures::quantile(&mut tops, 0.99);
    stage.drive("floor", DVec3::new(0.0, 0.0, -speed));
    let start = stage.time();
    let (mut load, mut frames) = (0.0, 0.0);
    while stage.time() < start + depth / speed {
        stage.advance()?;
        if stage.time() > start + 0.5 * depth / speed {
            load -= stage.body("floor").wrench.force.z;
            frames += 1.0;
        }
    }
    let masses = &stage.simulation().world().guides.mass;
    let weight = GRAVITY * masses.iter().map(|&m| f64::from(m)).sum::<f64>();
    load /= frames;
    Ok(Observation {
        values: values([
            ("floor load", load / (weight * radius / top)),
            ("share", load / weight),
            ("height", top / radius),
        ]),
        guides: masses.len(),
        ..Observation::default()
    })
}
