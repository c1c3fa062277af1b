//! Cost per grain, from a hundred thousand to twenty million grains, and the cost of each correction.

use barchan::geometry::random::Stream;
use barchan::geometry::sample::Radii;
use barchan::refine::{GrainRefiner, Mode, RefineSettings, Seeding};
use barchan::world::{Friction, Material, Materials, Refiner, World};
use glam::{DVec3, Vec3};
use serde_json::json;

use super::Printer;

/// Grains per guide.
const PER_GUIDE: u32 = 46;
/// Radius of a guide [m].
const RADIUS: f64 = 0.02;
/// Frames of warm-up, and frames that are measured.
const FRAMES: [u32; 2] = [4, 16];
const FRAME: f64 = 1.0 / 60.0;
/// Shear rate of the flow [1/s].
const SHEAR: f64 = 3.0;

pub fn run(printer: &mut Printer) {
    for grains in [100_000, 400_000, 1_600_000, 6_400_000, 20_000_000] {
        measure("gated", grains, &|_| (), printer);
    }
    let plain = |settings: &mut RefineSettings| (settings.mode, settings.spread) = (Mode::Ihmsen, false);
    measure("as published", 400_000, &plain, printer);
    let bound = |settings: &mut RefineSettings| (settings.flight, settings.separate) = (false, false);
    measure("without flight and separation", 400_000, &bound, printer);
    measure("repel", 400_000, &|settings| settings.repel = true, printer);
}

/// Measures the grains of a slab of guides in a shear flow.
fn measure(what: &str, grains: u32, change: &dyn Fn(&mut RefineSettings), printer: &mut Printer) {
    let mut world = slab(grains / PER_GUIDE);
    let radii = Radii::one(RADIUS / f64::from(PER_GUIDE).cbrt()).expect("a positive radius");
    let mut settings = RefineSettings {
        seeding: Seeding::Support,
        per_guide: Some(PER_GUIDE),
        ..RefineSettings::new(radii)
    };
    change(&mut settings);
    let mut refiner = match GrainRefiner::new(settings, &world, &[]) {
        Ok(refiner) => refiner,
        Err(error) => return tell!("{what}: {error}"),
    };
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    for frame in 0..FRAMES[0] + FRAMES[1] {
        let velocities = flow(&mut world);
        let start = std::time::Instant::now();
        rayon::scope(|_| refiner.advance(&world, &velocities, FRAME));
        if frame >= FRAMES[0] {
            let seconds = start.elapsed().as_secs_f64();
            best = best.min(seconds);
            total += seconds;
        }
    }
    let count = refiner.len() as f64;
    printer.row(&json!({
        "name": format!("refine {what} {grains}"),
        "threads": rayon::current_num_threads(),
        "guides": world.guides.len(),
        "grains": refiner.len(),
        "grain_step_ms": 1e3 * total / f64::from(FRAMES[1]),
        "ns_per_grain": 1e9 * total / f64::from(FRAMES[1]) / count,
        "best_ns_per_grain": 1e9 * best / count,
    }));
}

fn slab(guides: u32) -> World {
    let sand = Material {
        name: "sand".to_owned(),
        density: 1600.0,
        particle_density: 2650.0,
        friction: Friction {
            r#static: 0.35,
            kinetic: 0.3,
        },
        angle_of_repose: None,
    };
    let materials = Materials {
        all: vec![sand],
        ..Materials::default()
    };
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), materials, 1);
    // Twelve jittered layers, as wide as needed, as dense as settled sand.
    let spacing = 1.92 * RADIUS;
    let side = (f64::from(guides) / 12.0).sqrt().ceil() as u32;
    for k in 0..guides {
        let cell = DVec3::new(
            f64::from(k % side),
            f64::from(k / side % side),
            f64::from(k / side / side),
        );
        let jitter = 0.3 * (Stream::new(7, u64::from(k)).unit_cube() - 0.5);
        let place = spacing * (cell + jitter);
        let velocity = DVec3::X * (SHEAR * place.z);
        world.add_guide(place, velocity, RADIUS, world.settled_mass(0, RADIUS), 0);
    }
    world
}

/// Advances the guides by a frame, and returns their velocities [m/s].
fn flow(world: &mut World) -> Vec<Vec3> {
    let guides = &mut world.guides;
    let velocities: Vec<Vec3> = guides.position.iter().map(|p| Vec3::X * (SHEAR as f32 * p.z)).collect();
    for (place, velocity) in guides.position.iter_mut().zip(&velocities) {
        *place += *velocity * FRAME as f32;
    }
    velocities
}
