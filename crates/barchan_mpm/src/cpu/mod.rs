//! Loops over guides and nodes: blocks for the threads, every sum in a fixed order.

pub(crate) mod blocks;
pub(crate) mod bodies;
pub(crate) mod lattice;
pub(crate) mod nodes;
pub(crate) mod particles;
pub(crate) mod respond;
pub(crate) mod transfer;
pub(crate) mod walls;

/// Nodes along each side of a block [-].
pub(crate) const BLOCK: usize = 4;
/// Nodes of a block [-].
pub(crate) const NODES: usize = BLOCK * BLOCK * BLOCK;
/// Cells that guides may move out of their block before they are sorted again [-].
pub(crate) const MARGIN: usize = 1;
/// Nodes along each side of a patch [-]: those that the guides of a block reach.
pub(crate) const SIDE: usize = BLOCK + 2 + 2 * MARGIN;
/// Nodes of a patch [-].
pub(crate) const PATCH: usize = SIDE * SIDE * SIDE;

/// Index in a patch of the node at `x`, `y`, `z` from its lowest corner.
#[inline(always)]
pub(crate) fn patch_index(x: usize, y: usize, z: usize) -> usize {
    (x * SIDE + y) * SIDE + z
}

/// Numbers of a node that are summed together: momentum [N s] and mass [kg], or velocity [m/s] and mass.
pub(crate) type Node = glam::Vec4;
