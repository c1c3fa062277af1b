//! Lookups in a distance grid, on one thread, at points of the band in random order and at points in a row.

#[path = "../tests/volumes/support.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod support;

use std::hint::black_box;

use barchan_geometry::Shape;
use barchan_geometry::sdf_grid::{LANES, Lane, SdfGrid};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::DVec3;

fn sdf_grid(criterion: &mut Criterion) {
    let torus = support::Torus { major: 1.0, minor: 0.4 };
    let (voxel, band) = (0.01, 0.03);
    let grid = SdfGrid::build(&torus, voxel, band, 1 << 30).unwrap();
    let random: Vec<DVec3> = support::points_in(torus.bounds(), 1 << 16)
        .filter(|&p| torus.distance(p).abs() < band)
        .collect();
    let mut sorted = random.clone();
    sorted.sort_by_key(|p| ((p + 2.0) / (8.0 * voxel)).as_ivec3().to_array());

    let mut group = criterion.benchmark_group("sdf_grid");
    group.bench_function("build", |b| {
        b.iter_with_large_drop(|| SdfGrid::build(&torus, voxel, band, 1 << 30).unwrap());
    });
    group.throughput(Throughput::Elements(random.len() as u64));
    for (order, points) in [("random", &random), ("sorted", &sorted)] {
        group.bench_function(format!("distance_{order}"), |b| {
            b.iter(|| points.iter().map(|&p| grid.distance(p)).sum::<f64>());
        });
        let columns: Vec<[Lane; 3]> = points
            .as_chunks::<LANES>()
            .0
            .iter()
            .map(|sixteen| [0, 1, 2].map(|axis| sixteen.map(|p| (p - grid.corner())[axis] as f32)))
            .collect();
        group.bench_function(format!("distances_{order}"), |b| {
            b.iter(|| {
                let mut out = [0.0; LANES];
                columns.iter().for_each(|places| {
                    grid.distances(places, &mut out);
                    black_box(&out);
                });
            });
        });
        group.bench_function(format!("distance_and_normal_{order}"), |b| {
            b.iter(|| {
                points.iter().for_each(|&p| {
                    black_box(grid.distance_and_normal(p));
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sdf_grid);
criterion_main!(benches);
