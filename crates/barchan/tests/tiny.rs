//! Each solver moves a handful of guides with grains: small enough for Miri.
//!
//! `MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows" cargo +nightly miri test -p barchan --test tiny`

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};

const SCENE: &str = r#"
duration = 1
frame_rate = 200
[materials.sand]
density = 1600
angle_of_repose = 30
youngs_modulus = 1e5
[[fill]]
material = "sand"
radius = 0.05
packing = "lattice"
shape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.15] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[refine]
radius = 0.03
"#;

fn falls(solver: &str) {
    let document = Document::new("tiny.toml", SCENE).with(format!("solver.kind={solver}"));
    let (scene, _) = parse_scene(&document).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    let mass = simulation.frame().stats.mass;
    simulation.advance().unwrap();
    let frame = simulation.frame();
    let grains = frame.grains.map_or(0, |grains| grains.len());
    assert!(
        frame.guides.len() > 4 && grains > 8,
        "{} guides, {grains} grains",
        frame.guides.len()
    );
    assert_eq!(frame.stats.mass, mass);
    // Gravity acts, and the ground supports the sand without pushing it off. Published velocities include displacements.
    let momentum = frame.stats.momentum[2];
    let free = -9.81 * mass / scene.frame_rate;
    assert!(
        (1.01 * free..=1e-3 * mass).contains(&momentum),
        "{solver}: {momentum} N s of {free}"
    );
}

#[test]
fn pbd_moves_a_handful_of_guides() {
    falls("pbd");
}

#[test]
fn sph_moves_a_handful_of_guides() {
    falls("sph");
}

#[test]
fn mpm_moves_a_handful_of_guides() {
    falls("mpm");
}

#[test]
fn dem_moves_a_handful_of_guides() {
    falls("dem");
}
