//! A block, or a raft of guides, on a slope.

use glam::DVec3;

use super::Broken;
use crate::measures::line;
use crate::stage::{Observation, Stage, values};

/// Returns the position of the sliding object [m]: the body `block` or, without one, the center of all guides.
fn position(stage: &Stage) -> DVec3 {
    let bodies = &stage.simulation().world().bodies;
    if bodies.iter().any(|body| body.name == "block") {
        return stage.to_scene_frame(stage.body("block").center());
    }
    let positions = stage.positions();
    positions.iter().sum::<DVec3>() / positions.len() as f64
}

/// Slides down for `duration` [s] from rest; the acceleration is twice the slope of the displacement over the square of
/// the time.
pub(super) fn slide(stage: &mut Stage) -> Result<Observation, Broken> {
    let duration = stage.value("duration")?;
    let start = position(stage);
    let mut displacements = Vec::new();
    while stage.time() < duration {
        stage.advance()?;
        displacements.push([stage.time().powi(2), (position(stage) - start).length()]);
    }
    let acceleration = line(&displacements).map_or(f64::NAN, |line| 2.0 * line.slope);
    Ok(Observation {
        values: values([("acceleration", acceleration)]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// Sticks for `duration` [s] after a second in which contacts form; measures the creep, in diameters per second.
pub(super) fn stick(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, duration) = (stage.value("d")?, stage.value("duration")?);
    while stage.time() < 1.0 {
        stage.advance()?;
    }
    let start = position(stage);
    while stage.time() < 1.0 + duration {
        stage.advance()?;
    }
    Ok(Observation {
        values: values([("creep", (position(stage) - start).length() / (d * duration))]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// Tilts the slab until the object on it has slid by a quarter of a diameter; measures the angle.
pub(super) fn tilt(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, limit) = (stage.value("d")?, stage.value("duration")?);
    let on_slab = |stage: &Stage| stage.body("slab").pose.local(position(stage));
    let start = on_slab(stage);
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    while stage.time() < limit {
        stage.advance()?;
        let up = stage.body("slab").pose.rotation * DVec3::Z;
        let angle = up.z.clamp(-1.0, 1.0).acos().to_degrees();
        if (on_slab(stage) - start).truncate().length() > 0.25 * d {
            seen.values.push(("critical angle".into(), angle));
            return Ok(seen);
        }
    }
    seen.values.push(("critical angle".into(), f64::NAN));
    seen.notes.push("never slid".to_owned());
    Ok(seen)
}
