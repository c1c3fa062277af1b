//! Maps light to 8 bits.

use glam::Vec3;

/// Size of the table of [`Tone`].
const STEPS: usize = 4096;
/// Light displayed as white [-]: the end of the table.
const WHITE: f32 = 16.0;

/// Film response to light: a soft toe and shoulder, close to the ACES reference, [Narkowicz16].
pub(crate) fn film(light: f32) -> f32 {
    let x = 0.6 * light;
    (x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)).clamp(0.0, 1.0)
}

/// Inverts [`film`]: returns the light of `response` below 1 [-], the root of its quadratic equation.
pub(crate) fn exposure(response: f32) -> f32 {
    let (a, b, c) = (2.51 - 2.43 * response, 0.03 - 0.59 * response, -0.14 * response);
    ((b * b - 4.0 * a * c).max(0.0).sqrt() - b) / (2.0 * a) / 0.6
}

/// Converts linear to sRGB, IEC 61966-2-1.
pub(crate) fn encode(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// Converts sRGB to linear, IEC 61966-2-1.
pub(crate) fn decode(srgb: f32) -> f32 {
    if srgb <= 0.040_45 {
        srgb / 12.92
    } else {
        ((srgb + 0.055) / 1.055).powf(2.4)
    }
}

/// Converts an sRGB color to linear RGB [-].
pub fn linear(color: [u8; 3]) -> [f32; 3] {
    color.map(|channel| decode(f32::from(channel) / 255.0))
}

/// [`film`] and [`encode`] as a table over the square root of the light, in which steps are perceptually even.
pub(crate) struct Tone {
    table: Vec<f32>,
}

impl Tone {
    pub fn new() -> Self {
        let light = |k: usize| WHITE * (k as f32 / STEPS as f32).powi(2);
        Self {
            table: (0..=STEPS + 1).map(|k| 255.0 * encode(film(light(k)))).collect(),
        }
    }

    /// Converts light to sRGB bytes. `noise` in [0, 1) decides the rounding, so that slow gradients have no steps.
    pub fn quantize(&self, light: Vec3, noise: f32) -> [u8; 3] {
        light.to_array().map(|light| {
            let at = (light.max(0.0) / WHITE).sqrt().min(1.0) * STEPS as f32;
            let k = at as usize;
            let value = self.table[k] + (at - k as f32) * (self.table[k + 1] - self.table[k]);
            (value + noise) as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_film() {
        let tone = Tone::new();
        for k in 0..2000 {
            let light = k as f32 * 0.002;
            let exact = 255.0 * encode(film(light));
            let quantised = tone.quantize(Vec3::splat(light), 0.5)[0];
            assert!(
                (f32::from(quantised) - exact).abs() < 0.52,
                "{light}: {quantised}, not {exact}"
            );
        }
    }

    #[test]
    fn exposure_undoes_the_film() {
        for k in 0..=90 {
            let response = k as f32 / 100.0;
            assert!((film(exposure(response)) - response).abs() < 1e-5, "{response}");
        }
    }

    #[test]
    fn decoding_undoes_encoding() {
        for k in 0..=255 {
            let srgb = k as f32 / 255.0;
            assert!((encode(decode(srgb)) - srgb).abs() < 1e-5);
        }
    }
}
