//! Sand between dry and wet: properties that depend on its wetness w [-], and drying.

/// A constant of the material between its `dry` and `wet` value: [Ihmsen13] interpolate viscosity and cohesion so.
#[inline]
pub(crate) fn between(dry: f32, wet: f32, wetness: f32) -> f32 {
    dry + wetness * (wet - dry)
}

/// Part of the wetness that is left after `step` [s] of drying with the time constant `time` [s]: e^(-Δt/τ).
pub(crate) fn left(step: f32, time: f32) -> f32 {
    (-step / time).exp()
}

/// Part of the difference to its neighbors that a guide among them gives away in `step` [s], with the time constant `time` [s]: no more than
/// half, so that it never overshoots.
pub(crate) fn shared(step: f32, time: f32) -> f32 {
    (step / time).min(0.5)
}
