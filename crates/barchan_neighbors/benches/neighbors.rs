//! Build and lists together, with everything reused, on all cores: a lattice of spacing 10 mm, each point moved by up to
//! 0.4 of the spacing per axis, searched within 20 mm (about 33 neighbors), in lattice order and shuffled.

use barchan_neighbors::{Grid, Lists, jittered_lattice};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;
use std::hint::black_box;

const SPACING: f32 = 0.01;
const JITTER: f32 = 0.4;
const REACH: f32 = 0.02;

/// Fisher-Yates with a linear congruential generator.
fn shuffled(mut points: Vec<Vec3>) -> Vec<Vec3> {
    let mut state = 1u64;
    for i in (1..points.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        points.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    points
}

fn build_and_lists(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build and lists");
    group.sample_size(50);
    for count in [100_000, 1_000_000] {
        group.throughput(Throughput::Elements(count as u64));
        let lattice = jittered_lattice(count, SPACING, JITTER, 1);
        for (order, points) in [("shuffled", shuffled(lattice.clone())), ("lattice", lattice)] {
            let (mut grid, mut lists) = (Grid::new(), Lists::new());
            group.bench_with_input(BenchmarkId::new(order, count), &points, |bencher, points| {
                bencher.iter(|| {
                    grid.build(black_box(points), REACH).expect("finite points");
                    lists.find(&grid);
                    black_box(&lists);
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, build_and_lists);
criterion_main!(benches);
