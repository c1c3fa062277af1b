//! A heap of 460 thousand grains on the ground at 1280 x 720, on all cores.

use barchan_render::{Camera, Picture, Radii, Spheres, render};
use criterion::{Criterion, criterion_group, criterion_main};
use glam::Vec3;
use std::hint::black_box;

const COUNT: usize = 460_000;
const RADIUS: f32 = 0.002;

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

/// A cone of 34 degrees, filled in random order at the density of loose sand [m].
fn heap() -> Vec<Vec3> {
    let slope = 0.67;
    let volume = COUNT as f32 * 4.0 / 3.0 * std::f32::consts::PI * RADIUS.powi(3) / 0.58;
    let base = (3.0 * volume / (std::f32::consts::PI * slope)).cbrt();
    let mut next = noise();
    let mut points = std::iter::repeat_with(|| Vec3::new(base * next(), base * next(), base * slope * next().abs()));
    let inside = |p: &Vec3| p.z < slope * (base - p.truncate().length());
    points.by_ref().filter(inside).take(COUNT).collect()
}

fn heap_of_sand(criterion: &mut Criterion) {
    let grains = heap();
    let mut picture = Picture::new(Spheres::sand(&grains, Radii::One(RADIUS)));
    picture.ground = Some(0.0);
    picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
    let mut group = criterion.benchmark_group("render");
    group.sample_size(10);
    group.bench_function("460k grains, 1280x720", |bencher| {
        bencher.iter(|| render(black_box(&picture), 1280, 720).expect("a picture"));
    });
}

criterion_group!(benches, heap_of_sand);
criterion_main!(benches);
