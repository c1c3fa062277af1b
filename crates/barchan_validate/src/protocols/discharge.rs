//! Sand runs out through a hole.

use std::f64::consts::PI;

use glam::DVec3;

use super::Broken;
use crate::measures::{discharge, mean};
use crate::stage::{Observation, Stage, values};

/// Until nothing has come out for half a second, no longer than until `limit` [s]. Guides above z = 0 are inside. Beverloo's constant
/// is that of the sand just above the hole, as wide and as high as it is: flow is looser than what lies.
pub(super) fn run_out(stage: &mut Stage) -> Result<Observation, Broken> {
    let (limit, hole, d) = (stage.value("limit")?, stage.value("hole")?, stage.value("d")?);
    let inside = |stage: &Stage| stage.places().iter().filter(|p| p.z > 0.0).count() as f64;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let mass = f64::from(stage.simulation().world().guides.mass.iter().sum::<f32>()) / seen.guides as f64;
    let is_above_hole = |p: &DVec3| p.z > 0.0 && p.z < hole && p.truncate().length() < 0.5 * hole;
    let above_hole = |stage: &Stage| stage.places().iter().filter(|p| is_above_hole(p)).count() as f64;
    let mut remaining = vec![[0.0, inside(stage)]];
    let mut flowing = vec![above_hole(stage)];
    let mut changed = 0.0;
    while stage.time() < limit {
        stage.advance()?;
        let now = inside(stage);
        if now < remaining[remaining.len() - 1][1] {
            changed = stage.time();
        } else if stage.time() - changed > 0.5 {
            break;
        }
        remaining.push([stage.time(), now]);
        flowing.push(above_hole(stage));
    }
    if stage.time() >= limit {
        seen.notes.push(format!("still running after {limit:.0} s"));
    }
    // The last trickle from the banks is not part of the discharge.
    let all = remaining[0][1] - remaining[remaining.len() - 1][1];
    let end = remaining.iter().position(|p| remaining[0][1] - p[1] >= 0.95 * all);
    remaining.truncate(end.map_or(remaining.len(), |end| end + 1));
    let Some(found) = discharge(&remaining) else {
        seen.notes.push("nothing came out".to_owned());
        seen.values = values([("rate", 0.0), ("head", f64::NAN)]);
        return Ok(seen);
    };
    let share = |p: &[f64; 2]| (remaining[0][1] - p[1]) / all;
    let steady = |p: &[f64; 2]| (0.2..0.8).contains(&share(p));
    let counts: Vec<f64> = remaining
        .iter()
        .zip(&flowing)
        .filter(|(p, _)| steady(p))
        .map(|(_, n)| *n)
        .collect();
    let density = mean(&counts) * mass / (PI / 4.0 * hole.powi(3));
    let rate = found.rate * mass;
    seen.values = values([
        ("rate", rate),
        ("head", found.head),
        (
            "constant",
            rate / (density * 9.81f64.sqrt() * (hole - 1.4 * d).powf(2.5)),
        ),
    ]);
    match found.variation {
        Some(variation) => seen.values.push(("variation".into(), variation)),
        None => seen.notes.push("too few guides for the rate's scatter".to_owned()),
    }
    Ok(seen)
}
