//! Collapse of a column of sand.

use glam::DVec2;

use super::Broken;
use crate::expression::GRAVITY;
use crate::measures::{HeightMap, Rest, RestBand, front, quantile};
use crate::stage::{Observation, Stage, values};

/// Removes the settled sand above `h0` [m]. From the removal of the wall until rest, measures run-out and height
/// relative to the column's radius `r0` [m], and the time at which the front had covered 98 % of its distance, in
/// √(h0/g).
pub(super) fn column(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, r0, h0) = (stage.value("d")?, stage.value("r0")?, stage.value("h0")?);
    let fall = (h0 / GRAVITY).sqrt();
    // Single spheres that roll ahead are not the front; guides made for pictures represent many particles each.
    let least_height = if stage.has_particles() { d } else { 0.0 };
    let limit = 12.0 * fall + 3.0;
    stage.remove(|position| position.z > h0 - 0.5 * d);
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let mut tops: Vec<f64> = stage.positions().iter().map(|p| p.z).collect();
    let top = quantile(&mut tops, 0.99) + 0.5 * d;
    let map = |stage: &Stage| {
        let positions = stage.positions();
        // Guides that fly ahead are not connected to the rest.
        HeightMap::new(&positions, &stage.radii(), &vec![true; positions.len()], 2.0 * d)
    };
    let mut fronts = Vec::new();
    let mut rest = Rest::new(RestBand::PICTURES, GRAVITY, d);
    let mut resting = false;
    while stage.time() < limit && !resting {
        stage.advance()?;
        resting = rest.watch(stage.time(), stage.velocities().iter().map(|v| v.length()));
        fronts.push([stage.time(), front(&map(stage), DVec2::ZERO, least_height)]);
    }
    if !resting {
        seen.notes.push(format!("not at rest after {limit:.1} s"));
    }
    let reach = fronts.last().map_or(0.0, |last| last[1]);
    let arrived = fronts.iter().find(|f| f[1] - r0 >= 0.98 * (reach - r0));
    let map = map(stage);
    let inner = map
        .points()
        .filter(|(p, _)| p.length() < 3.0 * d)
        .map(|(_, height)| height);
    let height = quantile(&mut inner.collect::<Vec<_>>(), 0.5);
    seen.values = values([
        ("run-out", (reach - r0) / r0),
        ("final height", height / r0),
        ("stop time", arrived.map_or(f64::NAN, |f| f[0] / fall)),
        ("height before", top / h0),
    ]);
    Ok(seen)
}
