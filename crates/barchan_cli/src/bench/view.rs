//! Interactive speed: time per frame of the window for simulation and refinement, and for drawing with a hardware GPU.

use std::time::Instant;

use barchan::render::{Engine, Renderer};
use barchan::scene::{built_in, parse_scene};
use barchan::{Look, Simulation, Stage};
use serde_json::json;

use super::Printer;

/// Scenes with digging, and the frames in which their sand flows.
const SCENES: [(&str, std::ops::Range<u64>); 2] = [("sandcastle", 60..180), ("excavator", 60..180)];
/// Size of the window's picture [px].
const SIZE: [u32; 2] = [1280, 720];

pub fn run(printer: &mut Printer) {
    // A software GPU does not count: the CPU is busy with the simulation.
    let mut renderer = Renderer::open(Engine::Auto)
        .ok()
        .filter(|renderer| matches!(renderer, Renderer::Gpu(_)));
    for (scene, flowing) in SCENES {
        if let Err(error) = measure(scene, &flowing, renderer.as_mut(), printer) {
            tell!("{scene}: {error}");
        }
    }
}

fn measure(
    name: &str,
    flowing: &std::ops::Range<u64>,
    mut renderer: Option<&mut Renderer>,
    printer: &mut Printer,
) -> Result<(), Box<dyn std::error::Error>> {
    let (scene, _) = parse_scene(&built_in(name).expect("a built-in scene"))?;
    let mut simulation = Simulation::new(&scene)?;
    let stage = Stage::new(&scene, simulation.world());
    let look = Look {
        size: SIZE,
        ..Look::default()
    };
    let (mut guide_ms, mut grain_ms, mut draw_ms) = (0.0, 0.0, 0.0);
    let mut frames: Vec<f64> = Vec::new();
    while simulation.frame_number() < flowing.end {
        simulation.advance()?;
        if simulation.frame_number() > flowing.start {
            guide_ms += simulation.guide_ms();
            grain_ms += simulation.grain_ms();
            frames.push(simulation.guide_ms() + simulation.grain_ms());
            if let Some(renderer) = renderer.as_deref_mut() {
                let start = Instant::now();
                stage.draw(&simulation.frame(), &look, renderer)?;
                draw_ms += 1e3 * start.elapsed().as_secs_f64();
            }
        }
    }
    let count = frames.len() as f64;
    frames.sort_by(f64::total_cmp);
    let due = 1e3 / scene.frame_rate;
    printer.row(&json!({
        "name": format!("view {name}"),
        "scene": name,
        "threads": rayon::current_num_threads(),
        "guides": simulation.world().guides.len(),
        "grains": simulation.refiner().map_or(0, |refiner| refiner.grains().len()),
        "guide_ms": guide_ms / count,
        "grain_ms": grain_ms / count,
        "frame_ms": (guide_ms + grain_ms) / count,
        "slowest_ms": frames.last(),
        "frame_due_ms": due,
        "real_time": due / ((guide_ms + grain_ms) / count),
        "draw_ms": renderer.is_some().then_some(draw_ms / count),
    }));
    Ok(())
}
