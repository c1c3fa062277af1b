//! Check of rapier's state before a run goes on with it.
//!
//! Rapier trusts the numbers by which its tables refer to each other, some of them without bounds checks. A state that fits in type only
//! would panic, hang or read foreign memory. The relations below are those of rapier 0.36.

use std::collections::BTreeSet;

use rapier3d_f64::prelude::{ColliderHandle, ImpulseJointHandle, PhysicsWorld, RigidBody, RigidBodyHandle};

use crate::joint::DRIVEN;
use crate::tree::{NoTree, Tree};

mod broad;
mod graph;
mod islands;
mod narrow;

use graph::Graph;

/// Index and generation of a body, collider or joint.
type Handle = (usize, usize);

/// Largest count of a state: rapier's sums of counts stay far below an overflow.
const MAX_COUNT: usize = 1 << 30;

/// Rapier's mark of a number that refers to nothing.
const NONE: usize = u32::MAX as usize;

/// Fields of bodies, colliders and joints that steps change.
const VARYING: &[&str] = &[
    "ids",
    "pos",
    "vels",
    "forces",
    "mprops",
    "ccd_vels",
    "ccd",
    "activation",
    "changes",
    "enabled",
    "impulses",
    "impulse",
    "local_frame1",
    "local_frame2",
    "solver_color",
];

/// Returns true for fields that steps or motors change.
fn is_varying(name: &str) -> bool {
    VARYING.contains(&name) || DRIVEN.contains(&name)
}

/// Checks that `found` is `fresh`, which was built from the scene, after some steps.
pub(crate) fn check(found: &PhysicsWorld, fresh: &PhysicsWorld) -> Result<(), NoTree> {
    let bodies = Bodies::new(found, fresh)?;
    let colliders = check_colliders(found, fresh)?;
    let joints = joints(found, fresh, &bodies)?;
    let contacts = narrow::check(&Tree::of(&found.narrow_phase)?, found, &bodies, &colliders)?;
    islands::check(&Tree::of(&found.islands)?, &bodies, &joints, &contacts)?;
    broad::check(&Tree::of(&found.broad_phase)?, &colliders)
}

/// Fails with `what` unless `holds`.
fn ensure(holds: bool, what: &str) -> Result<(), NoTree> {
    if holds { Ok(()) } else { Err(NoTree(what.to_owned())) }
}

fn handle(tree: &Tree) -> Result<Handle, NoTree> {
    Ok((tree.get("index")?.whole()?, tree.get("generation")?.whole()?))
}

fn handles(tree: &Tree) -> Result<Vec<Handle>, NoTree> {
    tree.list()?.iter().map(handle).collect()
}

fn parts((index, generation): (u32, u32)) -> Handle {
    (index as usize, generation as usize)
}

/// Checks that no number of `list` is there twice and that all are below `end`.
fn ensure_distinct(list: &[usize], end: usize, what: &str) -> Result<(), NoTree> {
    let set: BTreeSet<_> = list.iter().collect();
    ensure(set.len() == list.len() && list.iter().all(|&k| k < end), what)
}

/// Returns the numbers and values of a `VecMap`.
fn slots(tree: &Tree) -> Result<Vec<(usize, &Tree)>, NoTree> {
    let slots = tree.get("v")?.list()?.iter().enumerate();
    let full: Vec<_> = slots.filter(|(_, value)| **value != Tree::Nothing).collect();
    ensure(tree.get("n")?.whole()? == full.len(), "a wrong count")?;
    Ok(full)
}

/// Checks that `found` differs from `fresh` in real numbers and in fields that vary only, and that its numbers are finite.
fn ensure_same(found: &Tree, fresh: &Tree, varies: bool) -> Result<(), NoTree> {
    let same = match (found, fresh) {
        (Tree::Real(a), Tree::Real(b)) if varies => a.is_finite() || a == b,
        (Tree::Whole(_), Tree::Whole(_)) if varies => true,
        (Tree::List(a), Tree::List(b)) if a.len() == b.len() => {
            return a.iter().zip(b).try_for_each(|(a, b)| ensure_same(a, b, varies));
        }
        (Tree::Record(a), Tree::Record(b)) if a.len() == b.len() => {
            return a.iter().zip(b).try_for_each(|((name, a), (_, b))| {
                ensure_same(a, b, varies || is_varying(name)).map_err(|error| NoTree(format!("{error} in `{name}`")))
            });
        }
        (Tree::Variant(a, inner), Tree::Variant(b, other)) if a == b => return ensure_same(inner, other, varies),
        (a, b) => a == b,
    };
    ensure(same, "another value than the scene")
}

/// Bodies of a state, by their index.
struct Bodies<'a> {
    world: &'a PhysicsWorld,
    ids: Vec<Ids>,
}

/// Position of a body in rapier's islands.
struct Ids {
    active_island: usize,
    active_set: usize,
    island: usize,
    in_island: usize,
}

impl Ids {
    /// Ids of a slot without a body.
    const NONE: Self = Self {
        active_island: NONE,
        active_set: NONE,
        island: NONE,
        in_island: NONE,
    };
}

impl<'a> Bodies<'a> {
    fn new(found: &'a PhysicsWorld, fresh: &PhysicsWorld) -> Result<Self, NoTree> {
        let tree = Tree::of(&found.bodies)?;
        ensure_same(tree.get("bodies")?, Tree::of(&fresh.bodies)?.get("bodies")?, false)?;
        let modified = tree
            .get("modified_bodies")?
            .list()?
            .first()
            .map_or(Ok(Vec::new()), handles)?;
        let ids = tree.get("bodies")?.get("items")?.list()?.iter().map(|item| {
            let Tree::Variant("Occupied", body) = item else {
                return Ok(Ids::NONE);
            };
            let ids = body.get("value")?.get("ids")?;
            Ok(Ids {
                active_island: ids.get("active_island_id")?.whole()?,
                active_set: ids.get("active_set_id")?.whole()?,
                island: ids.get("island_id")?.whole()?,
                in_island: ids.get("island_index")?.whole()?,
            })
        });
        let bodies = Self {
            world: found,
            ids: ids.collect::<Result<_, NoTree>>()?,
        };
        ensure(
            modified.iter().all(|&body| bodies.contains(body)),
            "an unknown body that was changed",
        )?;
        Ok(bodies)
    }

    fn get(&self, (index, generation): Handle) -> Option<&RigidBody> {
        let handle = RigidBodyHandle::from_raw_parts(u32::try_from(index).ok()?, u32::try_from(generation).ok()?);
        self.world.bodies.get(handle)
    }

    fn contains(&self, body: Handle) -> bool {
        self.get(body).is_some()
    }

    /// Returns true for bodies that islands hold.
    fn is_member(&self, body: Handle) -> bool {
        self.get(body).is_some_and(|body| !body.is_fixed() && body.is_enabled())
    }

    fn sleeps(&self, body: Handle) -> bool {
        self.get(body).is_some_and(RigidBody::is_sleeping)
    }
}

/// Checks colliders; returns the handle of each.
fn check_colliders(found: &PhysicsWorld, fresh: &PhysicsWorld) -> Result<Vec<Handle>, NoTree> {
    let tree = Tree::of(&found.colliders)?;
    ensure_same(
        tree.get("colliders")?,
        Tree::of(&fresh.colliders)?.get("colliders")?,
        false,
    )?;
    let mut known = Vec::new();
    for ((a, collider), (b, built)) in found.colliders.iter().zip(fresh.colliders.iter()) {
        let bytes = |shape| postcard::to_allocvec(shape).map_err(|error| NoTree(error.to_string()));
        let same = a == b && bytes(collider.shared_shape())? == bytes(built.shared_shape())?;
        ensure(same, "another shape than the scene")?;
        known.push(parts(a.into_raw_parts()));
    }
    ensure(
        tree.get("removed_colliders")?.list()?.is_empty(),
        "colliders that were removed",
    )?;
    let modified = tree.get("modified_colliders")?.list()?.first();
    let modified = modified.map_or(Ok(Vec::new()), handles)?;
    ensure(
        modified.iter().all(|collider| known.contains(collider)),
        "an unknown collider that was changed",
    )?;
    Ok(known)
}

/// A joint that is not cut: its handle and its bodies.
type Link = (Handle, [Handle; 2]);

/// Checks joints; returns those that are not cut.
fn joints(found: &PhysicsWorld, fresh: &PhysicsWorld, bodies: &Bodies) -> Result<Vec<Link>, NoTree> {
    let tree = Tree::of(&found.impulse_joints)?;
    let graph = Graph::new(tree.get("joint_graph")?.get("graph")?)?;
    graph.check_indices(tree.get("rb_graph_ids")?, &Tree::whole)?;
    let mut links = Vec::new();
    for edge in &graph.edges {
        let joint = edge.weight;
        let key = handle(joint.get("handle")?)?;
        let built = fresh
            .impulse_joints
            .get(ImpulseJointHandle::from_raw_parts(key.0 as u32, key.1 as u32));
        let built = built.ok_or_else(|| NoTree("an unknown joint".to_owned()))?;
        ensure_same(joint, &Tree::of(built)?, false)?;
        let ends = [handle(joint.get("body1")?)?, handle(joint.get("body2")?)?];
        let held = ends.iter().all(|&body| bodies.contains(body));
        ensure(held && edge.ends == ends, "a joint of other bodies")?;
        links.push((key, ends));
    }
    let items = tree.get("joint_ids")?.get("items")?.list()?;
    let mut known = 0;
    for (index, item) in items.iter().enumerate() {
        if let Tree::Variant("Occupied", value) = item {
            let edge = value.get("value")?.whole()?;
            let key = (index, value.get("generation")?.whole()?);
            ensure(
                links.get(edge).is_some_and(|link| link.0 == key),
                "a joint that is none",
            )?;
            known += 1;
        }
    }
    ensure(known == links.len(), "a joint without a handle")?;
    for body in tree.get("to_wake_up")?.list()? {
        ensure(bodies.contains(handle(body)?), "an unknown body to wake")?;
    }
    for pair in tree.get("to_join")?.list()? {
        let [a, b] = pair.tuple()?;
        ensure(
            bodies.contains(handle(a)?) && bodies.contains(handle(b)?),
            "unknown bodies to join",
        )?;
    }
    Ok(links)
}

/// Handle of the body that a collider belongs to.
fn parent(world: &PhysicsWorld, (index, generation): Handle) -> Option<Handle> {
    let collider = world
        .colliders
        .get(ColliderHandle::from_raw_parts(index as u32, generation as u32))?;
    Some(parts(collider.parent()?.into_raw_parts()))
}
