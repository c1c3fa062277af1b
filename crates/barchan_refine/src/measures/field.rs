//! Agreement of the mass of grains with that of guides.

use glam::{DVec3, Vec3};

/// Difference of two mass fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassError {
    /// Σ|m_grains - m_guides| / (2 Σ m_guides) over cells with guides in all cells around [-].
    pub bulk: f64,
    /// The same over all other cells except edges [-].
    pub surface: f64,
    /// The same over columns of cells that guides fill no higher than a cell: the foot of a heap [-].
    pub edge: f64,
    /// Mass of all grains over that of all guides [-].
    pub total: f64,
    /// Distance of the centers of mass [m].
    pub offset: f64,
}

/// Compares the mass distributions of `guides` and `grains` (positions [m] and masses [kg]) on a grid of `cell` [m];
/// both are distributed to the eight nearest nodes by trilinear weights. None if there are no guides.
pub fn mass_error(guides: &[(Vec3, f32)], grains: &[(Vec3, f32)], cell: f32) -> Option<MassError> {
    let (low, high) = guides
        .iter()
        .chain(grains)
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), (p, _)| {
            (a.min(*p), b.max(*p))
        });
    if guides.is_empty() {
        return None;
    }
    // A node beyond each end, so that all weights have a place.
    let low = low - cell;
    let size = ((high - low) / cell).as_ivec3() + 3;
    let index = |x: i32, y: i32, z: i32| ((z * size.y + y) * size.x + x) as usize;
    let deal = |points: &[(Vec3, f32)]| {
        let mut nodes = vec![0.0f64; (size.x * size.y * size.z) as usize];
        for &(p, mass) in points {
            let place = (p - low) / cell;
            let first = place.floor();
            let (t, k) = (place - first, first.as_ivec3());
            for corner in 0..8 {
                let [dx, dy, dz] = [corner & 1, corner >> 1 & 1, corner >> 2];
                let along = |d: i32, t: f32| if d == 1 { t } else { 1.0 - t };
                let weight = along(dx, t.x) * along(dy, t.y) * along(dz, t.z);
                nodes[index(k.x + dx, k.y + dy, k.z + dz)] += f64::from(mass * weight);
            }
        }
        nodes
    };
    let (of_guides, of_grains) = (deal(guides), deal(grains));
    let mean = of_guides.iter().sum::<f64>() / of_guides.iter().filter(|m| **m > 0.0).count() as f64;
    let is_full = |x: i32, y: i32, z: i32| of_guides[index(x, y, z)] > 0.25 * mean;
    let (mut bulk, mut surface, mut edge) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for y in 1..size.y - 1 {
        for x in 1..size.x - 1 {
            let height = (1..size.z - 1).filter(|&z| is_full(x, y, z)).count();
            for z in 1..size.z - 1 {
                let at = index(x, y, z);
                let is_bulk = (-1..=1).all(|dz| (-1..=1).all(|dy| (-1..=1).all(|dx| is_full(x + dx, y + dy, z + dz))));
                let sums = match (is_bulk, height) {
                    (true, _) => &mut bulk,
                    (false, 0..=1) => &mut edge,
                    (false, _) => &mut surface,
                };
                sums[0] += (of_grains[at] - of_guides[at]).abs();
                sums[1] += of_guides[at];
            }
        }
    }
    let share = |[difference, all]: [f64; 2]| if all > 0.0 { difference / (2.0 * all) } else { 0.0 };
    let center = |points: &[(Vec3, f32)]| {
        let mass: f64 = points.iter().map(|p| f64::from(p.1)).sum();
        let moment: DVec3 = points.iter().map(|p| p.0.as_dvec3() * f64::from(p.1)).sum();
        (mass, moment / mass)
    };
    let ((guide_mass, guide_center), (grain_mass, grain_center)) = (center(guides), center(grains));
    Some(MassError {
        bulk: share(bulk),
        surface: share(surface),
        edge: share(edge),
        total: grain_mass / guide_mass,
        offset: guide_center.distance(grain_center),
    })
}
