//! The start of a run, tried without running it.

use barchan_scene::Scene;
use barchan_world::{Refiner, World};

use crate::forecast::{Forecast, forecast};
use crate::registry;
use crate::simulation::SimulationError;

/// Guides and grains up to which a start is tried with all of them [-]: it takes a second at most.
const MOST: [f64; 2] = [3000.0, 30_000.0];

/// Makes what a run of `scene` makes before its first frame, and fails as it would.
///
/// Bodies, their colliders and the solver are always made. Guides and grains are made if they are few, where packings may
/// differ from estimates, and only counted if they are many. Nothing settles. Returns the world and what a run needs.
pub fn try_start(scene: &Scene) -> Result<(World, Forecast), SimulationError> {
    registry::check_settings(scene)?;
    let needs = forecast(scene)?;
    if needs.filled > MOST[0] {
        let mut world = scene.build_unfilled()?;
        registry::check_bodies(scene, &mut world)?;
        return Ok((world, needs));
    }
    let world = scene.build()?;
    registry::solver(scene, &world)?;
    let mut grains = needs.seeded.round() as usize;
    if needs.grains <= MOST[1] && scene.settle() <= 0.0 {
        let refiner = registry::refiner(scene, &world, &|_| ()).map_err(Box::new)?;
        grains = refiner.map_or(0, |refiner| refiner.len());
    }
    let needs = needs.with_start(scene, world.guides.len(), grains);
    Ok((world, needs))
}
