//! OpenVDB: grids `density`, the share of volume that particles take, and `velocity`, the mean velocity of what is in a
//! voxel. A particle gives its volume to the eight nearest voxels, so that the sum over all voxels is that of the
//! particles.

mod tree;

use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

use super::shots::Cloud;
use super::{Export, ExportError};
use crate::{Part, WriteError};

use self::tree::{LEAF, LEAF_VOXELS, Leaf, VdbFile};

/// Edge of a voxel in mean radii [-]: two diameters, so that settled material is even.
const VOXEL: f64 = 4.0;
/// Largest index of a voxel [-].
const MAX_INDEX: f64 = (1 << 30) as f64;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    // One voxel for all frames of a part, or the grids would flicker.
    let mut voxels = [None; 2];
    for done in 0..export.frames.len() {
        let entry = export.frames[done].clone();
        for (part, voxel) in [Part::Guides, Part::Grains].into_iter().zip(&mut voxels) {
            let Some(cloud) = export.cloud(part, &entry)? else {
                continue;
            };
            let given = export.options.voxel.map(|voxel| voxel * export.axes.scale);
            let voxel = *voxel.get_or_insert_with(|| given.unwrap_or_else(|| default_voxel(&cloud)));
            let is_far = |p: &glam::Vec3| !(p.as_dvec3() / voxel).abs().cmplt(glam::DVec3::splat(MAX_INDEX)).all();
            if cloud.positions.iter().any(is_far) {
                return Err(ExportError::Voxel {
                    frame: entry.frame,
                    voxel,
                });
            }
            let (_, path) = export.file(part, entry.frame, "vdb")?;
            write(&path, &cloud, voxel)?;
        }
        export.finished(done + 1);
    }
    export.tables()
}

fn default_voxel(cloud: &Cloud) -> f64 {
    let radii = cloud.radii.as_deref().unwrap_or_default();
    let sum: f64 = radii.iter().map(|&radius| f64::from(radius)).sum();
    match sum > 0.0 {
        true => VOXEL * sum / radii.len() as f64,
        false => 1.0,
    }
}

fn write(path: &Path, cloud: &Cloud, voxel: f64) -> Result<(), WriteError> {
    let cells = deposit(cloud, voxel);
    let mut file = VdbFile::create(path, 2, voxel)?;
    let is_active = |cells: &Cells| {
        let mut active = Box::new([false; LEAF_VOXELS]);
        (active.iter_mut().zip(&cells.sums[..])).for_each(|(active, sum)| *active = sum[0] > 0.0);
        active
    };
    let density = |cells: &Cells| Leaf {
        origin: cells.origin,
        is_active: is_active(cells),
        values: cells.sums.iter().map(|sum| sum[0] as f32).collect::<Vec<f32>>(),
    };
    file.grid("density", "fog volume", &cells.iter().map(density).collect::<Vec<_>>())?;
    let velocity = |cells: &Cells| Leaf {
        origin: cells.origin,
        is_active: is_active(cells),
        values: (cells.sums.iter())
            .map(|sum| [1, 2, 3].map(|axis| (sum[axis] / sum[0].max(f64::MIN_POSITIVE)) as f32))
            .collect::<Vec<[f32; 3]>>(),
    };
    file.grid("velocity", "unknown", &cells.iter().map(velocity).collect::<Vec<_>>())?;
    file.finish()
}

/// Sums in the voxels of a leaf: share of volume [-], and share of volume times velocity.
struct Cells {
    origin: [i32; 3],
    sums: Box<[[f64; 4]; LEAF_VOXELS]>,
}

/// Gives the volume of each particle to the eight voxels around it, with the weights of linear interpolation. The centers
/// of voxels are at multiples of their edge.
fn deposit(cloud: &Cloud, voxel: f64) -> Vec<Cells> {
    let mut leaves: Vec<Cells> = Vec::new();
    let mut numbers: HashMap<[i32; 3], usize> = HashMap::new();
    for (row, position) in cloud.positions.iter().enumerate() {
        let at = position.as_dvec3() / voxel;
        let first = at.floor();
        let part = at - first;
        let first = first.as_ivec3().to_array();
        let radius = cloud.radii.as_ref().map_or(0.5 * voxel, |radii| f64::from(radii[row])) / voxel;
        let volume = 4.0 / 3.0 * PI * radius.powi(3);
        let velocity = cloud
            .velocities
            .as_ref()
            .map_or([0.0; 3], |v| v[row].as_dvec3().to_array());
        // The leaf of the previous corner is mostly that of the next one.
        let mut leaf = None;
        for corner in 0..8 {
            let bits = [corner >> 2 & 1, corner >> 1 & 1, corner & 1];
            let index: [i32; 3] = std::array::from_fn(|axis| first[axis] + bits[axis]);
            let origin = index.map(|x| x.div_euclid(LEAF) * LEAF);
            let number = match leaf {
                Some((known, number)) if known == origin => number,
                _ => *numbers.entry(origin).or_insert_with(|| {
                    leaves.push(Cells {
                        origin,
                        sums: Box::new([[0.0; 4]; LEAF_VOXELS]),
                    });
                    leaves.len() - 1
                }),
            };
            leaf = Some((origin, number));
            let weight: f64 = (0..3)
                .map(|axis| if bits[axis] == 1 { part[axis] } else { 1.0 - part[axis] })
                .product();
            let [x, y, z] = std::array::from_fn(|axis| (index[axis] - origin[axis]) as usize);
            let sum = &mut leaves[number].sums[(x * LEAF as usize + y) * LEAF as usize + z];
            let share = weight * volume;
            sum[0] += share;
            (0..3).for_each(|axis| sum[axis + 1] += share * velocity[axis]);
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn voxels_hold_the_volume_and_the_momentum_of_all_particles() {
        let cloud = Cloud {
            positions: (0..200)
                .map(|k| Vec3::new(0.13, -0.37, 0.11) * (k as f32 - 90.0))
                .collect(),
            ids: (0..200).collect(),
            velocities: Some((0..200).map(|k| Vec3::new(1.0, 0.0, k as f32)).collect()),
            radii: Some((0..200).map(|k| 0.05 + 0.001 * k as f32).collect()),
            colors: None,
            extras: Vec::new(),
        };
        let voxel = 0.3;
        let leaves = deposit(&cloud, voxel);
        let sum = |axis: usize| -> f64 {
            let sums = leaves.iter().flat_map(|leaf| leaf.sums.iter());
            sums.map(|sum| sum[axis]).sum::<f64>() * voxel.powi(3)
        };
        let volume = |k: usize| 4.0 / 3.0 * PI * f64::from(cloud.radii.as_ref().unwrap()[k]).powi(3);
        let volumes: f64 = (0..200).map(volume).sum();
        let momentum: f64 = (0..200).map(|k| k as f64 * volume(k)).sum();
        assert!((sum(0) / volumes - 1.0).abs() < 1e-12);
        assert!((sum(1) / volumes - 1.0).abs() < 1e-12);
        assert!((sum(3) / momentum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_particle_in_the_middle_of_a_voxel_fills_only_that_one() {
        let cloud = Cloud {
            positions: vec![Vec3::new(-8.0, 16.0, 3.0)],
            ids: vec![0],
            velocities: None,
            radii: Some(vec![0.5]),
            colors: None,
            extras: Vec::new(),
        };
        let leaves = deposit(&cloud, 1.0);
        let filled: Vec<_> = (leaves.iter())
            .flat_map(|leaf| {
                leaf.sums
                    .iter()
                    .enumerate()
                    .map(move |(k, sum)| (leaf.origin, k, sum[0]))
            })
            .filter(|voxel| voxel.2 > 0.0)
            .collect();
        assert_eq!(filled, [([-8, 16, 0], 3, PI / 6.0)]);
    }
}
