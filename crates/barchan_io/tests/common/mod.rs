//! Frames to write.

use std::ops::Range;

use barchan_io::{CacheSettings, CacheWriter, Run};
use barchan_world::{BodyState, Column, Frame, Stats, Table};
use glam::{DVec3, Vec3};
use tempfile::TempDir;

pub fn run(first_frame: u64) -> Run {
    Run {
        scene: serde_json::json!({ "name": "hourglass", "gravity": [0.0, 0.0, -9.81] }),
        version: "0.1.0".to_owned(),
        solver: "pbd".to_owned(),
        frame_rate: 60.0,
        first_frame,
        files: Default::default(),
    }
}

/// Particles on a spiral that rotates with `phase`; all of one radius.
pub fn particles(count: u32, phase: f32) -> Table {
    let angle = |i: u32| phase + 0.1 * i as f32;
    let place = |i| Vec3::new(angle(i).cos(), angle(i).sin(), 0.001 * i as f32);
    let mut table = Table::default();
    table.push("id", Column::U32((0..count).collect()));
    table.push("position", Column::Vec3((0..count).map(place).collect()));
    table.push(
        "velocity",
        Column::Vec3((0..count).map(|i| Vec3::Z.cross(place(i))).collect()),
    );
    table.push("radius", Column::F32(vec![0.028; count as usize]));
    table.push("material", Column::U8((0..count).map(|i| (i % 2) as u8).collect()));
    table
}

pub fn frame(number: u64) -> Frame {
    let phase = number as f32;
    let body = |name: &str| BodyState {
        name: name.to_owned(),
        position: DVec3::new(1.0 / 3.0, number as f64, 1e3),
        rotation: [0.0, 0.6, 0.0, 0.8],
        linear_velocity: DVec3::X,
        angular_velocity: DVec3::Y / 7.0,
        force: DVec3::new(-1e6, 1e-9, 0.1),
        torque: DVec3::splat(number as f64),
    };
    Frame {
        number,
        time: number as f64 / 60.0,
        guides: particles(100, phase),
        grains: Some(particles(300, phase)),
        bodies: vec![body("glass"), body("scoop, \"left\"")],
        contacts: Some(particles(7, phase)),
        fields: Some(particles(3, phase)),
        stats: Stats {
            steps: 4,
            guides: 100,
            grains: 300,
            mass: 1.0 / 3.0,
            removed_mass: 0.1,
            emitted_mass: 0.2,
            ledger_closes: true,
            kinetic_energy: 1e-17,
            potential_energy: -3.3,
            momentum: DVec3::new(0.1, 0.2, 0.3),
            max_speed: 5.5,
            max_overlap: 0.01,
            guide_ms: 1.25,
            grain_ms: 0.5,
            extras: vec![("iterations".to_owned(), 3.0)],
        },
    }
}

/// Writes a cache with these frames.
pub fn written(frames: Range<u64>, settings: CacheSettings) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), settings).unwrap();
    for number in frames {
        writer.push(frame(number)).unwrap();
    }
    writer.finish().unwrap();
    folder
}
