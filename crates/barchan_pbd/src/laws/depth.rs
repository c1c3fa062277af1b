//! How deep sand may be for the time step.

/// Layers of guides that the longest step carries [-].
const BORNE: f32 = 11.0;
/// Least factor on the step [-].
const LEAST: f32 = 0.5;

/// What contacts carry for each layer, of its weight [-]: they lean, and press sideways. Measured at the floor of a bed 43 layers deep.
const PER_LAYER: f32 = 2.0;

/// Layers of guides on sand whose contacts carry `load` times its own weight [-].
pub(crate) fn layers(load: f32) -> f32 {
    load / PER_LAYER
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
    fn deep_sand_gives_way_no_more_than_shallow_sand_until_the_step_is_halved() {
        assert_eq!((shortening(0.0), shortening(BORNE)), (1.0, 1.0));
        let give = |layers: f32| layers * shortening(layers).powi(2);
        assert!((give(30.0) - BORNE).abs() < 1e-4 && (give(50.0) - BORNE).abs() < 1e-4);
        assert_eq!(shortening(1e9), LEAST);
    }
}
