//! Grains that touch a body that stays, sixteen at a time.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use barchan_geometry::sdf_grid::{LANES, Lane};
use barchan_simd::{Simd, vectorized};

/// Up to sixteen grains at a body, as columns.
#[derive(Clone, Debug)]
pub(crate) struct Touching {
    /// Positions [m], and velocities [m/s].
    pub place: [Lane; 3],
    pub velocity: [Lane; 3],
    pub radius: Lane,
    /// Distance from the body [m].
    pub distance: Lane,
    /// Gradient of the distance, outward [-]; of length 1 after [`push_out`].
    pub normal: [Lane; 3],
    /// Static and kinetic friction [-].
    pub friction: [Lane; 2],
}

vectorized! {
    /// Pushes grains that went for `step` [s] to the surface, and takes away what speed leads into it, and as much of the rest as friction
    /// can.
    pub(crate) fn push_out(grains: &mut Touching, step: f32) = push_all
}

#[inline(always)]
fn push_all(_: impl Simd, grains: &mut Touching, step: f32) {
    let Touching {
        place,
        velocity,
        radius,
        distance,
        normal,
        friction,
    } = grains;
    for l in 0..LANES {
        let (x, y, z) = (normal[0][l], normal[1][l], normal[2][l]);
        let inverse = 1.0 / (x * x + y * y + z * z).sqrt().max(f32::MIN_POSITIVE);
        let n = [x * inverse, y * inverse, z * inverse];
        let v = [velocity[0][l], velocity[1][l], velocity[2][l]];
        let (push, mu) = (radius[l] - distance[l], [friction[0][l], friction[1][l]]);
        let across = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
        let t = [v[0] - across * n[0], v[1] - across * n[1], v[2] - across * n[2]];
        let speed = (t[0] * t[0] + t[1] * t[1] + t[2] * t[2]).sqrt();
        let rubbed = step * rubbed(step * speed, push, mu);
        // Whoever goes away from the body keeps its velocity.
        let inward = (-across).max(0.0);
        let left = 1.0
            - if inward > 0.0 {
                self::rubbed(speed, inward, mu)
            } else {
                0.0
            };
        let kept = across.max(0.0);
        for axis in 0..3 {
            normal[axis][l] = n[axis];
            place[axis][l] += n[axis] * push - t[axis] * rubbed;
            velocity[axis][l] = t[axis] * left + n[axis] * kept;
        }
    }
}

/// The part [-] of a way `along` [m] a surface that friction takes away, with `pressed` [m] the way taken away across it: all if it is no
/// more than μ_s `pressed`, else μ_k `pressed` of it; Coulomb's law in positions.
#[inline(always)]
fn rubbed(along: f32, pressed: f32, [r#static, kinetic]: [f32; 2]) -> f32 {
    let slides = kinetic * pressed / along.max(f32::MIN_POSITIVE);
    if along <= r#static * pressed { 1.0 } else { slides }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grain of radius 0.01 m in each lane, over the plane z = 0.
    fn grain(distance: f32, velocity: [f32; 3], friction: [f32; 2]) -> Touching {
        Touching {
            place: [[0.5; LANES], [-0.25; LANES], [distance; LANES]],
            velocity: velocity.map(|v| [v; LANES]),
            radius: [0.01; LANES],
            distance: [distance; LANES],
            // Fields do not have gradients of length 1 everywhere.
            normal: [[0.0; LANES], [0.0; LANES], [0.9; LANES]],
            friction: friction.map(|mu| [mu; LANES]),
        }
    }

    #[test]
    fn a_grain_that_slides_loses_what_friction_takes_and_one_that_hardly_moves_stays() {
        let step = 0.01;
        let mut slides = grain(0.008, [0.3, 0.4, -0.5], [0.6, 0.5]);
        push_out(&mut slides, step);
        let mut stays = grain(0.008, [0.06, 0.08, -0.5], [0.6, 0.5]);
        push_out(&mut stays, step);
        for l in 0..LANES {
            // Pushed by 2 mm, it slides back by half of that of the 5 mm that it went; at 0.5 m/s into the ground, friction takes 0.25.
            let at = |axis: usize| slides.place[axis][l];
            assert!((at(2) - 0.01).abs() < 1e-7);
            assert!((at(0) - (0.5 - 0.6e-3)).abs() < 1e-6 && (at(1) - (-0.25 - 0.8e-3)).abs() < 1e-6);
            let velocity = [0, 1, 2].map(|axis| slides.velocity[axis][l]);
            let expected = [0.15, 0.2, 0.0];
            assert!(velocity.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
            // The 1 mm that it went along the ground is undone.
            assert!((stays.place[0][l] - (0.5 - 0.6e-3)).abs() < 1e-6);
            assert!([0, 1, 2].iter().all(|&axis| stays.velocity[axis][l].abs() < 1e-7));
        }
    }

    #[test]
    fn a_grain_that_leaves_keeps_its_velocity() {
        let mut leaves = grain(0.009, [0.1, 0.0, 0.2], [0.6, 0.5]);
        push_out(&mut leaves, 0.01);
        for l in 0..LANES {
            assert!((leaves.velocity[0][l] - 0.1).abs() < 1e-7 && (leaves.velocity[2][l] - 0.2).abs() < 1e-7);
            assert!((leaves.place[2][l] - 0.01).abs() < 1e-7);
        }
    }
}
