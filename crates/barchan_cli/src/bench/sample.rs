//! A million particles inside a mesh of 70,000 triangles.

use std::time::Instant;

use barchan::geometry::mesh::{MeshSolid, primitives};
use barchan::geometry::sample::{Packing, VolumeSettings, sample_volume};
use serde_json::json;

use super::Printer;
use crate::memory;

const PARTICLES: f64 = 1e6;

pub fn run(printer: &mut Printer) {
    let mesh = primitives::torus(0.5, 0.25, 250, 140);
    let triangles = mesh.triangles.len();
    let solid = MeshSolid::new(mesh);
    let volume = 2.0 * std::f64::consts::PI.powi(2) * 0.5 * 0.25 * 0.25;
    // The packing fraction that each packing reaches; the radius follows from it.
    for (name, fraction) in [("random", 0.33), ("lattice", 0.58), ("dense", 0.60)] {
        let radius = (volume * fraction / PARTICLES * 0.75 / std::f64::consts::PI).cbrt();
        let packing = Packing::ALL.iter().find(|p| p.0 == name).expect("a packing").1;
        let settings = VolumeSettings {
            packing,
            ..VolumeSettings::new(radius).expect("a radius")
        };
        memory::reset_peak();
        let start = Instant::now();
        let particles = sample_volume(&solid, &settings, &|_| ()).expect("room for particles");
        let seconds = start.elapsed().as_secs_f64();
        printer.row(&json!({
            "name": format!("sample {name}"),
            "threads": rayon::current_num_threads(),
            "triangles": triangles,
            "particles": particles.len(),
            "packing": particles.volume() / volume,
            "seconds": seconds,
            "particles_per_s": particles.len() as f64 / seconds,
            "peak_bytes": memory::peak(),
        }));
    }
}
