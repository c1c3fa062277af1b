//! A heap at rest stays at rest.

use glam::DVec3;

use super::{Broken, heap::pour};
use crate::measures::{HeightMap, front, mean, slope};
use crate::stage::{Observation, Stage, values};

/// Observed state of a heap.
struct HeapState {
    positions: Vec<Option<DVec3>>,
    middle: f64,
    apex: f64,
    foot: f64,
    angle: f64,
}

impl HeapState {
    fn new(stage: &Stage, d: f64) -> Self {
        let positions = stage.positions();
        let radii = stage.radii();
        let map = HeightMap::new(&positions, &radii, &vec![true; positions.len()], 2.0 * d);
        let slope = slope(&positions, &radii, d);
        Self {
            middle: mean(&positions.iter().map(|p| p.z).collect::<Vec<_>>()),
            apex: slope.as_ref().map_or(f64::NAN, |s| s.height),
            angle: slope.map_or(f64::NAN, |s| s.angle.to_degrees()),
            foot: front(&map, map.center(), 0.0),
            positions: stage.positions_by_id(),
        }
    }
}

/// Pours a heap, waits for rest and a second more, and observes it for `watch` [s].
pub(super) fn creep(stage: &mut Stage) -> Result<Observation, Broken> {
    let (d, watch) = (stage.value("d")?, stage.value("watch")?);
    let mut seen = Observation::default();
    if pour(stage)?.is_none() {
        seen.notes.push("never at rest".to_owned());
    }
    let wait = stage.time() + 1.0;
    while stage.time() < wait - 1e-9 {
        stage.advance()?;
    }
    let before = HeapState::new(stage, d);
    let end = stage.time() + watch;
    let (mut speed, mut frames) = (0.0, 0.0);
    while stage.time() < end - 1e-9 {
        stage.advance()?;
        let velocities = stage.velocities();
        speed += velocities.iter().map(|v| v.length()).sum::<f64>() / velocities.len() as f64;
        frames += 1.0;
    }
    let after = HeapState::new(stage, d);
    let guides = &stage.simulation().world().guides;
    let mut displacements = Vec::new();
    for (&id, &radius) in guides.id.iter().zip(&guides.radius) {
        if let (Some(Some(from)), Some(to)) = (before.positions.get(id as usize), after.positions[id as usize]) {
            displacements.push(from.distance(to) / f64::from(radius));
        }
    }
    let still = displacements.iter().filter(|moved| **moved < 0.1).count() as f64 / displacements.len() as f64;
    seen.guides = stage.guides();
    let carried = stage.carried(0.2)?;
    seen.values = values([
        ("still", 100.0 * still),
        ("centre of mass drop", (before.middle - after.middle) / d),
        ("apex loss", 100.0 * (before.apex - after.apex) / before.apex),
        ("foot growth", (after.foot - before.foot) / d),
        ("angle change", (after.angle - before.angle).abs()),
        ("mean speed", speed / frames / (9.81 * d).sqrt()),
        ("floor force", carried),
    ]);
    Ok(seen)
}
