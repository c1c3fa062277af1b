//! Triangle meshes of level sets of the distance.

mod collapse;
mod sharpen;
mod tetrahedra;

use std::collections::{BTreeMap, HashMap};

use glam::{DVec3, IVec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::text::{short, short_vector};
use crate::{Shape, TriMesh};
use tetrahedra::{BLOCK, EdgeKey, Grid, Patch, march};

pub use sharpen::sharpen;

/// Memory per block of cells near the surface, for patches, the joined mesh and its cleanup [bytes]; measured 36,000.
const BLOCK_BYTES: f64 = 40_960.0;
/// Length relative to a voxel below which an edge is a sliver [-].
const SLIVER_LENGTH: f64 = 0.6;
/// Newton steps toward the exact level; each squares the error.
const NEWTON_STEPS: usize = 4;

/// Reason why there is no surface.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum IsosurfaceError {
    /// The voxel is not a positive number, or the level is not finite.
    #[error("an iso-surface needs a positive voxel and a finite level, got {} m and {} m", short(*.voxel), short(*.level))]
    Size {
        /// Voxel [m].
        voxel: f64,
        /// Level [m].
        level: f64,
    },
    /// The shape is unbounded.
    #[error("an iso-surface needs a shape with finite bounds, got {} to {} m", short_vector(*.min), short_vector(*.max))]
    Bounds {
        /// Smallest corner [m].
        min: DVec3,
        /// Largest corner [m].
        max: DVec3,
    },
    /// The mesh would exceed the memory limit.
    #[error("an iso-surface with voxels of {} m needs about {needed:.3e} bytes or more, the limit is {limit}", short(*.voxel))]
    Memory {
        /// Voxel [m].
        voxel: f64,
        /// Bytes needed so far when the limit was exceeded.
        needed: f64,
        /// Memory limit [bytes].
        limit: usize,
    },
}

/// Meshes the surface where the distance of `shape` equals `level` [m], by marching tetrahedra on cells of side `voxel`
/// [m].
///
/// The mesh is a closed manifold, whatever the shape: every edge has two triangles, one in each direction,
/// counter-clockwise seen from the side of larger distance. Its vertices lie on the exact level (except for creases of
/// the distance, within a voxel). Features smaller than a voxel may be missed, and sharp edges are cut by up to a
/// voxel, which [`sharpen`] undoes. Empty if the shape or the level set is empty.
pub fn isosurface(shape: &dyn Shape, voxel: f64, level: f64, memory_limit: usize) -> Result<TriMesh, IsosurfaceError> {
    if !(voxel > 0.0 && voxel.is_finite() && level.is_finite()) {
        return Err(IsosurfaceError::Size { voxel, level });
    }
    let bounds = shape.bounds();
    if bounds.is_empty() {
        return Ok(TriMesh::default());
    }
    if !bounds.is_finite() {
        return Err(IsosurfaceError::Bounds {
            min: bounds.min,
            max: bounds.max,
        });
    }
    let within = |blocks: f64| {
        let needed = BLOCK_BYTES * blocks;
        if needed <= memory_limit as f64 {
            return Ok(());
        }
        Err(IsosurfaceError::Memory {
            voxel,
            needed,
            limit: memory_limit,
        })
    };
    let covered = bounds.grown(level.max(0.0) + voxel);
    let grid = Grid {
        shape,
        level,
        voxel,
        origin: covered.min,
    };

    let blocks = (covered.size().max_element() / (f64::from(BLOCK) * voxel))
        .ceil()
        .max(1.0);
    // If there are too many cells to count, a plain square of blocks already exceeds any memory.
    within(if blocks > f64::from(1 << 26) {
        blocks * blocks
    } else {
        0.0
    })?;
    let patches = patches(&grid, first_blocks(&grid, blocks as i32, within)?, within)?;
    let mut mesh = join(patches);
    collapse::short_edges(&mut mesh, SLIVER_LENGTH * voxel);
    mesh.vertices.par_iter_mut().for_each(|p| *p = grid.onto_level(*p));
    Ok(mesh)
}

impl Grid<'_> {
    /// Moves `p` onto the level, at most a voxel away and never farther off the level than it was.
    fn onto_level(&self, start: DVec3) -> DVec3 {
        let (mut p, mut miss) = (start, self.value_at(start));
        for _ in 0..NEWTON_STEPS {
            let next = p - miss * self.shape.normal(p);
            let next_miss = self.value_at(next);
            let better = next_miss.abs() < miss.abs();
            if !better || next.distance(start) > self.voxel {
                break;
            }
            (p, miss) = (next, next_miss);
        }
        p
    }
}

/// Returns the first nodes of the blocks that the surface may cross, by halving cubes that it may cross.
fn first_blocks<E>(grid: &Grid, count: i32, within: impl Fn(f64) -> Result<(), E>) -> Result<Vec<IVec3>, E> {
    let mut cells = BLOCK * (count as u32).next_power_of_two() as i32;
    let mut cubes = vec![IVec3::ZERO];
    while cells > BLOCK {
        cells /= 2;
        cubes = cubes
            .par_iter()
            .flat_map_iter(|&cube| (0..8).map(move |k| cube + cells * (IVec3::splat(k) >> IVec3::new(0, 1, 2) & 1)))
            .filter(|&cube| grid.may_cross(cube, cells))
            .collect();
        within(cubes.len() as f64)?;
    }
    Ok(cubes)
}

/// Returns the pieces of surface in `blocks`, and in any further blocks that the surface leads to, sorted by position.
/// A valid distance leads nowhere else; one with jumps (an open mesh) may, and its surface is still closed.
fn patches<E>(grid: &Grid, mut blocks: Vec<IVec3>, within: impl Fn(f64) -> Result<(), E>) -> Result<Vec<Patch>, E> {
    let mut found: BTreeMap<[i32; 3], Patch> = BTreeMap::new();
    while !blocks.is_empty() {
        within((found.len() + blocks.len()) as f64)?;
        let new: Vec<Patch> = blocks.par_iter().map(|&block| march(grid, block)).collect();
        let mut leads: Vec<[i32; 3]> = Vec::new();
        for (block, patch) in blocks.iter().zip(new) {
            leads.extend(patch.leads_to.iter().map(IVec3::to_array));
            found.insert(block.to_array(), patch);
        }
        leads.sort_unstable();
        leads.dedup();
        blocks = leads
            .into_iter()
            .filter(|lead| !found.contains_key(lead))
            .map(IVec3::from)
            .collect();
    }
    Ok(found.into_values().collect())
}

/// Joins all patches into one mesh; vertices on the faces between blocks are merged.
fn join(patches: Vec<Patch>) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut shared: HashMap<EdgeKey, u32> = HashMap::new();
    for patch in patches {
        let mut number = Vec::with_capacity(patch.vertices.len());
        for (key, position) in patch.vertices {
            let mut add = || {
                mesh.vertices.push(position);
                mesh.vertices.len() as u32 - 1
            };
            number.push(if key.is_shared() {
                *shared.entry(key).or_insert_with(add)
            } else {
                add()
            });
        }
        mesh.triangles
            .extend(patch.triangles.iter().map(|t| t.map(|v| number[v as usize])));
    }
    mesh
}
