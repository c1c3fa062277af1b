//! A body's surface as particles, [Akinci12].

use std::sync::Arc;

use barchan_neighbors::Grid;
use glam::{DVec3, Vec3};

use crate::laws::kernel;

/// Particles on a body's surface, in its frame, and what each stands for.
#[derive(Debug)]
pub(crate) struct Cover {
    positions: Arc<[Vec3]>,
    /// V = 1/Σ W [m³], the sum over particles of the body, for kernels of radius `support` [m].
    volumes: Vec<f32>,
    support: f32,
    grid: Grid,
}

impl Cover {
    /// The particles `positions` [m] for kernels of up to `support` [m].
    pub(crate) fn new(positions: Arc<[Vec3]>, support: f32) -> Self {
        let mut grid = Grid::new();
        grid.build(&positions, support).expect("boundary particles are finite");
        let volume = |p: &Vec3| {
            let mut sum = 0.0;
            grid.near(*p, |_, squared| {
                sum += kernel::value_and_slope(squared.sqrt(), 1.0 / support).0;
            });
            1.0 / sum.max(f32::MIN_POSITIVE)
        };
        let volumes = positions.iter().map(volume).collect();
        Self {
            positions,
            volumes,
            support,
            grid,
        }
    }

    /// Returns true if these are the particles `positions`.
    pub(crate) fn is_of(&self, positions: &Arc<[Vec3]>) -> bool {
        Arc::ptr_eq(&self.positions, positions)
    }

    /// λ = Σ V W [-] at `p` [m] for a kernel of radius `support` [m], and ∇λ [1/m]. A layer stands for a volume in proportion to the kernel
    /// that meets it.
    pub(crate) fn held(&self, p: DVec3, support: f32) -> (f64, DVec3) {
        let p = p.as_vec3();
        let scale = support / self.support;
        let (mut value, mut gradient) = (0.0, Vec3::ZERO);
        self.grid.near(p, |k, squared| {
            let k = k as usize;
            let (w, slope) = kernel::value_and_slope(squared.sqrt(), 1.0 / support);
            let volume = scale * self.volumes[k];
            value += volume * w;
            gradient += volume * slope * (p - self.positions[k]);
        });
        (value.into(), gradient.as_dvec3())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane layer at z = 0, `spacing` [m] apart.
    fn layer(spacing: f32) -> Arc<[Vec3]> {
        (-12..=12)
            .flat_map(|x| (-12..=12).map(move |y| spacing * Vec3::new(x as f32, y as f32, 0.0)))
            .collect()
    }

    #[test]
    fn a_particle_of_a_plane_layer_stands_for_what_is_known_of_it() {
        let cover = Cover::new(layer(1.0), 2.0);
        let middle = cover.volumes[12 * 25 + 12];
        assert!((middle - 1.427).abs() < 1e-3, "{middle}");
    }

    #[test]
    fn a_layer_holds_the_same_of_a_kernel_however_finely_it_is_sampled() {
        let held =
            |spacing: f32, support: f32| Cover::new(layer(spacing), 2.0).held(DVec3::new(0.2, 0.3, 1.098), support);
        let (coarse, fine) = (held(1.0, 2.0), held(0.6, 2.0));
        assert!((coarse.0 / fine.0 - 1.0).abs() < 0.05, "{} {}", coarse.0, fine.0);
        // As a half-space does, kernels of half the size hold as much at half the distance.
        let half = Cover::new(layer(0.4), 2.0).held(DVec3::new(0.1, 0.15, 0.549), 1.0);
        assert!((half.0 / fine.0 - 1.0).abs() < 0.05, "{} {}", half.0, fine.0);
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let cover = Cover::new(layer(1.0), 2.0);
        let (p, e) = (DVec3::new(0.3, -0.2, 0.9), 1e-3);
        let (_, gradient) = cover.held(p, 2.0);
        for axis in 0..3 {
            let way = e * DVec3::AXES[axis];
            let difference = (cover.held(p + way, 2.0).0 - cover.held(p - way, 2.0).0) / (2.0 * e);
            assert!(
                (difference - gradient[axis]).abs() < 1e-3,
                "{difference} {}",
                gradient[axis]
            );
        }
    }
}
