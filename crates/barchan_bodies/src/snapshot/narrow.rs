//! Rapier's contacts.

use std::collections::BTreeSet;

use rapier3d_f64::prelude::PhysicsWorld;

use super::{Bodies, Graph, Handle, NONE, ensure, handle, parent};
use crate::tree::{NoTree, Tree};

/// Colors of contacts, the last one for those that share bodies; the next one is for joints of several bodies.
const COLORS: usize = 129;

/// Mark of a contact pair without a color.
const UNCOLORED: usize = 255;

/// Flag of contacts that did not exist in the previous step.
const IS_NEW: usize = 1 << 31;

/// Bits of a position within a color.
const COLOR_SHIFT: u32 = 22;

/// Flag of pairs with a dynamic body.
const IS_DYNAMIC: usize = 1 << 15;

/// Most contacts of a manifold that rapier solves at once.
const MAX_SOLVED: usize = 4;

/// A pair of colliders that are near each other.
pub(super) struct Contact {
    /// Bodies of the colliders.
    pub(super) parents: [Option<Handle>; 2],
    /// True if they touch.
    pub(super) is_touching: bool,
}

/// Checks the narrow phase; returns its pairs.
pub(super) fn check(
    tree: &Tree,
    world: &PhysicsWorld,
    bodies: &Bodies,
    colliders: &[Handle],
) -> Result<Vec<Contact>, NoTree> {
    ensure(tree.is_finite(), "a number that is none")?;
    let table = tree.get("graph_indices")?;
    let graph = Graph::new(tree.get("contact_graph")?.get("graph")?)?;
    graph.check_indices(table, &|entry| entry.get("contact_graph_index")?.whole())?;
    let sensors = Graph::new(tree.get("intersection_graph")?.get("graph")?)?;
    sensors.check_indices(table, &|entry| entry.get("intersection_graph_index")?.whole())?;
    ensure(sensors.edges.is_empty(), "contacts of sensors")?;

    let masks = tree.get("body_solver_color_masks")?.list()?;
    let mut colors = vec![0; masks.len()];
    let hints = tree.get("pair_solver_hints")?.list()?;
    ensure(hints.len() <= graph.edges.len(), "hints of unknown contacts")?;
    let (mut contacts, mut positions, mut pairs) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (k, edge) in graph.edges.iter().enumerate() {
        let ends = [
            handle(edge.weight.get("collider1")?)?,
            handle(edge.weight.get("collider2")?)?,
        ];
        let known = ends.iter().all(|end| colliders.contains(end));
        let new = pairs.insert(ends) && pairs.insert([ends[1], ends[0]]);
        ensure(known && new && ends == edge.ends, "a contact of other colliders")?;
        let parents = ends.map(|end| parent(world, end));
        let Tree::Variant("Rigid", rigid) = edge.weight.get("contacts")? else {
            return Err(NoTree("a soft contact".to_owned()));
        };
        let solved = check_pair(rigid, parents, bodies, &mut colors)?;
        let is_touching = solved.iter().any(|manifold| manifold.contacts > 0);
        let hint = hints.get(k).map_or(Ok(0), Tree::whole)?;
        let qualified = solved.iter().filter(|manifold| manifold.contacts > 0).count();
        ensure(
            [0, qualified].contains(&(hint & !IS_DYNAMIC)),
            "a wrong count of manifolds",
        )?;
        positions.extend(
            solved
                .iter()
                .enumerate()
                .map(|(m, manifold)| (manifold.position, (k, m))),
        );
        contacts.push(Contact { parents, is_touching });
    }
    let colors: Vec<Tree> = colors.into_iter().map(Tree::Whole).collect();
    ensure(masks == colors, "colors of other bodies")?;
    check_colors(tree, positions)?;
    check_events(tree, contacts.len())?;
    Ok(contacts)
}

/// A manifold that the solver sees.
struct Solved {
    /// Number of its contacts.
    contacts: usize,
    /// Color and position within it.
    position: usize,
}

/// Checks the contacts of a pair and adds its color to those of its bodies; returns the manifolds that the solver sees.
fn check_pair(
    pair: &Tree,
    parents: [Option<Handle>; 2],
    bodies: &Bodies,
    colors: &mut [u128],
) -> Result<Vec<Solved>, NoTree> {
    let color = pair.get("solver_color")?.whole()?;
    ensure(color < COLORS || color == UNCOLORED, "an unknown color")?;
    for slot in pair.get("solver_color_bodies")?.list()? {
        let slot = slot.whole()?;
        if slot == NONE {
            continue;
        }
        let mask = colors.get_mut(slot).filter(|_| color < COLORS - 1);
        let mask = mask.ok_or_else(|| NoTree("the color of an unknown body".to_owned()))?;
        ensure(*mask & 1 << color == 0, "a color twice")?;
        *mask |= 1 << color;
    }
    let check = |manifolds: &Tree| -> Result<Vec<Solved>, NoTree> {
        let manifolds = manifolds.list()?.iter();
        manifolds
            .map(|manifold| check_manifold(manifold, parents, bodies))
            .collect()
    };
    let manifolds = check(pair.get("manifolds")?)?;
    let clusters = check(pair.get("solver_clusters")?)?;
    if let Tree::Variant(_, workspace) = pair.get("workspace")? {
        check_workspace(workspace, manifolds.len())?;
    }
    Ok(if clusters.is_empty() { manifolds } else { clusters })
}

/// Checks what pairs with shapes of several parts keep: the manifold of each part.
fn check_workspace(workspace: &Tree, manifolds: usize) -> Result<(), NoTree> {
    if let Ok(parts) = workspace.get("interferences") {
        return ensure(parts.list()?.len() == manifolds, "manifolds of other triangles");
    }
    // Keys and values take turns.
    let detectors = workspace.get("sub_detectors")?.list()?;
    for detector in detectors.iter().skip(1).step_by(2) {
        ensure(detector.get("manifold_id")?.whole()? < manifolds, "an unknown manifold")?;
    }
    Ok(())
}

fn check_manifold(manifold: &Tree, parents: [Option<Handle>; 2], bodies: &Bodies) -> Result<Solved, NoTree> {
    let (points, data) = (manifold.get("points")?.list()?, manifold.get("data")?);
    let [first, second] = data.get("solver_body_ids")?.tuple()?;
    for ((side, name), slot) in parents
        .into_iter()
        .zip(["rigid_body1", "rigid_body2"])
        .zip([first, second])
    {
        let found = data.get(name)?;
        let found = if *found == Tree::Nothing {
            None
        } else {
            Some(handle(found)?)
        };
        ensure(found.is_none() || found == side, "a manifold of other bodies")?;
        let active = side.map(|body| bodies.ids[body.0].active_set);
        let slot = slot.whole()?;
        ensure(slot == NONE || Some(slot) == active, "a manifold of another active set")?;
    }
    let solved = data.get("solver_contacts")?.list()?;
    ensure(solved.len() <= MAX_SOLVED, "too many contacts at once")?;
    for contact in solved {
        let [point] = contact.get("contact_id")?.tuple()?;
        ensure(point.whole()? & !IS_NEW < points.len(), "an unknown contact")?;
    }
    Ok(Solved {
        contacts: solved.len(),
        position: data.get("graph_pos")?.whole()?,
    })
}

/// Checks that colors hold the manifolds, at the position that each has.
fn check_colors(tree: &Tree, positions: Vec<(usize, (usize, usize))>) -> Result<(), NoTree> {
    let buckets = tree.get("solver_contact_graph")?.get("buckets")?.list()?;
    ensure(
        buckets.is_empty() || buckets.len() == COLORS + 1,
        "another number of colors",
    )?;
    let mut found = Vec::new();
    for (color, bucket) in buckets.iter().enumerate() {
        for (k, entry) in bucket.list()?.iter().enumerate() {
            let entry = (entry.get("edge")?.whole()?, entry.get("manifold")?.whole()?);
            found.push((color << COLOR_SHIFT | k, entry));
        }
    }
    let mut expected: Vec<_> = positions
        .into_iter()
        .filter(|(position, _)| *position != NONE)
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    ensure(found == expected, "colors of other contacts")
}

/// Checks that no contact reports its force.
fn check_events(tree: &Tree, contacts: usize) -> Result<(), NoTree> {
    let positions = tree.get("force_event_pos")?.list()?;
    let unreported = positions.iter().all(|position| *position == Tree::Whole(NONE as u128));
    let empty = tree.get("force_event_pairs")?.list()?.is_empty();
    ensure(
        empty && unreported && positions.len() <= contacts,
        "contacts that report forces",
    )?;
    for edge in tree.get("force_event_flagged")?.list()? {
        ensure(edge.whole()? < contacts, "an unknown contact that changed")?;
    }
    Ok(())
}
