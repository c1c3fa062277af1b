//! Bodies as particles that grains are moved by, for the rules as printed.

use std::sync::Arc;

use barchan_geometry::{Aabb, Shape};
use barchan_world::{Body, Boundary, Pose, World};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::field::Mover;

/// Distance of neighboring particles, in their radii [-].
const SPACING: f64 = 1.6;
/// Distance from the guides up to which unbounded bodies have particles, in radii of the largest guide [-].
const MARGIN: f64 = 20.0;
/// Rows of the lattice over a body [-]; one with more is covered near the guides only.
const MAX_ROWS: f64 = 4e6;

/// Particles of bodies. Bodies that are covered by particles for the guides have the same ones for grains.
#[derive(Debug, Default)]
pub(crate) struct BoundaryParticles {
    /// Particles of each body in its frame [m]; nothing for those that are covered anew in every frame.
    covers: Vec<Option<Arc<[Vec3]>>>,
}

impl BoundaryParticles {
    /// Appends the particles of the bodies of `world` to `movers`: where they were at the start of a frame of `duration` [s], when
    /// bodies had the poses `before`, and their velocities.
    pub fn append(&mut self, world: &World, before: &[(Pose, bool)], duration: f64, movers: &mut Vec<Mover>) {
        let radius = f64::from(world.guides.radius.iter().copied().fold(0.0, f32::max));
        if radius == 0.0 {
            return;
        }
        for body in &world.bodies[self.covers.len()..] {
            self.covers.push(whole(body, radius));
        }
        for ((body, cover), (start, was_present)) in world.bodies.iter().zip(&self.covers).zip(before) {
            if !body.is_present(world.time) {
                continue;
            }
            let local;
            let places = match cover {
                Some(places) => &**places,
                None => {
                    local = around_guides(world, body, radius);
                    &local
                }
            };
            let size = match &body.boundary {
                Boundary::Particles { radius, .. } => *radius,
                _ => radius as f32,
            };
            let start = if *was_present { *start } else { body.pose };
            let end = |p: DVec3| world.nearest_image(body.pose.point(p), start.point(p));
            movers.extend(places.iter().map(|place| {
                let place = place.as_dvec3();
                let from = start.point(place);
                let velocity = (end(place) - from) / duration;
                Mover::of_body((from - world.origin).as_vec3(), velocity.as_vec3(), size)
            }));
        }
    }
}

/// The particles of a bounded body of a reasonable size.
fn whole(body: &Body, radius: f64) -> Option<Arc<[Vec3]>> {
    if let Boundary::Particles { positions, .. } = &body.boundary {
        return Some(positions.clone());
    }
    let bounds = body.shape.bounds();
    let sides = bounds.size() / (SPACING * radius);
    (bounds.is_finite() && sides.y * sides.z < MAX_ROWS).then(|| cover(&*body.shape, &bounds, radius).into())
}

fn around_guides(world: &World, body: &Body, radius: f64) -> Vec<Vec3> {
    let places = (0..world.guides.len()).map(|i| body.pose.local(world.place(i)));
    let near = Aabb::of_points(places).grown(MARGIN * radius);
    let own = body.shape.bounds();
    let both = Aabb {
        min: near.min.max(own.min),
        max: near.max.min(own.max),
    };
    let sides = both.size() / (SPACING * radius);
    match sides.y * sides.z < MAX_ROWS {
        true => cover(&*body.shape, &both, radius),
        false => Vec::new(),
    }
}

/// Particles of `radius` [m] that touch the surface of `shape` from within: the nodes of a lattice next to that level, moved onto it.
fn cover(shape: &dyn Shape, bounds: &Aabb, radius: f64) -> Vec<Vec3> {
    if bounds.is_empty() {
        return Vec::new();
    }
    let side = SPACING * radius;
    let (first, last) = ((bounds.min / side).floor(), (bounds.max / side).ceil());
    let [_, rows, layers] = (last - first + 1.0).to_array().map(|n| n as usize);
    let row = |k: usize| {
        let (y, z) = (first.y + (k % rows) as f64, first.z + (k / rows) as f64);
        let mut x = first.x;
        let mut found = Vec::new();
        while x <= last.x {
            let node = side * DVec3::new(x, y, z);
            let level = shape.distance(node) + radius;
            if level.abs() <= 0.5 * side {
                found.push((node - level * shape.normal(node)).as_vec3());
            }
            // Distances are never above the true ones.
            x += ((level.abs() - 0.5 * side) / side).floor().max(1.0);
        }
        found
    };
    (0..rows * layers).into_par_iter().flat_map_iter(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::shapes::{HalfSpace, Sphere};

    #[test]
    fn a_cover_lies_a_radius_below_the_surface_and_leaves_no_gap() {
        let sphere = Sphere::new(0.3).unwrap();
        let radius = 0.02;
        let cover = cover(&sphere, &sphere.bounds(), radius);
        for p in &cover {
            assert!((f64::from(p.length()) - (0.3 - radius)).abs() < 1e-3 * radius);
        }
        // No direction is farther from a particle than a sphere of their size could slip through.
        for k in 0..500 {
            let z = 2.0 * (f64::from(k) + 0.5) / 500.0 - 1.0;
            let around = 2.4 * f64::from(k);
            let level = (1.0 - z * z).sqrt();
            let p = 0.28 * DVec3::new(level * around.cos(), level * around.sin(), z);
            let nearest = cover
                .iter()
                .map(|q| q.as_dvec3().distance(p))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 2.0 * radius, "{nearest} from {p}");
        }
        assert!(cover.len() < 2 * (4.0 * std::f64::consts::PI * (0.3 / 0.032f64).powi(2)) as usize);
    }

    #[test]
    fn a_ground_without_end_is_covered_in_one_layer_within_the_box() {
        let ground = HalfSpace::new(DVec3::Z, 0.0).unwrap();
        let bounds = Aabb {
            min: DVec3::splat(-0.5),
            max: DVec3::new(0.5, 0.5, 0.0),
        };
        let cover = cover(&ground, &bounds, 0.02);
        let per_side = (1.0 / 0.032f64).ceil() as usize + 1;
        assert!(
            (cover.len() as f64 / (per_side * per_side) as f64 - 1.0).abs() < 0.1,
            "{}",
            cover.len()
        );
        assert!(cover.iter().all(|p| (p.z + 0.02).abs() < 1e-6));
    }
}
