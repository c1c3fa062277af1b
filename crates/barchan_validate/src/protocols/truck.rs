//! Sand in a box that is accelerated sideways.

use glam::DVec3;

use super::Broken;
use crate::measures::{mean, quantile};
use crate::stage::{Observation, Stage, values};

/// Waits for rest, then drives the body `box` for `duration` [s] with `acceleration` [m/s²] along x; measures the creep
/// of guides in it, in diameters.
pub(super) fn truck(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, duration) = (stage.value("d")?, stage.value("duration")?);
    let acceleration = stage.value("acceleration")?;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    if stage.until_rest(d, 5.0)?.is_none() {
        seen.notes.push("never at rest".to_owned());
    }
    let in_box = |stage: &Stage| {
        let origin = stage.to_scene_frame(stage.body("box").pose.position);
        stage
            .positions_by_id()
            .iter()
            .map(|p| p.map(|p| p - origin))
            .collect::<Vec<_>>()
    };
    let before = in_box(stage);
    let start = stage.time();
    let mut velocity = 0.0;
    while stage.time() < start + duration - 1e-9 {
        velocity += acceleration * stage.frame_duration();
        stage.drive("box", DVec3::X * velocity);
        stage.advance()?;
    }
    let after = in_box(stage);
    let pairs = before.iter().zip(&after).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let mut displacements: Vec<f64> = pairs.map(|(a, b)| a.distance(b) / d).collect();
    seen.values = values([
        ("creep", mean(&displacements)),
        ("creep of 99 %", quantile(&mut displacements, 0.99)),
    ]);
    Ok(seen)
}
