//! Scene files, and settings given beside them.

use barchan::scene::{Document, Scene, built_in, parse_scene};
use barchan::{Forecast, Simulation, check_settings, doubts, forecast};

/// Checks a scene. One that is found good and small is built and advanced by a frame: errors are fine, panics are not.
pub fn check_and_run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    check(&Document::new("scene.toml", text), true);
}

/// Checks a built-in scene with every line of the input as a `--set`.
pub fn check_overrides(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut document = built_in("column").expect("a built-in scene");
    for line in text.lines().take(16) {
        document = document.with(line);
    }
    check(&document, false);
}

fn check(document: &Document, run: bool) {
    let scene = match parse_scene(document) {
        Ok((scene, warnings)) => {
            let rendered = warnings.iter().all(|warning| !warning.render(document).is_empty());
            assert!(rendered);
            scene
        }
        Err(errors) => {
            assert!(!errors.items.is_empty() && !errors.to_string().is_empty());
            return;
        }
    };
    let doubted = doubts(&scene).iter().all(|doubt| !doubt.render(document).is_empty());
    assert!(doubted);
    if check_settings(&scene).is_ok() && run && is_small(&scene) {
        let _ = Simulation::new(&scene).map(|mut simulation| simulation.advance());
    }
}

/// Returns true if building the scene and simulating a frame takes a moment.
fn is_small(scene: &Scene) -> bool {
    let settles = scene.settle() > 0.02;
    let fits = |forecast: Forecast| forecast.filled + forecast.emitted < 500.0 && forecast.grains < 5e3;
    !settles && scene.bodies.len() < 3 && forecast(scene).is_ok_and(fits)
}
