//! Rapier's tree of bounding boxes and the pairs that it found.

use std::collections::{BTreeMap, BTreeSet};

use super::{Handle, MAX_COUNT, NONE, ensure, ensure_distinct, handle, handles, slots};
use crate::tree::{NoTree, Tree};

/// Bits of a node's data that count its leaves.
const LEAVES: usize = 0x3fff_ffff;

/// Checks the broad phase.
pub(super) fn check(tree: &Tree, colliders: &[Handle]) -> Result<(), NoTree> {
    ensure(tree.is_finite(), "a number that is none")?;
    let leaves = check_tree(tree.get("tree")?)?;
    let known = |index: usize| colliders.iter().any(|collider| collider.0 == index);
    ensure(leaves.keys().all(|&index| known(index)), "an unknown leaf")?;
    for leaf in tree.get("prev_updated_leaves")?.list()? {
        ensure(leaves.contains_key(&leaf.whole()?), "an unknown leaf that was changed")?;
    }
    for pending in handles(tree.get("pending_set_aabb")?)? {
        ensure(colliders.contains(&pending), "an unknown collider that moved")?;
    }
    ensure(
        tree.get("changes_since_optimize")?.whole()? < MAX_COUNT,
        "a count of changes",
    )?;
    check_pairs(tree, colliders)
}

/// Checks pairs and the lists of each collider's partners.
fn check_pairs(tree: &Tree, colliders: &[Handle]) -> Result<(), NoTree> {
    let mut expected = BTreeSet::new();
    for entry in tree.get("pairs")?.list()? {
        let [pair, _] = entry.tuple()?;
        let [a, b] = pair.tuple()?;
        let (a, b) = (handle(a)?, handle(b)?);
        ensure(
            a.0 < b.0 && colliders.contains(&a) && colliders.contains(&b),
            "a pair of unknown colliders",
        )?;
        ensure(expected.insert((a, b)) && expected.insert((b, a)), "a pair twice")?;
    }
    let mut found = BTreeSet::new();
    for (index, entry) in tree.get("pair_adjacency")?.get("data")?.list()?.iter().enumerate() {
        let [generation, others] = entry.tuple()?;
        let generation = generation.whole()?;
        for other in handles(others)? {
            let is_new = generation != NONE && found.insert(((index, generation), other));
            ensure(is_new, "a partner twice")?;
        }
    }
    ensure(found == expected, "partners of other pairs")
}

/// Checks that nodes make a tree; returns the position of each leaf.
fn check_tree(tree: &Tree) -> Result<BTreeMap<usize, usize>, NoTree> {
    let nodes = tree.get("nodes")?.list()?;
    let parents = tree.get("parents")?.list()?;
    ensure(parents.len() == nodes.len(), "another number of parents")?;
    let mut leaves = BTreeMap::new();
    let mut seen = vec![false; nodes.len()];
    // Wide nodes to visit, with the number of leaves that they should have.
    let mut open: Vec<(usize, Option<usize>)> = (0..nodes.len().min(1)).map(|root| (root, None)).collect();
    while let Some((wide, expected)) = open.pop() {
        let node = nodes.get(wide).ok_or_else(|| NoTree(format!("node {wide}")))?;
        ensure(!std::mem::replace(&mut seen[wide], true), "a node twice")?;
        let mut count = 0;
        for (side, name) in ["left", "right"].into_iter().enumerate() {
            let (child, position) = (node.get(name)?, 2 * wide + side);
            let (next, below) = (child.get("children")?.whole()?, child.get("data")?.whole()? & LEAVES);
            count += below;
            match below {
                // Only a tree of one leaf has an empty side.
                0 => ensure(expected.is_none() && side == 1, "a node without leaves")?,
                1 => ensure(leaves.insert(next, position).is_none(), "a leaf twice")?,
                _ => {
                    let back = parents.get(next).map_or(Ok(NONE), Tree::whole)?;
                    ensure(back == position, "a node of another parent")?;
                    open.push((next, Some(below)));
                }
            }
        }
        ensure(
            expected.is_none_or(|expected| expected == count),
            "a wrong count of leaves",
        )?;
    }
    let mut listed = BTreeMap::new();
    for (leaf, position) in slots(tree.get("leaf_node_indices")?)? {
        listed.insert(leaf, position.whole()?);
    }
    ensure(listed == leaves, "leaves at other positions")?;
    let free = tree.get("free_wide_nodes")?.list()?.iter().map(Tree::whole);
    let free = free.collect::<Result<Vec<_>, _>>()?;
    ensure_distinct(&free, nodes.len(), "an unknown free node")?;
    ensure(free.iter().all(|&node| !seen[node]), "a free node that is used")?;
    Ok(leaves)
}
