//! Points for benchmarks: a jittered cubic lattice.

use glam::Vec3;

/// `count` points of a cubic lattice of `spacing` [m], x fastest, each moved by a uniform random offset in
/// `-jitter*spacing..jitter*spacing` per axis (`jitter` [-]). The lattice has `ceil(cbrt(count))` sites per side and is
/// filled from the bottom. The same `seed` gives the same points.
pub fn jittered_lattice(count: usize, spacing: f32, jitter: f32, seed: u64) -> Vec<Vec3> {
    let side = (1..).find(|s: &usize| s.pow(3) >= count).unwrap_or(1);
    let mut state = seed;
    let mut offset = move || {
        // SplitMix64 [Steele14]: a counter and a mixer, all that a benchmark needs.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((z >> 40) as f32 / (1u32 << 23) as f32 - 1.0) * jitter
    };
    let site = |i: usize| [i % side, i / side % side, i / (side * side)].map(|c| c as f32);
    (0..count)
        .map(|i| (Vec3::from(site(i)) + Vec3::new(offset(), offset(), offset())) * spacing)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattice_points_stay_within_the_jitter_of_their_sites() {
        let points = jittered_lattice(30, 0.5, 0.4, 3);
        assert_eq!(points.len(), 30);
        for (i, p) in points.iter().enumerate() {
            let site = Vec3::new((i % 4) as f32, (i / 4 % 4) as f32, (i / 16) as f32) * 0.5;
            assert!((*p - site).abs().max_element() <= 0.200_001);
        }
        assert_ne!(points, jittered_lattice(30, 0.5, 0.4, 4));
    }
}
