//! Counter-based random numbers: the n-th number of a stream depends on the seed and on n alone, never on the order of
//! threads, so samples do not depend on the number of threads.

use glam::{DQuat, DVec3, IVec3, Vec3};

/// A stream of random numbers, selected by a seed and a stream number (SplitMix64, [Steele14]).
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// Creates the stream `number` of `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        Self {
            state: mix(mix(seed) ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93)),
        }
    }

    /// Creates the stream of draw `draw` in a grid's `cell`; cells 2²⁰ apart may share a stream.
    pub fn of_cell(seed: u64, cell: IVec3, draw: u64) -> Self {
        let part = |c: i32| u64::from(c as u32) & 0xF_FFFF;
        Self::new(
            seed ^ draw << 32,
            part(cell.x) | part(cell.y) << 20 | part(cell.z) << 40,
        )
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Returns the next number, uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns the next point, uniform in the unit cube, in steps of 2⁻²¹: from one draw instead of three.
    pub fn unit_cube_coarse(&mut self) -> Vec3 {
        let bits = self.bits();
        let part = |shift: u32| (bits >> shift & 0x1F_FFFF) as f32 * (1.0 / (1u32 << 21) as f32);
        Vec3::new(part(0), part(21), part(42))
    }

    /// Returns the next rotation, uniformly distributed, [Shoemake92].
    pub fn rotation(&mut self) -> DQuat {
        let (share, first, second) = (self.unit(), self.unit(), self.unit());
        let (sin_a, cos_a) = (std::f64::consts::TAU * first).sin_cos();
        let (sin_b, cos_b) = (std::f64::consts::TAU * second).sin_cos();
        let (low, high) = ((1.0 - share).sqrt(), share.sqrt());
        DQuat::from_xyzw(low * sin_a, low * cos_a, high * sin_b, high * cos_b)
    }

    /// Returns the next point, uniform in the unit cube.
    pub fn unit_cube(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit())
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_and_variance_of_many_streams_are_those_of_a_uniform_variable() {
        let draws: Vec<f64> = (0..1000)
            .flat_map(|n| {
                let mut stream = Stream::new(7, n);
                (0..10).map(move |_| stream.unit())
            })
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.003, "{variance}");
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, number| Stream::new(seed, number).bits();
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
        assert_eq!(first(1, 5), first(1, 5));
    }
}
