//! Rapier's graphs: edges in two linked lists per node.

use std::collections::BTreeMap;

use super::{Handle, NONE, ensure, handle};
use crate::tree::{NoTree, Tree};

/// A graph whose lists are sound.
pub(super) struct Graph<'a> {
    /// Handles of nodes.
    nodes: Vec<Handle>,
    /// Edges.
    pub(super) edges: Vec<Edge<'a>>,
}

/// An edge.
pub(super) struct Edge<'a> {
    /// Its value.
    pub(super) weight: &'a Tree,
    /// Handles of its nodes.
    pub(super) ends: [Handle; 2],
}

impl<'a> Graph<'a> {
    /// Checks that each edge is once in the list of either node.
    pub(super) fn new(tree: &'a Tree) -> Result<Self, NoTree> {
        let (node_trees, edge_trees) = (tree.get("nodes")?.list()?, tree.get("edges")?.list()?);
        let pair = |tree: &Tree, name: &str| -> Result<[usize; 2], NoTree> {
            let [a, b] = tree.get(name)?.tuple()?;
            Ok([a.whole()?, b.whole()?])
        };
        let nodes = node_trees.iter().map(|node| handle(node.get("weight")?));
        let nodes = nodes.collect::<Result<Vec<_>, NoTree>>()?;
        let mut seen = vec![[false; 2]; edge_trees.len()];
        for (k, node) in node_trees.iter().enumerate() {
            for (side, mut next) in pair(node, "next")?.into_iter().enumerate() {
                let mut before = NONE;
                while next != NONE {
                    let edge = edge_trees.get(next).ok_or_else(|| NoTree(format!("edge {next}")))?;
                    let new = !std::mem::replace(&mut seen[next][side], true);
                    let sound = new && pair(edge, "node")?[side] == k && pair(edge, "prev")?[side] == before;
                    ensure(sound, "a broken list of edges")?;
                    before = next;
                    next = pair(edge, "next")?[side];
                }
            }
        }
        ensure(seen.iter().all(|sides| *sides == [true; 2]), "an edge in no list")?;
        let edges = edge_trees.iter().map(|edge| {
            Ok(Edge {
                weight: edge.get("weight")?,
                ends: pair(edge, "node")?.map(|node| nodes[node]),
            })
        });
        Ok(Self {
            edges: edges.collect::<Result<_, NoTree>>()?,
            nodes,
        })
    }

    /// Checks the table from handles to nodes, of whose entries `node` returns the node.
    pub(super) fn check_indices(
        &self,
        table: &Tree,
        node: &dyn Fn(&Tree) -> Result<usize, NoTree>,
    ) -> Result<(), NoTree> {
        let mut known = BTreeMap::new();
        for (index, entry) in table.get("data")?.list()?.iter().enumerate() {
            let [generation, value] = entry.tuple()?;
            let (generation, node) = (generation.whole()?, node(value)?);
            if generation != NONE && node != NONE {
                known.insert(node, (index, generation));
            }
        }
        ensure(
            known.into_iter().eq(self.nodes.iter().copied().enumerate()),
            "nodes of other handles",
        )
    }
}
