//! Bodies of the fuzz targets: each takes any bytes and must neither panic, hang nor allocate much.
//!
//! `crates/barchan/tests/corpus.rs` replays the seeds through the same functions, with a stable compiler.

mod checkpoint;
mod frame;
mod mesh;
mod points;
mod sample;
mod scene;

use barchan::geometry::mesh::MeshFormat;

/// Takes the bytes of one input.
pub type Body = fn(&[u8]);

/// Name of each target, which is also that of its seeds' folder, and its body.
pub const TARGETS: &[(&str, Body)] = &[
    ("obj", |bytes| mesh::parse_and_clean(bytes, MeshFormat::Obj)),
    ("stl", |bytes| mesh::parse_and_clean(bytes, MeshFormat::Stl)),
    ("ply", |bytes| mesh::parse_and_clean(bytes, MeshFormat::Ply)),
    ("gltf", |bytes| mesh::parse_and_clean(bytes, MeshFormat::Gltf)),
    ("scene", scene::check_and_run),
    ("set", scene::check_overrides),
    ("frame", frame::read),
    ("checkpoint", checkpoint::resume),
    ("points", points::read),
];

/// Calls the body of the target `name`.
pub fn feed(name: &str, bytes: &[u8]) {
    let (_, body) = TARGETS.iter().find(|target| target.0 == name).expect("a target's name");
    body(bytes);
}
