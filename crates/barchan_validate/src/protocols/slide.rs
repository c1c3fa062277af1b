//! A block, or a raft of guides, on a slope.

use glam::DVec3;

use super::Broken;
use crate::measures::line;
use crate::stage::{Observation, Stage, values};

/// Where what slides is [m]: the body `block` or, without one, the middle of all guides.
fn place(stage: &Stage) -> DVec3 {
    let bodies = &stage.simulation().world().bodies;
    if bodies.iter().any(|body| body.name == "block") {
        return stage.told(stage.body("block").center());
    }
    let places = stage.places();
    places.iter().sum::<DVec3>() / places.len() as f64
}

/// Slides down for `duration` [s] from rest; the acceleration is twice the slope of the way over the square of the time.
pub(super) fn slide(stage: &mut Stage) -> Result<Observation, Broken> {
    let duration = stage.value("duration")?;
    let start = place(stage);
    let mut ways = Vec::new();
    while stage.time() < duration {
        stage.advance()?;
        ways.push([stage.time().powi(2), (place(stage) - start).length()]);
    }
    let acceleration = line(&ways).map_or(f64::NAN, |line| 2.0 * line.slope);
    Ok(Observation {
        values: values([("acceleration", acceleration)]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// Sticks for `duration` [s] after a second in which contacts form; tells how fast it creeps, in diameters a second.
pub(super) fn stick(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, duration) = (stage.value("d")?, stage.value("duration")?);
    while stage.time() < 1.0 {
        stage.advance()?;
    }
    let start = place(stage);
    while stage.time() < 1.0 + duration {
        stage.advance()?;
    }
    Ok(Observation {
        values: values([("creep", (place(stage) - start).length() / (d * duration))]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// The slab tilts until what lies on it has slid by a quarter of a diameter; tells the angle.
pub(super) fn tilt(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, limit) = (stage.value("d")?, stage.value("duration")?);
    let on_slab = |stage: &Stage| stage.body("slab").pose.local(place(stage));
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
