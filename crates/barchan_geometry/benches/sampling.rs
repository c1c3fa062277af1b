//! A million particles inside a mesh of 70,000 triangles, and a cover of its surface.

use std::f64::consts::PI;
use std::hint::black_box;

use barchan_geometry::mesh::{MeshSolid, primitives};
use barchan_geometry::sample::surface::{SurfaceSettings, sample_surface};
use barchan_geometry::sample::{Packing, VolumeSettings, sample_volume};
use criterion::{Criterion, criterion_group, criterion_main};

fn sampling(c: &mut Criterion) {
    let mesh = primitives::torus(0.5, 0.25, 250, 140);
    let solid = MeshSolid::new(mesh.clone());
    let volume = 2.0 * PI * PI * 0.5 * 0.25 * 0.25;
    let mut group = c.benchmark_group("sampling");
    group.sample_size(10);
    for (name, packing, fraction) in [
        ("random 1M", Packing::Random, 0.33),
        ("lattice 1M", Packing::Lattice, 0.57),
        ("dense 1M", Packing::Dense, 0.594),
    ] {
        let radius = (volume * fraction / 1e6 * 0.75 / PI).cbrt();
        let settings = VolumeSettings {
            packing,
            ..VolumeSettings::new(radius).unwrap()
        };
        group.bench_function(name, |b| {
            b.iter(|| black_box(sample_volume(&solid, &settings, &|_| ()).unwrap()));
        });
    }
    group.bench_function("surface 30k", |b| {
        b.iter(|| black_box(sample_surface(&mesh, &solid, &SurfaceSettings::new(0.01), &|_| ()).unwrap()));
    });
    group.finish();
}

criterion_group!(benches, sampling);
criterion_main!(benches);
