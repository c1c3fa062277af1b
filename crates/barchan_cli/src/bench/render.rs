//! Pictures of a whole heap of sand on the ground.

use std::time::Instant;

use barchan::render::{Camera, Picture, Radii, Spheres, render};
use serde_json::json;

use super::Printer;
use crate::memory;

/// Grains, rounds.
const HEAPS: [(usize, usize); 2] = [(460_000, 10), (20_000_000, 1)];
const SIZE: [u32; 2] = [1280, 720];
/// Radius of the heap's base [m], its slope [-], and its packing fraction [-].
const BASE: f32 = 0.25;
const SLOPE: f32 = 0.67;
const FRACTION: f32 = 0.58;

/// Returns numbers in [-1, 1) of a linear congruential generator.
fn noise() -> impl FnMut() -> f32 {
    let mut state = 1u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Fills a cone with points in random order [m].
fn heap(count: usize) -> Vec<[f32; 3]> {
    let mut next = noise();
    let mut points = std::iter::repeat_with(|| [BASE * next(), BASE * next(), BASE * SLOPE * next().abs()]);
    let inside = |[x, y, z]: &[f32; 3]| *z < SLOPE * (BASE - x.hypot(*y));
    points.by_ref().filter(inside).take(count).collect()
}

pub fn run(printer: &mut Printer) {
    for (count, rounds) in HEAPS {
        let volume = std::f32::consts::PI / 3.0 * SLOPE * BASE.powi(3);
        let radius = (FRACTION * volume / (count as f32 * 4.0 / 3.0 * std::f32::consts::PI)).cbrt();
        memory::reset_peak();
        let grains: Vec<_> = heap(count).into_iter().map(Into::into).collect();
        let mut picture = Picture::new(Spheres::sand(&grains, Radii::One(radius)));
        picture.ground = Some(0.0);
        picture.camera = Camera::framing(&picture.bounds(), SIZE[0] as f32 / SIZE[1] as f32);
        let mut times: Vec<f64> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                render(&picture, SIZE[0], SIZE[1]).expect("a picture");
                1e3 * start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        printer.row(&json!({
            "name": "render cpu",
            "threads": rayon::current_num_threads(),
            "grains": count,
            "width": SIZE[0],
            "height": SIZE[1],
            "median_ms": times[rounds / 2],
            "best_ms": times[0],
            "grains_per_s": count as f64 / (1e-3 * times[0]),
            "peak_bytes": memory::peak(),
        }));
    }
}
