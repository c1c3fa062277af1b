//! Writes a frame of 500,000 grains (id, position, velocity: 14 MB) to disk, by zstd level and with compact positions.

use std::fs;
use std::hint::black_box;

use barchan_io::{Cache, CacheSettings, CacheWriter, Part, Run};
use barchan_world::{Column, Frame, Table};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;

const GRAINS: u32 = 500_000;
const SIDE: u32 = 80;
const SPACING: f32 = 0.008;
const BYTES: u64 = GRAINS as u64 * (4 + 12 + 12);

/// Returns a number in -1 to 1 that depends on `i` and `salt` only.
fn noise(i: u32, salt: u32) -> f32 {
    let mixed = (i ^ salt.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 15)).wrapping_mul(0xc2b2_ae35) >> 8) as f32 / 8_388_608.0 - 1.0
}

/// Grains near a lattice, in its order, as in refinement; the lower half is at rest and the upper half falls.
fn grains() -> Table {
    let jitter = |i, salt| Vec3::new(noise(i, salt), noise(i, salt + 1), noise(i, salt + 2));
    let place = |i| Vec3::new((i % SIDE) as f32, (i / SIDE % SIDE) as f32, (i / SIDE / SIDE) as f32);
    let position = |i| (place(i) + 0.4 * jitter(i, 1)) * SPACING;
    let velocity = |i| match i < GRAINS / 2 {
        true => 1e-4 * jitter(i, 4),
        false => Vec3::NEG_Z + 0.2 * jitter(i, 4),
    };
    let mut table = Table::default();
    table.push("id", Column::U32((0..GRAINS).collect()));
    table.push("position", Column::Vec3((0..GRAINS).map(position).collect()));
    table.push("velocity", Column::Vec3((0..GRAINS).map(velocity).collect()));
    table
}

fn with_constants(mut table: Table) -> Table {
    table.push("radius", Column::F32(vec![SPACING / 2.0; GRAINS as usize]));
    table.push("material", Column::U8(vec![0; GRAINS as usize]));
    table
}

fn write(folder: &std::path::Path, grains: Table, level: i32, compact: bool) {
    let run = Run {
        scene: serde_json::Value::Null,
        version: String::new(),
        solver: String::new(),
        frame_rate: 60.0,
        first_frame: 0,
        files: Default::default(),
    };
    let settings = CacheSettings {
        parts: vec![Part::Grains],
        grains_every: 1,
        compact,
        level,
    };
    let mut writer = CacheWriter::create(folder, run, settings).expect("a folder");
    let frame = Frame {
        grains: Some(grains),
        ..Frame::default()
    };
    writer.push(frame).expect("a frame");
    writer.finish().expect("a cache");
}

fn cache(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut group = criterion.benchmark_group("write 500k grains");
    group.sample_size(10).throughput(Throughput::Bytes(BYTES));
    let levels = [-5, -1, 1, 2, 3, 6].map(|level| (format!("zstd {level}"), grains(), level, false));
    let others = [
        ("zstd 1 and constants".to_owned(), with_constants(grains()), 1, false),
        ("zstd 1, compact".to_owned(), grains(), 1, true),
    ];
    for (name, table, level, compact) in levels.into_iter().chain(others) {
        write(folder.path(), table.clone(), level, compact);
        let length = fs::metadata(folder.path().join("grains/000000.arrow"))
            .expect("a frame")
            .len();
        let name = format!("{name}, {:.2} MB", length as f64 / 1e6);
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_batched(
                || table.clone(),
                |table| write(folder.path(), table, level, compact),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();

    write(folder.path(), grains(), CacheSettings::default().level, false);
    let cache = Cache::open(folder.path()).expect("a cache");
    let mut group = criterion.benchmark_group("read 500k grains");
    group.sample_size(10).throughput(Throughput::Bytes(BYTES));
    group.bench_function("default", |bencher| {
        bencher.iter(|| black_box(cache.read_grains(0).expect("grains")));
    });
    group.finish();
}

criterion_group!(benches, cache);
criterion_main!(benches);
