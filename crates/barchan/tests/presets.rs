//! Presets of every solver: a scene runs with each, sand stays on the ground, and a body rests on it.

use barchan::scene::{Document, parse_scene};
use barchan::world::Boundary;
use barchan::{SOLVERS, Simulation};

/// Sand in a box, and a ball that falls onto it from a little above.
const SCENE: &str = r#"
duration = 1
[materials.sand]
density = 1600
friction = 0.5
[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
shape = { box = { size = [0.28, 0.28, 0.12] }, at = [0, 0, 0.065] }
[[body]]
name = "box"
friction = 0.5
shape = { subtract = [
    { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 0.15] },
    { box = { size = [0.3, 0.3, 0.5] }, at = [0, 0, 0.25] },
] }
[[body]]
name = "ball"
motion = "dynamic"
density = 900
friction = 0.5
shape = { sphere = { radius = 0.08 }, at = [0, 0, 0.24] }
"#;

#[test]
fn a_scene_runs_with_every_preset() {
    for solver in SOLVERS {
        for preset in solver.presets {
            let name = format!("{solver}:{}", preset.name);
            let document = Document::new("scene", SCENE)
                .with(format!("solver.kind={solver}"))
                .with(format!("solver.{solver}.preset={}", preset.name));
            let (scene, _) = parse_scene(&document).unwrap();
            for (key, value) in preset.settings {
                let found = scene.solver_settings.iter().find(|setting| setting.0 == *key);
                assert_eq!(found.map(|setting| setting.1), Some(value), "{name}: {key}");
            }
            let mut simulation = Simulation::new(&scene).unwrap();
            let energy = |simulation: &Simulation| {
                let stats = simulation.frame().stats;
                stats.kinetic_energy + stats.potential_energy
            };
            let (start, mut carried) = (energy(&simulation), 0.0);
            let frames = 30;
            for frame in 0..frames {
                simulation.advance().unwrap_or_else(|error| panic!("{name}: {error}"));
                if frame >= frames / 2 {
                    carried += simulation.world().bodies[0].wrench.force.z / f64::from(frames - frames / 2);
                }
            }
            let world = simulation.world();
            let ball = world.bodies.iter().find(|body| body.name == "ball").unwrap();
            let lowest = (0..world.guides.len())
                .map(|i| world.place(i).z)
                .fold(f64::MAX, f64::min);
            assert!(lowest > -0.01, "{name}: {lowest} m");
            // It neither sank to the floor nor was thrown off, and took at most what it had above it as energy.
            let height = ball.pose.position.z;
            assert!((0.1..0.26).contains(&height), "{name}: {height} m");
            let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
            let ball_mass = 900.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.08f64.powi(3);
            assert!(energy(&simulation) < start + ball_mass * 9.81 * 0.2, "{name}");
            let weight = 9.81 * (mass + ball_mass);
            assert!(
                (-carried / weight - 1.0).abs() < 0.3,
                "{name}: {carried} N of {weight} N"
            );
        }
    }
}

#[test]
fn a_body_is_covered_with_more_than_4000_spheres_and_falls_as_one() {
    // [Bell05] covers a camel with 4147 spheres.
    let text = r#"
duration = 1
[solver]
kind = "dem"
[solver.dem]
preset = "bell"
integrator = "verlet"
[materials.gravel]
density = 1600
[[fill]]
material = "gravel"
radius = 0.0065
packing = "lattice"
fixed = true
shape = { box = { size = [0.1, 0.1, 0.02] }, at = [2, 0, 0.01] }
[[body]]
name = "camel"
motion = "dynamic"
density = 100
shape = { union = [
    { ellipsoid = { radii = [0.35, 0.15, 0.2] } },
    { sphere = { radius = 0.15 }, at = [0.12, 0, 0.15] },
    { sphere = { radius = 0.15 }, at = [-0.12, 0, 0.15] },
], at = [0, 0, 0.24] }
"#;
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    let Boundary::Particles { positions, .. } = &simulation.world().bodies[0].boundary else {
        panic!("a body of particles");
    };
    assert!(positions.len() > 4000, "{} spheres", positions.len());
    let start = simulation.world().bodies[0].center();
    for _ in 0..9 {
        simulation.advance().unwrap();
    }
    let fallen = start.z - simulation.world().bodies[0].center().z;
    assert!((fallen - 0.5 * 9.81 * 0.15f64.powi(2)).abs() < 1e-6, "{fallen} m");
}
