//! Settled guides as a solid that grains can fill.

use barchan_geometry::{Aabb, Shape};
use barchan_neighbors::Grid;
use barchan_world::World;
use glam::{DVec3, Vec3};

use crate::laws::{REACH, weight};

/// Guides as a solid: φ(x) = |x - Σwx_j/Σw| - Σwr_j/Σw with the weights that grains move by [Zhu05]. Pores are inside, and the
/// surface lies a radius outside the outermost centers.
#[derive(Debug)]
pub(crate) struct Cloud {
    origin: DVec3,
    places: Vec<Vec3>,
    radii: Vec<f32>,
    grid: Grid,
    bounds: Aabb,
    /// Radius of the largest guide [m].
    largest: f64,
}

impl Cloud {
    /// Returns the guides of `world` whose ids are in `ids`; none if there are none.
    pub fn new(world: &World, ids: &std::ops::Range<u32>) -> Option<Self> {
        let guides = &world.guides;
        let chosen: Vec<usize> = (0..guides.len()).filter(|&i| ids.contains(&guides.id[i])).collect();
        let places: Vec<Vec3> = chosen.iter().map(|&i| guides.position[i]).collect();
        let radii: Vec<f32> = chosen.iter().map(|&i| guides.radius[i]).collect();
        let largest = radii.iter().copied().reduce(f32::max)?;
        let mut grid = Grid::new();
        grid.build(&places, REACH * largest).ok()?;
        let bounds = Aabb::of_points(places.iter().map(|p| world.origin + p.as_dvec3()));
        Some(Self {
            origin: world.origin,
            places,
            radii,
            grid,
            bounds: bounds.grown(f64::from(largest)),
            largest: f64::from(largest),
        })
    }
}

impl Shape for Cloud {
    fn distance(&self, p: DVec3) -> f64 {
        let place = (p - self.origin).as_vec3();
        let (mut sum, mut offset, mut radius) = (0.0, Vec3::ZERO, 0.0);
        self.grid.near(place, |j, squared| {
            let j = j as usize;
            let reach = REACH * self.radii[j];
            let w = weight(squared, 1.0 / (reach * reach));
            sum += w;
            offset += w * (place - self.places[j]);
            radius += w * self.radii[j];
        });
        let outside = (p - p.clamp(self.bounds.min, self.bounds.max)).length();
        // Nothing is in reach: the surface is at least two radii away.
        if sum <= 0.0 {
            return outside.max(self.largest);
        }
        let distance = f64::from((offset / sum).length() - radius / sum);
        if outside > 0.0 { distance.max(outside) } else { distance }
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }
}
