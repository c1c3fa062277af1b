//! Nodes in space, in blocks of four along each axis.

use barchan_world::World;
use glam::{DVec3, Vec3};

use super::BLOCK;

/// Bits of a block's coordinate in its key. Blocks that far apart share a key.
const BITS: u32 = 21;
const MASK: u64 = (1 << BITS) - 1;

/// Coordinates of a block.
pub(crate) type BlockAt = [i32; 3];

/// The nodes' spacing and periods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lattice {
    /// Lowest corner of block zero [m], relative to the world's origin.
    low: DVec3,
    /// Spacing of nodes along each axis [m].
    pub spacing: Vec3,
    /// Side of a block [m].
    block: DVec3,
    /// Blocks per period.
    periods: [Option<i32>; 3],
}

impl Lattice {
    /// Nodes about `spacing` [m] apart in `world`; along periodic axes a whole number of blocks makes a period.
    pub(crate) fn new(world: &World, spacing: f64) -> Self {
        let mut lattice = Self {
            low: DVec3::ZERO,
            spacing: Vec3::splat(spacing as f32),
            block: DVec3::splat(BLOCK as f64 * spacing),
            periods: [None; 3],
        };
        for (axis, range) in world.periodic.iter().enumerate() {
            if let Some([low, high]) = range {
                let count = ((high - low) / lattice.block[axis])
                    .round()
                    .clamp(1.0, f64::from(1 << BITS));
                lattice.low[axis] = low - world.origin[axis];
                lattice.block[axis] = (high - low) / count;
                lattice.spacing[axis] = (lattice.block[axis] / BLOCK as f64) as f32;
                lattice.periods[axis] = Some(count as i32);
            }
        }
        lattice
    }

    /// Side of a block [m].
    pub(crate) fn block(&self) -> Vec3 {
        self.block.as_vec3()
    }

    /// Shortest spacing of nodes [m].
    pub(crate) fn finest(&self) -> f32 {
        self.spacing.min_element()
    }

    /// Returns the block of a guide at `position` [m], and its position in it [m]: its lowest node is one of the block's.
    pub(crate) fn split(&self, position: DVec3) -> (BlockAt, Vec3) {
        let from = position - self.low;
        let block = (from / self.block - 0.5 / BLOCK as f64).floor();
        let local = (from - block * self.block).as_vec3();
        (self.wrapped(block.to_array().map(|b| b as i64)), local)
    }

    /// Returns the block that `steps` blocks from `at` is.
    pub(crate) fn beside(&self, at: BlockAt, steps: [i32; 3]) -> BlockAt {
        self.wrapped([0, 1, 2].map(|axis| i64::from(at[axis]) + i64::from(steps[axis])))
    }

    fn wrapped(&self, at: [i64; 3]) -> BlockAt {
        let half = 1i64 << (BITS - 1);
        [0, 1, 2].map(|axis| match self.periods[axis] {
            Some(count) => at[axis].rem_euclid(i64::from(count)) as i32,
            None => ((at[axis].wrapping_add(half) & MASK as i64) - half) as i32,
        })
    }

    /// Returns the lowest corner of a block [m], relative to the world's origin.
    pub(crate) fn corner(&self, at: BlockAt) -> DVec3 {
        self.low + DVec3::from(at.map(f64::from)) * self.block
    }
}

/// Returns a number that sorts blocks by x, y and z.
pub(crate) fn key(at: BlockAt) -> u64 {
    let half = 1i64 << (BITS - 1);
    at.iter()
        .fold(0, |key, &x| key << BITS | ((i64::from(x) + half) as u64 & MASK))
}

/// Returns the block of a key.
pub(crate) fn of_key(key: u64) -> BlockAt {
    let half = 1i64 << (BITS - 1);
    [2, 1, 0].map(|place| ((key >> (place * BITS) & MASK) as i64 - half) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_testing::{friction, world};

    #[test]
    fn blocks_and_keys_belong_to_each_other() {
        for at in [[0, 0, 0], [-3, 7, 1_000_000], [5, -1_000_000, -1]] {
            assert_eq!(of_key(key(at)), at);
        }
        assert!(key([0, 0, 5]) < key([0, 1, -9]) && key([0, 1, -9]) < key([1, -9, -9]));
    }

    #[test]
    fn a_guide_lies_near_the_nodes_of_its_block() {
        let mut world = world(DVec3::ZERO, friction(0.5));
        world.periodic[1] = Some([1.0, 2.1]);
        let lattice = Lattice::new(&world, 0.05);
        assert!((lattice.spacing.y - 1.1 / 24.0).abs() < 1e-6 || (lattice.spacing.y - 1.1 / 20.0).abs() < 1e-6);
        for position in [DVec3::new(-7.3, 1.01, 0.26), DVec3::new(1e3, 2.09, -1e-9)] {
            let (block, local) = lattice.split(position);
            let cell = local / lattice.spacing - 0.5;
            assert!(cell.min_element() > -1e-3 && cell.max_element() < 4.001, "{cell}");
            let mut apart = lattice.corner(block) + local.as_dvec3() - position;
            apart.y -= 1.1 * (apart.y / 1.1).round();
            assert!(apart.length() < 1e-6, "{apart}");
        }
        assert_eq!(
            lattice.beside([3, 0, 0], [0, -1, 0])[1],
            lattice.periods[1].unwrap() - 1
        );
    }
}
