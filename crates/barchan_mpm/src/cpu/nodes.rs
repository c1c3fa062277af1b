//! Nodes: sums of patches, gravity, and the walls that hold them.

use barchan_world::Wrench;
use glam::{DVec3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::blocks::{AROUND, Blocks, NONE, steps};
use super::bodies::{Burden, SeenBody};
use super::lattice::{Lattice, of_key};
use super::transfer::Patches;
use super::walls::{NOBODY, REACH, SIDES, Scene, TOUCH, WallBlock};
use super::{BLOCK, MARGIN, NODES, Node, PATCH, SIDE, patch_index};
use crate::laws::contact;

/// Mass of a node [kg] below which it has no velocity.
const LEAST_MASS: f32 = 1e-30;
/// Passes over the walls at a node [-]; one is exact but in corners.
const CORNER_PASSES: usize = 2;

/// A wall that holds a node.
#[derive(Clone, Copy, Debug)]
struct Hold {
    side: u8,
    node: u8,
    body: u32,
    normal: Vec3,
    friction: f32,
    /// From the body's center of mass [m].
    arm: DVec3,
}

/// Nodes of a block that lie behind walls.
#[derive(Debug)]
pub(crate) struct WallNodes {
    /// Number of the block of nodes.
    pub block: u32,
    pub sides: [[Node; NODES]; SIDES],
    holds: Vec<Hold>,
    near: Vec<u32>,
    /// Mass that moves with each body.
    burdens: Vec<Burden>,
    /// Impulse of each body on the nodes [N s], and its moment about the body's center of mass [N m s].
    pub loads: Vec<Wrench>,
}

impl WallNodes {
    pub(crate) fn new() -> Self {
        Self {
            block: 0,
            sides: [[Vec4::ZERO; NODES]; SIDES],
            holds: Vec::new(),
            near: Vec::new(),
            burdens: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// Takes block of nodes `block`, near the bodies of the blocks `around`.
    pub(crate) fn take<'a>(&mut self, block: u32, around: impl Iterator<Item = &'a WallBlock>) {
        self.block = block;
        self.near.clear();
        around.for_each(|walls| self.near.extend_from_slice(walls.near()));
        self.near.sort_unstable();
        self.near.dedup();
    }
}

/// Index in a patch of node `low` along one axis of the block of nodes that lies `step` blocks from the patch's, and their number there.
fn overlap(step: i32) -> impl Iterator<Item = (usize, usize)> {
    (0..BLOCK).filter_map(move |node| {
        let index = node as i32 + BLOCK as i32 * step + MARGIN as i32;
        usize::try_from(index)
            .ok()
            .filter(|&index| index < SIDE)
            .map(|index| (node, index))
    })
}

/// Calls `each` with the index in the block of nodes and the index in the patch of nodes that both have; the block lies
/// `steps` from that of the patch.
fn shared(steps: [i32; 3], mut each: impl FnMut(usize, usize)) {
    for (x, patch_x) in overlap(steps[0]) {
        for (y, patch_y) in overlap(steps[1]) {
            for (z, patch_z) in overlap(steps[2]) {
                each((x * BLOCK + y) * BLOCK + z, patch_index(patch_x, patch_y, patch_z));
            }
        }
    }
}

/// Turns momentum into velocity after `fall` [m/s] of gravity.
#[inline(always)]
fn set_off(nodes: &mut [Node; NODES], fall: Vec3) {
    for node in nodes {
        let mass = node.w;
        *node = if mass > LEAST_MASS {
            (node.xyz() / mass + fall).extend(mass)
        } else {
            Vec4::ZERO
        };
    }
}

/// Velocities of all nodes in front of walls, where `fall` [m/s] is what gravity adds.
pub(crate) fn sum(grid: &mut Vec<[Node; NODES]>, blocks: &Blocks, patches: &[[Node; PATCH]], fall: Vec3) {
    grid.resize(blocks.nodes.len(), [Vec4::ZERO; NODES]);
    grid.par_iter_mut().zip(&blocks.from).for_each(|(nodes, from)| {
        nodes.fill(Vec4::ZERO);
        for k in 0..AROUND {
            if from[k] != NONE {
                let patch = &patches[from[k] as usize];
                shared(steps(k), |node, index| nodes[node] += patch[index]);
            }
        }
        set_off(nodes, fall);
    });
}

/// Everything that nodes behind walls are made of.
pub(crate) struct Behind<'a> {
    pub blocks: &'a Blocks,
    pub walls: &'a [WallBlock],
    /// Number in `walls` of each block with guides.
    pub wall_of: &'a [u32],
    pub scene: &'a Scene<'a>,
    pub fall: Vec3,
}

impl Behind<'_> {
    /// Velocities of the nodes behind walls, the walls that hold them, and what dynamic bodies have to take along.
    pub(crate) fn sum(&self, all: &mut [WallNodes], count: usize) {
        all.par_iter_mut().for_each(|nodes| self.sum_block(nodes, count));
    }

    fn sum_block(&self, nodes: &mut WallNodes, count: usize) {
        let mut lean = [[Vec4::ZERO; NODES]; SIDES];
        let mut owner = [[NOBODY; NODES]; SIDES];
        let from = &self.blocks.from[nodes.block as usize];
        nodes.sides.iter_mut().for_each(|side| side.fill(Vec4::ZERO));
        for k in 0..AROUND {
            let walls = match from[k] {
                NONE => NONE,
                block => self.wall_of[block as usize],
            };
            if walls == NONE {
                continue;
            }
            for (s, side) in self.walls[walls as usize].sides.iter().enumerate() {
                shared(steps(k), |node, index| {
                    nodes.sides[s][node] += side.nodes[index];
                    lean[s][node] += side.lean[index];
                    owner[s][node] = owner[s][node].min(side.owner[index]);
                });
            }
        }
        nodes.burdens.clear();
        nodes.burdens.resize(count, Burden::default());
        nodes.holds.clear();
        let corner = self
            .scene
            .lattice
            .corner(of_key(self.blocks.nodes[nodes.block as usize]));
        for s in 0..SIDES {
            set_off(&mut nodes.sides[s], self.fall);
            for node in 0..NODES {
                if nodes.sides[s][node].w > 0.0 {
                    let place = corner + position(node, self.scene.lattice);
                    self.hold(nodes, [s, node], place, lean[s][node], owner[s][node]);
                }
            }
        }
    }

    /// Finds the walls that hold a node at `place` [m]: those of bodies that it lies in or touches, and the one behind which it lies.
    fn hold(&self, nodes: &mut WallNodes, [side, node]: [usize; 2], place: DVec3, lean: Vec4, owner: u32) {
        let velocity = nodes.sides[side][node];
        let reach = REACH as f32 * self.scene.lattice.spacing.max_element();
        let touch = TOUCH * self.scene.lattice.spacing.max_element();
        let friction = lean.w / velocity.w;
        let first = nodes.holds.len();
        for &k in &nodes.near {
            let (gap, normal) = self.scene.distance(k, place);
            let is_turned = normal.dot(lean.xyz()) < 0.0;
            if gap >= reach || (gap >= touch && !(is_turned && k == owner)) {
                continue;
            }
            let body = &self.scene.bodies[k as usize];
            nodes.holds.push(Hold {
                side: side as u8,
                node: node as u8,
                body: k,
                normal: if is_turned { -normal } else { normal },
                friction,
                arm: self.scene.origin + place - body.at.center,
            });
        }
        // What stands has the last word.
        nodes.holds[first..]
            .sort_unstable_by_key(|hold| (!self.scene.bodies[hold.body as usize].is_dynamic, hold.body));
        for hold in &nodes.holds[first..] {
            let body = &self.scene.bodies[hold.body as usize];
            let relative = velocity.xyz() - body.velocity(hold.arm.as_vec3());
            if body.is_dynamic && relative.dot(hold.normal) < 0.0 {
                let burden = &mut nodes.burdens[body.of as usize];
                burden.add(velocity.w.into(), hold.arm, velocity.xyz().as_dvec3());
            }
        }
    }
}

/// Position of node `node` from its block's lowest corner [m].
fn position(node: usize, lattice: &Lattice) -> DVec3 {
    let at = [node / (BLOCK * BLOCK), node / BLOCK % BLOCK, node % BLOCK];
    DVec3::from(at.map(|x| x as f64)) * lattice.spacing.as_dvec3()
}

/// Adds up what dynamic bodies have to take along.
pub(crate) fn sum_burdens(sums: &mut Vec<Burden>, count: usize, all: &[WallNodes]) {
    barchan_bodies::sum_loads(sums, count, all.iter().map(|nodes| &*nodes.burdens));
}

/// Holds nodes back at walls.
pub(crate) fn hold(all: &mut [WallNodes], bodies: &[SeenBody], count: usize) {
    all.par_iter_mut().for_each(|nodes| {
        nodes.loads.clear();
        nodes.loads.resize(count, Wrench::default());
        let mut rest = &nodes.holds[..];
        while let Some(first) = rest.first() {
            let own = rest
                .iter()
                .take_while(|hold| (hold.side, hold.node) == (first.side, first.node))
                .count();
            let (holds, others) = rest.split_at(own);
            rest = others;
            let velocity = &mut nodes.sides[usize::from(first.side)][usize::from(first.node)];
            let passes = if own > 1 { CORNER_PASSES } else { 1 };
            for hold in holds.iter().cycle().take(passes * own) {
                let body = &bodies[hold.body as usize];
                let relative = velocity.xyz() - body.velocity(hold.arm.as_vec3());
                let change = contact::held(relative, hold.normal, hold.friction, 0.0);
                *velocity += change.extend(0.0);
                let impulse = f64::from(velocity.w) * change.as_dvec3();
                nodes.loads[body.of as usize] += Wrench {
                    force: impulse,
                    torque: hold.arm.cross(impulse),
                };
            }
        }
    });
}

/// Copies the nodes around block `b` into its patch.
pub(crate) fn read(patch: &mut [Node; PATCH], around: &[u32; AROUND], grid: &[[Node; NODES]]) {
    for k in 0..AROUND {
        let nodes = &grid[around[k] as usize];
        shared(steps(k), |node, index| patch[index] = nodes[node]);
    }
}

/// Copies the nodes behind walls into the patches of their sides; `wall_of` numbers the blocks in `all`.
pub(crate) fn read_behind(patches: &mut Patches, around: &[u32; AROUND], all: &[WallNodes], wall_of: &[u32]) {
    for k in 0..AROUND {
        let walls = wall_of[around[k] as usize];
        if walls == NONE {
            continue;
        }
        for (patch, nodes) in patches[1..].iter_mut().zip(&all[walls as usize].sides) {
            shared(steps(k), |node, index| patch[index] = nodes[node]);
        }
    }
}
