//! Tries the start of a run without running it.

use barchan_scene::Scene;
use barchan_world::{Refiner, World};

use crate::forecast::{Forecast, forecast};
use crate::registry;
use crate::simulation::SimulationError;

/// Largest numbers of guides and grains for which a start is tried in full [-]: takes a second at most.
const MAX_PARTICLES: [f64; 2] = [3000.0, 30_000.0];

/// Builds everything that a run of `scene` needs before its first frame, and fails as it would.
///
/// Bodies, their colliders and the solver are always built. Guides and grains are made if there are few, because
/// packings may differ from estimates, and only counted if there are many. Nothing settles. Returns the world and the
/// forecast.
pub fn try_start(scene: &Scene) -> Result<(World, Forecast), SimulationError> {
    registry::check_settings(scene)?;
    let needs = forecast(scene)?;
    if needs.filled > MAX_PARTICLES[0] {
        let mut world = scene.build_unfilled()?;
        registry::check_bodies(scene, &mut world)?;
        return Ok((world, needs));
    }
    let world = scene.build()?;
    registry::solver(scene, &world)?;
    let mut grains = needs.seeded.round() as usize;
    if needs.grains <= MAX_PARTICLES[1] && scene.settle() <= 0.0 {
        let refiner = registry::refiner(scene, &world, &|_| ()).map_err(Box::new)?;
        grains = refiner.map_or(0, |refiner| refiner.len());
    }
    let needs = needs.with_start(scene, world.guides.len(), grains);
    Ok((world, needs))
}
