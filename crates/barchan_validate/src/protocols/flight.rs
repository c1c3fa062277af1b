//! Grains in flight: dispersal, and where they land.

use barchan::refine::measures::{Dispersal, Quality, Velocities, dispersal, edge_fano};

use super::Broken;
use super::grains::{largest_radius, quality, refiner};
use crate::stage::{Observation, Stage, values};

/// Runs a scene for `run` [s] and measures the dispersal of the grains in flight in its last frame. With `watch` [s] above zero
/// it then goes on for as long, and measures the grains at edges, and their mass against that of the guides.
pub(super) fn flight(stage: &mut Stage) -> Result<Observation, Broken> {
    let (run, watch) = (stage.value("run")?, stage.value("watch")?);
    while stage.time() < run - 1.5 * stage.frame_duration() {
        stage.advance()?;
    }
    let before = velocities(stage);
    stage.advance()?;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let simulation = stage.simulation();
    match dispersal(
        simulation.world(),
        refiner(stage).grains(),
        &before,
        stage.frame_duration(),
    ) {
        None => seen.notes.push("next to nothing in flight".to_owned()),
        Some(Dispersal {
            guides,
            grains,
            near,
            pairs,
            fano,
        }) => {
            seen.values
                .extend(values([("near", near), ("pairs", pairs), ("Fano ratio", fano)]));
            seen.notes
                .push(format!("{grains} grains and {guides} guides in flight"));
        }
    }
    if watch > 0.0 {
        let diameter = 2.0 * largest_radius(simulation.world());
        if stage.until_rest(diameter, watch)?.is_none() {
            seen.notes.push("never at rest".to_owned());
        }
        let Quality { mass, .. } = quality(stage);
        if let Some(mass) = mass {
            seen.values.push(("surface error".into(), mass.surface));
        }
        if let Some(fano) = edge_fano(stage.simulation().world(), refiner(stage).grains()) {
            seen.notes.push(format!("Fano ratio at edges {fano:.1}"));
        }
    }
    Ok(seen)
}

fn velocities(stage: &Stage) -> Velocities {
    Velocities::of(stage.simulation().world(), refiner(stage).grains())
}
