//! Pours a heap of sand.

use super::Broken;
use crate::measures::{Slope, flank_along_x, slope};
use crate::stage::{Observation, Stage, values};

/// Pours for `pour` [s] and waits for rest, until `limit` [s] at most.
pub(super) fn pour(stage: &mut Stage) -> Result<Option<f64>, Broken> {
    let pour = stage.value("pour")?;
    stage.advance_to(pour)?;
    Ok(stage.until_rest(stage.value("d")?, stage.value("limit")?)?)
}

/// Pours a heap and measures its slope; if the experiment has `dig`, digs its foot away and measures again.
pub(super) fn heap(stage: &mut Stage) -> Result<Observation, Broken> {
    let d = stage.value("d")?;
    let limit = stage.value("limit")?;
    let rest = pour(stage)?;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    if rest.is_none() {
        seen.notes.push(format!("not at rest after {limit:.0} s"));
    }
    if (stage.guides() as f64) < 0.95 * stage.value("guides")? {
        seen.notes.push("the heap grew into the spout".to_owned());
    }
    let Some(slope) = slope(&stage.positions(), &stage.radii(), d) else {
        // Sand that spreads out flat has no slope.
        seen.values.push(("angle".into(), 0.0));
        seen.notes.push("no heap".to_owned());
        return Ok(seen);
    };
    seen.values = values([
        ("angle", slope.angle.to_degrees()),
        ("straightness", slope.r2),
        ("half-height angle", slope.half_height.to_degrees()),
        ("angle by volume", slope.by_volume.to_degrees()),
        ("sectors", slope.sectors.to_degrees()),
        ("height", slope.height / d),
        ("base", slope.radius / d),
        ("rest", rest.unwrap_or(f64::NAN)),
    ]);
    seen.notes.extend(slope.too_small(d));
    if slope.r2 < 0.97 {
        let half = slope.half_height.to_degrees();
        seen.notes
            .push(format!("curved flank: R² {:.3}, {half:.1}° at half height", slope.r2));
    }
    if stage.value("dig")? > 0.0 {
        dig(stage, d, &slope, &mut seen)?;
    }
    Ok(seen)
}

/// Digs the foot of a heap of slope `before` away on one side up to half of its radius, waits for rest again, and
/// measures that side.
fn dig(stage: &mut Stage, d: f64, before: &Slope, seen: &mut Observation) -> Result<(), Broken> {
    let cut = before.center.x + 0.5 * before.radius;
    stage.remove(|position| position.x > cut);
    let limit = stage.time() + 10.0;
    if stage.until_rest(d, limit)?.is_none() {
        seen.notes.push("not at rest 10 s after digging".to_owned());
    }
    let angle = flank_along_x(&stage.positions(), &stage.radii(), d, before.center, before.height);
    let angle = angle.map_or(f64::NAN, f64::to_degrees);
    seen.values.push(("angle after digging".into(), angle));
    Ok(())
}
