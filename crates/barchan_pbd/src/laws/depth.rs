//! How deep sand may be for the time step.

/// Layers of guides that the longest step carries [-].
const BORNE: f32 = 11.0;
/// Least change of the layers that counts, of what they were [-].
const CHANGE: f32 = 0.15;
/// Least factor on the step [-].
const LEAST: f32 = 0.3;

/// What contacts carry for each layer, of its weight [-]: they lean, and press sideways. Measured at the floor of a bed 43 layers deep.
const PER_LAYER: f32 = 2.0;

/// Layers of guides on sand whose contacts carry `load` times its own weight [-].
pub(crate) fn layers(load: f32) -> f32 {
    load / PER_LAYER
}

/// The layers to go by when `found` were found after `before` [-]: small changes are none, so that the step of sand at rest stays the same.
pub(crate) fn steady(before: f32, found: f32) -> f32 {
    let is_change = (found - before).abs() > CHANGE * before;
    if is_change { found } else { before }
}

/// Factor on the time step [-] of sand whose guides carry up to `layers` of guides [-].
///
/// Passes tell a load to no more than the next contacts, so that sand gives way like an elastic one whose waves go as many diameters in a
/// step as there are passes: by layers · (step / passes)², in diameters and √(d/g). The step keeps that the same.
pub(crate) fn shortening(layers: f32) -> f32 {
    (BORNE / layers.max(BORNE)).sqrt().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_sand_gives_way_no_more_than_shallow_sand_down_to_the_shortest_step() {
        assert_eq!((shortening(0.0), shortening(BORNE)), (1.0, 1.0));
        let give = |layers: f32| layers * shortening(layers).powi(2);
        assert!((give(30.0) - BORNE).abs() < 1e-4 && (give(100.0) - BORNE).abs() < 1e-4);
        assert_eq!(shortening(1e9), LEAST);
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
