//! Distance queries on a mesh of 70,000 triangles at random points of its bounds, on one thread.

#[path = "../tests/volumes/support.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod support;

use std::hint::black_box;

use barchan_geometry::mesh::primitives;
use barchan_geometry::{Shape, TriMesh, mesh::MeshSolid};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::DVec3;

const POINTS: u64 = 4096;

fn queries(criterion: &mut Criterion, name: &str, mesh: &TriMesh) {
    let points: Vec<DVec3> = support::points_in(mesh.bounds(), POINTS).collect();
    let solid = MeshSolid::new(mesh.clone());
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    group.bench_function("build", |b| b.iter_with_large_drop(|| MeshSolid::new(mesh.clone())));
    group.throughput(Throughput::Elements(POINTS));
    group.bench_function("closest_point", |b| {
        b.iter(|| {
            for &p in &points {
                black_box(solid.closest_point(p));
            }
        });
    });
    group.bench_function("winding_number", |b| {
        b.iter(|| {
            for &p in &points {
                black_box(solid.winding_number(p));
            }
        });
    });
    group.bench_function("signed_distance", |b| {
        b.iter(|| {
            for &p in &points {
                black_box(solid.distance(p));
            }
        });
    });
    group.finish();
}

fn mesh_distance(criterion: &mut Criterion) {
    queries(criterion, "torus_70k", &primitives::torus(1.0, 0.4, 264, 132));
    queries(criterion, "icosphere_82k", &primitives::icosphere(1.0, 6));
}

criterion_group!(benches, mesh_distance);
criterion_main!(benches);
