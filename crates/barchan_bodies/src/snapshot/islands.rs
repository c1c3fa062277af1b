//! Rapier's islands: bodies that move together.

use super::narrow::Contact;
use super::{Bodies, Handle, Link, MAX_COUNT, NONE, ensure, ensure_distinct, handle, handles, slots};
use crate::tree::{NoTree, Tree};

/// Checks the island manager.
pub(super) fn check(tree: &Tree, bodies: &Bodies, joints: &[Link], contacts: &[Contact]) -> Result<(), NoTree> {
    active_sets(tree, bodies)?;
    let persistent = tree.get("persistent")?;
    // Rapier makes islands in the first step.
    let are_made = persistent.get("bootstrapped")?.whole()? == 1;
    let islands = members(persistent, bodies, are_made)?;
    ensure(are_made || contacts.is_empty(), "contacts before the first step")?;
    contact_links(persistent, &islands, bodies, contacts)?;
    joint_links(persistent, &islands, bodies, joints)?;
    for removal in persistent.get("removal_journal")?.list()? {
        let known = bodies.contains(handle(removal.get("body1")?)?) && bodies.contains(handle(removal.get("body2")?)?);
        ensure(known, "an unknown body of a contact that ended")?;
    }
    ensure(
        persistent.get("sleep_scan_stamp")?.whole()? < MAX_COUNT,
        "an island's time",
    )
}

/// Checks that each body is in one active set, at the position that it has.
fn active_sets(tree: &Tree, bodies: &Bodies) -> Result<(), NoTree> {
    let sets = slots(tree.get("islands")?)?;
    let mut count = 0;
    for (id, set) in &sets {
        for (k, body) in handles(set.get("bodies")?)?.into_iter().enumerate() {
            let at = bodies.contains(body).then(|| &bodies.ids[body.0]);
            let sound = at.is_some_and(|at| (at.active_island, at.active_set) == (*id, k));
            ensure(sound && bodies.is_member(body), "a body in a wrong active set")?;
            count += 1;
        }
    }
    let listed = bodies.ids.iter().filter(|ids| ids.active_island != NONE);
    ensure(listed.count() == count, "a body in no active set")?;
    let awake = tree.get("awake_island")?;
    if *awake != Tree::Nothing {
        let awake = awake.whole()?;
        ensure(sets.iter().any(|(id, _)| *id == awake), "an unknown active set")?;
    }
    free(tree, &sets)
}

/// Checks the list of free numbers of islands.
fn free(tree: &Tree, used: &[(usize, &Tree)]) -> Result<(), NoTree> {
    let free = tree.get("free_islands")?.list()?.iter().map(Tree::whole);
    let free = free.collect::<Result<Vec<_>, _>>()?;
    let all: Vec<usize> = free.into_iter().chain(used.iter().map(|(id, _)| *id)).collect();
    ensure_distinct(&all, all.len(), "an island that is free and used")
}

/// Checks the members of islands; returns the islands.
fn members<'a>(tree: &'a Tree, bodies: &Bodies, are_made: bool) -> Result<Vec<(usize, &'a Tree)>, NoTree> {
    let islands = slots(tree.get("islands")?)?;
    let mut count = 0;
    for (id, island) in &islands {
        let members = handles(island.get("bodies")?)?;
        ensure(!members.is_empty(), "an island without bodies")?;
        let sleeps = island.get("sleeping")?.whole()? == 1;
        for (k, body) in members.into_iter().enumerate() {
            let at = bodies.contains(body).then(|| &bodies.ids[body.0]);
            let sound = at.is_some_and(|at| (at.island, at.in_island) == (*id, k));
            ensure(sound && bodies.is_member(body), "a body in a wrong island")?;
            ensure(
                !sleeps || bodies.sleeps(body),
                "an island that sleeps with a body awake",
            )?;
            count += 1;
        }
        let counts = [
            island.get("constraint_remove_count")?,
            island.get("split_denied_until")?,
        ];
        for number in counts {
            ensure(number.whole()? < MAX_COUNT, "an island's count")?;
        }
    }
    let in_islands = bodies.ids.iter().filter(|ids| ids.island != NONE).count();
    let expected = bodies
        .world
        .bodies
        .iter()
        .filter(|(_, body)| are_made && !body.is_fixed() && body.is_enabled());
    ensure(count == in_islands && count == expected.count(), "a body in no island")?;
    free(tree, &islands)?;
    Ok(islands)
}

/// Checks that a link is of bodies in its island.
fn ensure_inside(link: &Tree, island: usize, ends: [Option<Handle>; 2], bodies: &Bodies) -> Result<(), NoTree> {
    let linked = [handle(link.get("body1")?)?, handle(link.get("body2")?)?];
    let mut inside = false;
    for (linked, end) in linked.into_iter().zip(ends) {
        let member = bodies.contains(linked) && bodies.ids[linked.0].island == island;
        inside |= member;
        ensure(
            end.is_none_or(|end| end == linked || !bodies.is_member(end)),
            "a link of other bodies",
        )?;
    }
    ensure(inside, "a link outside its island")
}

/// Checks the links of contacts: one for each that acts on a body which moves.
fn contact_links(tree: &Tree, islands: &[(usize, &Tree)], bodies: &Bodies, contacts: &[Contact]) -> Result<(), NoTree> {
    let mut expected = vec![(NONE, NONE); contacts.len()];
    for (id, island) in islands {
        for (k, link) in island.get("contact_links")?.list()?.iter().enumerate() {
            let edge = link.get("edge_id")?.whole()?;
            let contact = contacts.get(edge).ok_or_else(|| NoTree(format!("contact {edge}")))?;
            ensure(expected[edge] == (NONE, NONE), "a contact in two islands")?;
            expected[edge] = (*id, k);
            ensure_inside(link, *id, contact.parents, bodies)?;
        }
    }
    let found = tree.get("contact_link_locs")?.list()?;
    ensure(found.len() <= contacts.len(), "islands of unknown contacts")?;
    for (edge, contact) in contacts.iter().enumerate() {
        let found = match found.get(edge) {
            None => (NONE, NONE),
            Some(location) => {
                let [island, k] = location.tuple()?;
                (island.whole()?, k.whole()?)
            }
        };
        ensure(found == expected[edge], "a contact that its island does not hold")?;
        for body in contact
            .parents
            .into_iter()
            .flatten()
            .filter(|&body| bodies.is_member(body))
        {
            let inside = bodies.ids[body.0].island == found.0;
            ensure(inside || !contact.is_touching, "a contact in no island")?;
        }
    }
    Ok(())
}

/// Checks the links of joints.
fn joint_links(tree: &Tree, islands: &[(usize, &Tree)], bodies: &Bodies, joints: &[Link]) -> Result<(), NoTree> {
    let mut expected = Vec::new();
    for (id, island) in islands {
        for (k, link) in island.get("joint_links")?.list()?.iter().enumerate() {
            let key = link.get("key")?;
            let joint = handle(match key {
                Tree::Variant("Impulse", key) => key,
                _ => return Err(NoTree("a link of another kind".to_owned())),
            })?;
            let ends = joints
                .iter()
                .find(|(other, _)| *other == joint)
                .map(|(_, ends)| ends.map(Some));
            ensure_inside(
                link,
                *id,
                ends.ok_or_else(|| NoTree("an unknown joint".to_owned()))?,
                bodies,
            )?;
            expected.push((joint, (*id, k)));
        }
    }
    let mut found = Vec::new();
    for entry in tree.get("joint_link_locs")?.list()? {
        let [key, location] = entry.tuple()?;
        let Tree::Variant("Impulse", key) = key else {
            return Err(NoTree("a link of another kind".to_owned()));
        };
        let [island, k] = location.tuple()?;
        found.push((handle(key)?, (island.whole()?, k.whole()?)));
    }
    expected.sort_unstable();
    found.sort_unstable();
    ensure(found == expected, "a joint that its island does not hold")
}
