//! What emitters pour.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};

/// Mass [kg] that an emitter whose disc is turned by `rotate` [°] has poured after half a second.
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
    // A slanted disc fills a tenth of the box around it, an upright one most of it.
    for rotate in ["[0, 0, 0]", "[45, 0, 0]", "[35, 40, 10]"] {
        let poured = poured(rotate);
        assert!(
            (poured - owed).abs() < 0.02 * owed,
            "{poured} of {owed} kg, turned by {rotate}"
        );
    }
}
