//! Limit on the depth of sand for the time step.

/// Layers of guides that the longest step supports [-].
const SUPPORTED_LAYERS: f32 = 11.0;
/// Smallest relative change of the layers that counts [-].
const MIN_CHANGE: f32 = 0.15;
/// Smallest factor on the step [-].
const MIN_FACTOR: f32 = 0.3;

/// Load on contacts per layer, as a multiple of its weight [-]: contacts are inclined, and press sideways. Measured at
/// the floor of a bed 43 layers deep.
const PER_LAYER: f32 = 2.0;

/// Layers of guides on sand whose contacts carry `load` times its own weight [-].
pub(crate) fn layers(load: f32) -> f32 {
    load / PER_LAYER
}

/// The layers to go by when `found` were found after `before` [-]: small changes are none, so that the step of sand at rest stays the same.
pub(crate) fn steady(before: f32, found: f32) -> f32 {
    let is_change = (found - before).abs() > MIN_CHANGE * before;
    if is_change { found } else { before }
}

/// Factor on the time step [-] of sand whose guides carry up to `layers` of guides [-].
///
/// A pass carries a load to the next contacts only, so that sand yields like an elastic one whose waves travel as many diameters per
/// step as there are passes: by layers · (step / passes)², in diameters and √(d/g). The step keeps that the same.
pub(crate) fn shortening(layers: f32) -> f32 {
    (SUPPORTED_LAYERS / layers.max(SUPPORTED_LAYERS)).sqrt().max(MIN_FACTOR)
}

/// Time in which impulses undo an inherited overlap, of √(d/g) [-], and the same for each layer of guides.
const RECOVERY_TIME: f32 = 20.0;
const RECOVERY_PER_LAYER: f32 = 0.2;

/// Share of an inherited overlap that impulses undo in a step of `step`, of √(d/g) [-], in sand whose guides carry up to `layers` of guides [-].
///
/// The stabilization moves guides by what their own contacts overlap, so a bed that was pressed together evenly would expand from its
/// surface only, by diffusion. Impulses reach through the bed, since each step starts from those of the last one. Deep beds recover more
/// slowly: impulses that come faster than waves cross the bed would make it bounce.
pub(crate) fn recovery(step: f32, layers: f32) -> f32 {
    let time = RECOVERY_TIME.max(RECOVERY_PER_LAYER * layers);
    if step.is_finite() { (step / time).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_sand_gives_way_no_more_than_shallow_sand_down_to_the_shortest_step() {
        assert_eq!((shortening(0.0), shortening(SUPPORTED_LAYERS)), (1.0, 1.0));
        let give = |layers: f32| layers * shortening(layers).powi(2);
        assert!((give(30.0) - SUPPORTED_LAYERS).abs() < 1e-4 && (give(100.0) - SUPPORTED_LAYERS).abs() < 1e-4);
        assert_eq!(shortening(1e9), MIN_FACTOR);
    }

    #[test]
    fn overlaps_recover_in_the_same_time_for_any_step_and_slower_in_deep_beds() {
        assert!((10.0 * recovery(0.01, 5.0) - recovery(0.1, 5.0)).abs() < 1e-6);
        assert!((recovery(0.1, 5.0) * RECOVERY_TIME - 0.1).abs() < 1e-6);
        assert!((recovery(0.1, 200.0) - 0.5 * recovery(0.1, 100.0)).abs() < 1e-6);
        // Without gravity there is no such time, and nothing presses beds together.
        assert_eq!(recovery(0.0, 0.0), 0.0);
    }

    #[test]
    fn only_what_changes_much_changes_the_step() {
        assert_eq!([steady(10.0, 11.0), steady(10.0, 9.0)], [10.0, 10.0]);
        assert_eq!(
            [steady(10.0, 12.0), steady(10.0, 8.0), steady(0.0, 0.1)],
            [12.0, 8.0, 0.1]
        );
    }
}
