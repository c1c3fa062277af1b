#![no_main]

mod common;

use barchan_geometry::mesh::MeshFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| common::parse_and_clean(bytes, MeshFormat::Obj));
