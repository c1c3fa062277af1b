//! A vertical cut in cohesive sand.

use super::Broken;
use crate::stage::{Observation, Stage, values};

/// Depth of the observed top layer [d].
const LAYER: f64 = 2.5;
/// Length of the observed top behind the face, relative to the cut's height [-]: half of the wedge that slides at a
/// friction angle of 30°.
const EDGE: f64 = 0.3;

/// Trims the settled sand, whose face at x = 0 has just lost its wall, to the height `h` [m], releases it for
/// `duration` [s], and measures the subsidence of the top above the face, in percent of `h`.
pub(super) fn cut(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, h, duration) = (stage.value("d")?, stage.value("h")?, stage.value("duration")?);
    stage.remove(|position| position.z > h - 0.5 * d);
    let before = stage.positions_by_id();
    while stage.time() < duration {
        stage.advance()?;
    }
    let after = stage.positions_by_id();
    let drops: Vec<f64> = before
        .iter()
        .zip(&after)
        .filter_map(|(before, after)| before.zip(*after))
        .filter(|(before, _)| before.z > h - LAYER * d && before.x > -EDGE * h)
        .map(|(before, after)| before.z - after.z)
        .collect();
    let drop = drops.iter().sum::<f64>() / drops.len() as f64;
    Ok(Observation {
        values: values([("top drop", 100.0 * drop / h)]),
        guides: stage.guides(),
        ..Observation::default()
    })
}
