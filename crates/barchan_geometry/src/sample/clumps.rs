//! Dense packing of clumps: those of a fill are pushed apart until they no longer overlap.

use barchan_neighbors::{ContactRule, Grid, Lists};
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

use super::{Packing, Particles, SampleError, VolumeSettings, sample_volume};
use crate::Shape;
use crate::clump::Clump;

/// Radii of the initial packing relative to the clumps' bounding spheres [-]: the first with which the clumps can be
/// pushed apart is used.
const SPACINGS: [f64; 3] = [0.84, 0.9, 0.96];
/// Largest number of sweeps per attempt.
const SWEEPS: usize = 150;
/// Largest remaining overlap relative to a sphere's radius [-].
const MAX_OVERLAP: f64 = 0.03;
/// Factor on every push [-].
const RELAXATION: f64 = 1.3;

/// Fills `shape` with clumps in a dense random packing, rotated by `rotation` of their index. The radii of the result
/// are those of the spheres of equal volume. Clumps that interlock too much to be pushed apart keep the distances of
/// their bounding spheres.
pub fn fill_clumps(
    shape: &dyn Shape,
    clump: &Clump,
    settings: &VolumeSettings,
    rotation: &(dyn Fn(usize) -> DQuat + Sync),
) -> Result<Particles, SampleError> {
    let sampled = |room: f64| {
        let settings = VolumeSettings {
            packing: Packing::Dense,
            radii: settings.radii.scaled(room),
            ..settings.clone()
        };
        let mut sampled = sample_volume(shape, &settings, &|_| {})?;
        sampled.radii.iter_mut().for_each(|radius| *radius /= room);
        Ok(sampled)
    };
    for room in SPACINGS {
        let mut tried = sampled(room * clump.extent())?;
        if push_apart(shape, clump, &mut tried, rotation) {
            return Ok(tried);
        }
    }
    sampled(clump.extent())
}

/// Pushes all clumps apart; returns true on success.
fn push_apart(
    shape: &dyn Shape,
    clump: &Clump,
    clumps: &mut Particles,
    rotation: &(dyn Fn(usize) -> DQuat + Sync),
) -> bool {
    let members = clump.members();
    let origin = clumps.positions.first().copied().unwrap_or_default();
    let arms: Vec<Vec<DVec3>> = (0..clumps.len())
        .into_par_iter()
        .map(|i| {
            let turn = rotation(i);
            members.iter().map(|m| turn * (clumps.radii[i] * m.offset)).collect()
        })
        .collect();
    let radius = |k: usize| clumps.radii[k / members.len()] * members[k % members.len()].radius;
    let radii: Vec<f32> = (0..clumps.len() * members.len()).map(|k| radius(k) as f32).collect();
    let rule = ContactRule {
        scale: 1.0,
        margin: 0.0,
    };
    let Ok(reach) = rule.largest_reach(&radii) else {
        return false;
    };
    let (mut grid, mut lists) = (Grid::new(), Lists::new());
    let mut positions: Vec<DVec3> = Vec::new();
    for _ in 0..SWEEPS {
        positions.clear();
        for (center, arms) in clumps.positions.iter().zip(&arms) {
            positions.extend(arms.iter().map(|arm| *center - origin + *arm));
        }
        let rounded: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
        if grid.build(&rounded, reach).is_err() || lists.find_contacts(&grid, &radii, rule).is_err() {
            return false;
        }
        let push = |i: usize| push(shape, i, members.len(), &positions, origin, &radius, &lists);
        let pushes: Vec<(DVec3, f64)> = (0..clumps.len()).into_par_iter().map(push).collect();
        let deepest = pushes.iter().map(|p| p.1).fold(0.0, f64::max);
        if deepest < MAX_OVERLAP {
            return true;
        }
        for (center, (offset, _)) in clumps.positions.iter_mut().zip(&pushes) {
            *center += *offset;
        }
    }
    false
}

/// Returns the displacement of clump `i` [m], and its depth in others or outside relative to a sphere's radius [-].
fn push(
    shape: &dyn Shape,
    i: usize,
    count: usize,
    positions: &[DVec3],
    origin: DVec3,
    radius: &(impl Fn(usize) -> f64 + Sync),
    lists: &Lists,
) -> (DVec3, f64) {
    let (mut sum, mut pushes, mut deepest) = (DVec3::ZERO, 0.0, 0.0f64);
    for k in i * count..(i + 1) * count {
        let (position, own) = (positions[k], radius(k));
        for &j in lists.of(k).iter().filter(|&&j| j as usize / count != i) {
            let offset = position - positions[j as usize];
            let overlap = own + radius(j as usize) - offset.length();
            if overlap > 0.0 {
                sum += 0.5 * overlap * offset.try_normalize().unwrap_or(DVec3::Z);
                pushes += 1.0;
                deepest = deepest.max(overlap / own);
            }
        }
        let outside = shape.distance(origin + position) + own;
        if outside > 0.0 {
            sum -= outside * shape.normal(origin + position);
            pushes += 1.0;
            deepest = deepest.max(outside / own);
        }
    }
    (RELAXATION * sum / f64::max(pushes, 1.0), deepest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use crate::shapes::Cuboid;

    #[test]
    fn tetrahedra_fill_a_box_densely_and_lie_in_nothing() {
        let shape = Cuboid::new(DVec3::splat(0.4)).unwrap();
        let clump = Clump::tetrahedron(1.4).unwrap();
        let turn = |i: usize| Stream::new(1, i as u64).rotation();
        let settings = VolumeSettings::new(0.02).unwrap();
        let filled = fill_clumps(&shape, &clump, &settings, &turn).unwrap();
        let apart = VolumeSettings {
            radii: settings.radii.scaled(clump.extent()),
            ..settings
        };
        let loose = sample_volume(&shape, &apart, &|_| {}).unwrap().len();
        assert!(4 * filled.len() > 5 * loose, "{}, loose {loose}", filled.len());
        let sphere = |k: usize| {
            let (i, member) = (k / 4, clump.members()[k % 4]);
            let position = filled.positions[i] + turn(i) * (0.02 * member.offset);
            (position, 0.02 * member.radius)
        };
        for k in 0..4 * filled.len() {
            let (position, radius) = sphere(k);
            assert!(shape.distance(position) < -(1.0 - MAX_OVERLAP) * radius, "{position}");
            for j in 4 * (k / 4 + 1)..4 * filled.len() {
                let (other, its) = sphere(j);
                assert!(
                    position.distance(other) > radius + its - 2.0 * MAX_OVERLAP * radius,
                    "{k} {j}"
                );
            }
        }
    }
}
