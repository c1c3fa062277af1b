//! Marching tetrahedra ([Doi91]) on blocks of cubes, each divided into six around its diagonal (Freudenthal). The
//! divisions of neighboring cubes match, so the surface has no gaps; and a tetrahedron has no ambiguous case.

use glam::{DVec3, IVec3};

use crate::Shape;

/// Cells along the side of a block.
pub(super) const BLOCK: i32 = 8;
const NODES: i32 = BLOCK + 1;
const COUNT: usize = (NODES * NODES * NODES) as usize;

/// The nodes on which the distance is sampled.
pub(super) struct Grid<'a> {
    pub shape: &'a dyn Shape,
    pub level: f64,
    pub voxel: f64,
    pub origin: DVec3,
}

impl Grid<'_> {
    fn position(&self, node: IVec3) -> DVec3 {
        self.origin + self.voxel * node.as_dvec3()
    }

    /// Returns the distance [m] minus the level.
    pub fn value_at(&self, p: DVec3) -> f64 {
        self.shape.distance(p) - self.level
    }

    /// Returns true if the surface may cross the cube of `cells` cells that begins at `node`.
    pub fn may_cross(&self, node: IVec3, cells: i32) -> bool {
        let half = 0.5 * f64::from(cells) * self.voxel;
        self.value_at(self.position(node) + half).abs() <= half * 3f64.sqrt()
    }
}

/// A lattice edge: its lower node, and its axes as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EdgeKey {
    node: IVec3,
    axes: u8,
}

impl EdgeKey {
    /// Returns true if it lies on a face between blocks.
    pub fn is_shared(&self) -> bool {
        (0..3).any(|axis| self.axes >> axis & 1 == 0 && self.node[axis].rem_euclid(BLOCK) == 0)
    }
}

/// The piece of surface in a block.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// Intersections of the surface with lattice edges [m].
    pub vertices: Vec<(EdgeKey, DVec3)>,
    pub triangles: Vec<[u32; 3]>,
    /// First nodes of the neighboring blocks in which it continues.
    pub leads_to: Vec<IVec3>,
}

/// A lattice edge of a cube by its ends, corners numbered by their offsets as bits; the first is the lower.
type Edge = (u8, u8);

/// Corners of each of the six tetrahedra and, for each set of corners inside, the triangles between.
struct Cases {
    corners: [[u8; 4]; 6],
    triangles: [[Vec<[Edge; 3]>; 16]; 6],
}

impl Cases {
    fn new() -> Self {
        // Each tetrahedron is a path from corner 0 to corner 7 along the axes in one order; the sign is that of its
        // volume.
        let walks = [
            (0, 1, 2, true),
            (1, 2, 0, true),
            (2, 0, 1, true),
            (0, 2, 1, false),
            (2, 1, 0, false),
            (1, 0, 2, false),
        ];
        let corners = walks.map(|(i, j, _, _)| [0, 1u8 << i, (1u8 << i) | (1u8 << j), 7]);
        let triangles = std::array::from_fn(|t| std::array::from_fn(|mask| triangles(corners[t], walks[t].3, mask)));
        Self { corners, triangles }
    }
}

/// Returns the triangles that separate the corners of a tetrahedron in the set `mask`, inside, from the others.
fn triangles(corners: [u8; 4], positive: bool, mask: usize) -> Vec<[Edge; 3]> {
    let inside = |k: &usize| mask >> k & 1 == 1;
    let order: Vec<usize> = (0..4).filter(inside).chain((0..4).filter(|k| !inside(k))).collect();
    let inversions = (0..4)
        .flat_map(|i| (0..i).map(move |j| (j, i)))
        .filter(|&(j, i)| order[j] > order[i])
        .count();
    let edge = |from: usize, to: usize| {
        let (a, b) = (corners[order[from]], corners[order[to]]);
        (a.min(b), a.max(b))
    };
    // For positive volume of the corners in this order, each is counter-clockwise seen from outside.
    let mut found = match mask.count_ones() {
        1 => vec![[edge(0, 1), edge(0, 2), edge(0, 3)]],
        2 => vec![
            [edge(0, 2), edge(0, 3), edge(1, 3)],
            [edge(0, 2), edge(1, 3), edge(1, 2)],
        ],
        3 => vec![[edge(3, 0), edge(3, 1), edge(3, 2)]],
        _ => vec![],
    };
    if positive != (inversions % 2 == 0) {
        found.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    found
}

/// Marches the block of cells that begins at node `first`.
pub(super) fn march(grid: &Grid, first: IVec3) -> Patch {
    let values: [f64; COUNT] = std::array::from_fn(|k| grid.value_at(grid.position(first + coordinates(k))));
    let mut patch = Patch::default();
    let inside = values.map(|value| value < 0.0);
    if inside.iter().all(|&i| i == inside[0]) {
        return patch;
    }
    let cases = Cases::new();
    let mut number = vec![[u32::MAX; 8]; COUNT];
    for cell in (0..COUNT).filter(|&k| coordinates(k).max_element() < BLOCK) {
        let node = |corner: u8| cell + index(offset(corner));
        let at_corners: [bool; 8] = std::array::from_fn(|corner| inside[node(corner as u8)]);
        if at_corners.iter().all(|&i| i == at_corners[0]) {
            continue;
        }
        for (corners, triangles) in cases.corners.iter().zip(&cases.triangles) {
            let mask = (0..4)
                .map(|k| usize::from(at_corners[corners[k] as usize]) << k)
                .sum::<usize>();
            for triangle in &triangles[mask] {
                let corners = triangle.map(|(low, high)| {
                    let (from, axes) = (node(low), high ^ low);
                    let slot = &mut number[from][axes as usize];
                    if *slot == u32::MAX {
                        *slot = patch.vertices.len() as u32;
                        let lower = first + coordinates(from);
                        let part = values[from] / (values[from] - values[node(high)]);
                        let position = grid.position(lower) + grid.voxel * part * offset(axes).as_dvec3();
                        patch.vertices.push((EdgeKey { node: lower, axes }, position));
                    }
                    *slot
                });
                patch.triangles.push(corners);
            }
        }
    }
    patch.leads_to = leads(&inside).map(|step| first + BLOCK * step).collect();
    patch
}

/// Returns the steps to the neighbors that share a face on which the sign changes.
fn leads(inside: &[bool; COUNT]) -> impl Iterator<Item = IVec3> {
    (0..3)
        .flat_map(|axis| [(axis, 0), (axis, BLOCK)])
        .filter_map(|(axis, side)| {
            let mut face = (0..COUNT).filter(|&k| coordinates(k)[axis] == side).map(|k| inside[k]);
            let first = face.next();
            let step = IVec3::AXES[axis] * if side == 0 { -1 } else { 1 };
            face.any(|other| Some(other) != first).then_some(step)
        })
}

fn offset(corner: u8) -> IVec3 {
    (IVec3::splat(i32::from(corner)) >> IVec3::new(0, 1, 2)) & 1
}

fn coordinates(k: usize) -> IVec3 {
    let k = k as i32;
    IVec3::new(k % NODES, k / NODES % NODES, k / (NODES * NODES))
}

fn index(node: IVec3) -> usize {
    ((node.z * NODES + node.y) * NODES + node.x) as usize
}
