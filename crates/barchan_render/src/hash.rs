//! Noise as a function of a number.

/// Returns well mixed bits of `n`: the PCG hash, [Jarzynski20] listing 1.
pub(crate) fn bits(n: u32) -> u32 {
    let state = n.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// Returns the byte `k` of `bits` as a number in [0, 1].
pub(crate) fn byte(bits: u32, k: u32) -> f32 {
    ((bits >> (8 * k)) & 0xFF) as f32 / 255.0
}

/// Returns noise in [0, 1) that differs much between neighboring pixels, so that it averages out over few pixels:
/// interleaved gradient noise, [Jimenez14].
pub(crate) fn gradient_noise(x: u32, y: u32) -> f32 {
    (52.982_918 * (0.067_110_56 * x as f32 + 0.005_837_15 * y as f32).fract()).fract()
}
