//! Mass poured by emitters.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};

/// Returns the mass [kg] that an emitter whose disc is rotated by `rotate` [°] has poured after half a second.
fn poured(rotate: &str) -> f64 {
    let text = format!(
        r#"
duration = 1
gravity = [0, 0, -9.81]
[materials.sand]
density = 1600
[[emitter]]
material = "sand"
radius = 0.01
shape = {{ cylinder = {{ radius = 0.3, height = 0.05 }}, at = [0, 0, 1], rotate = {rotate} }}
velocity = [0, 0, -3]
rate = 40
"#
    );
    let (scene, _) = parse_scene(&Document::new("scene", &*text)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut simulation = Simulation::new(&scene).unwrap();
    while simulation.world().time < 0.5 - 1e-9 {
        simulation.advance().unwrap();
    }
    simulation.world().guides.mass.iter().map(|m| f64::from(*m)).sum()
}

#[test]
fn an_emitter_pours_what_it_owes_however_it_is_turned() {
    let owed = 40.0 * 0.5;
    // A slanted disc fills a tenth of its bounding box, an upright one most of it.
    for rotate in ["[0, 0, 0]", "[45, 0, 0]", "[35, 40, 10]"] {
        let poured = poured(rotate);
        assert!(
            (poured - owed).abs() < 0.02 * owed,
            "{poured} of {owed} kg, turned by {rotate}"
        );
    }
}

#[test]
fn a_frame_may_need_many_guides_and_none_overlaps_another() {
    let text = r#"
duration = 1
frame_rate = 1
[materials.sand]
density = 1600
[[emitter]]
material = "sand"
radius = { min = 0.004, max = 0.006 }
shape = { box = { size = [1, 1, 1] } }
rate = 100
"#;
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut world = scene.build().unwrap();
    world.emit(1.0);
    let count = world.guides.len();
    assert!(count > 60_000, "{count}");
    let places: Vec<_> = (0..count).map(|i| world.place(i)).collect();
    let radii: Vec<_> = world.guides.radius.iter().map(|&r| f64::from(r)).collect();
    let nearest = barchan::geometry::sample::min_distance(&places, &radii).unwrap();
    assert!(nearest > 1.0 - 1e-6, "{nearest}");
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    assert!((mass - 100.0).abs() < 0.01, "{mass} kg");
}

/// Amplitude of the density of a stream along its way at a wavelength [m], of its mean [-]: 1 for thin layers, little for an even stream.
fn layering(heights: &[f64], wavelength: f64) -> f64 {
    let phase = |z: &f64| std::f64::consts::TAU * z / wavelength;
    let (sin, cos) = heights
        .iter()
        .fold((0.0, 0.0), |(s, c), z| (s + phase(z).sin(), c + phase(z).cos()));
    f64::hypot(sin, cos) / heights.len() as f64
}

#[test]
fn a_stream_has_no_layers_however_fast_it_is_poured() {
    // 2 m/s, 40 mm per frame. The second rate is more than a random stream can carry.
    for rate in [40.0, 160.0] {
        let text = format!(
            r#"
duration = 2
frame_rate = 50
gravity = [0, 0, 0]
[materials.sand]
density = 1600
[[emitter]]
material = "sand"
radius = 0.01
shape = {{ box = {{ size = [0.2, 0.2, 0.05] }} }}
velocity = [0, 0, -2]
rate = {rate}
"#
        );
        let (scene, _) = parse_scene(&Document::new("scene", &*text)).unwrap_or_else(|problems| panic!("{problems}"));
        let mut world = scene.build().unwrap();
        for _ in 0..60 {
            world.emit(0.02);
            world.time += 0.02;
            world.guides.position.iter_mut().for_each(|place| place.z -= 0.04);
        }
        let heights: Vec<f64> = (0..world.guides.len())
            .map(|i| world.place(i).z)
            .filter(|z| (-2.2..-0.2).contains(z))
            .collect();
        assert!(heights.len() > 1000, "{}", heights.len());
        for wavelength in [0.04, 0.02, 0.0133] {
            let found = layering(&heights, wavelength);
            assert!(found < 0.06, "{found} at {wavelength} m, {rate} kg/s");
        }
    }
}

#[test]
fn guides_that_weigh_nothing_are_not_emitted_for_ever() {
    let text = r#"
duration = 1
[materials.sand]
density = 1600
[[emitter]]
material = "sand"
radius = 0.01
shape = { box = { size = [1, 1, 1] } }
rate = 100
"#;
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut world = scene.build().unwrap();
    // No scene can specify this; a program can.
    world.materials.all[0].density = 1e-60;
    world.emit(1.0);
    assert!(world.guides.is_empty());
}
