//! Sand runs out through a hole.

use super::Broken;
use crate::measures::discharge;
use crate::stage::{Observation, Stage, values};

/// Until nothing has come out for half a second, no longer than until `limit` [s]. Guides above z = 0 are inside.
pub(super) fn run_out(stage: &mut Stage) -> Result<Observation, Broken> {
    let limit = stage.value("limit")?;
    let inside = |stage: &Stage| stage.places().iter().filter(|p| p.z > 0.0).count() as f64;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let mass = f64::from(stage.simulation().world().guides.mass.iter().sum::<f32>()) / seen.guides as f64;
    let mut remaining = vec![[0.0, inside(stage)]];
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
    seen.values = values([("rate", found.rate * mass), ("head", found.head)]);
    match found.variation {
        Some(variation) => seen.values.push(("variation".into(), variation)),
        None => seen.notes.push("too few guides for the rate's scatter".to_owned()),
    }
    Ok(seen)
}
