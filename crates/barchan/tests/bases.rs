//! Rough bases, and friction between materials and bodies.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use glam::DVec3;

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// A periodic layer of sand that slides on fixed guides, with nothing else below.
fn layer_on_base(solver: &str) -> Scene {
    scene(&format!(
        r#"
duration = 1
periodic = {{ x = [-0.2, 0.2], y = [-0.2, 0.2] }}
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
fixed = true
shape = {{ box = {{ size = [0.4, 0.4, 0.12] }}, at = [0, 0, 0.06] }}
[[fill]]
material = "sand"
radius = 0.02
velocity = [0.5, 0, 0]
shape = {{ box = {{ size = [0.4, 0.4, 0.12] }}, at = [0, 0, 0.18] }}
"#
    ))
}

/// Returns ids and positions of the guides with ids in a range, in that order.
fn positions(simulation: &Simulation, ids: std::ops::Range<u32>) -> Vec<(u32, DVec3)> {
    let world = simulation.world();
    let all = (0..world.guides.len()).map(|i| (world.guides.id[i], world.place(i)));
    let mut found: Vec<(u32, DVec3)> = all.filter(|(id, _)| ids.contains(id)).collect();
    found.sort_by_key(|guide| guide.0);
    found
}

#[test]
fn guides_of_a_fixed_fill_never_move_and_carry_what_lies_on_them() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let scene = layer_on_base(solver);
        let mut simulation = Simulation::new(&scene).unwrap();
        let base = 0..simulation.world().fill_ends[0];
        let sand = base.end..simulation.world().next_id;
        let before = positions(&simulation, base.clone());
        let mut resumed = None;
        for frame in 0..60 {
            if frame == 30 {
                resumed = Some(Simulation::resume(&scene, &simulation.save()).unwrap());
            }
            simulation.advance().unwrap();
            if let Some(resumed) = &mut resumed {
                resumed.advance().unwrap();
            }
        }
        assert!(positions(&simulation, base.clone()) == before, "{solver}");
        let (frame, again) = (simulation.frame(), resumed.unwrap().frame());
        assert!(frame.guides == again.guides, "{solver}");
        assert!(frame.stats.ledger_closes);
        // The sand lies on the base, which has stopped it.
        let lying = positions(&simulation, sand.clone());
        let lowest = lying.iter().map(|guide| guide.1.z).fold(f64::INFINITY, f64::min);
        assert!(lowest > 0.09, "{solver}: a guide at {lowest} m");
        let mean = lying.iter().map(|guide| guide.1).sum::<DVec3>() / lying.len() as f64;
        assert!((0.14..0.2).contains(&mean.z), "{solver}: {mean}");
        let share = lying.len() as f64 / frame.stats.guides as f64;
        let speed = frame.stats.momentum.x / (frame.stats.mass * share);
        assert!(speed.abs() < 0.02, "{solver}: {speed} m/s");
    }
}

#[test]
fn a_fixed_fill_may_lie_in_a_body() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let mut scene = scene(&format!(
            r#"
duration = 1
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
fixed = true
packing = "lattice"
shape = {{ box = {{ size = [0.3, 0.3, 0.05] }}, at = [0, 0, 0] }}
[[fill]]
material = "sand"
radius = 0.02
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }}, at = [0, 0, 0.1] }}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
"#
        ));
        let mut simulation = Simulation::prepared(&mut scene, |_, _| ()).unwrap();
        let first = simulation.frame().stats.max_overlap;
        assert!(first < 0.05, "{solver}: {first}");
        for _ in 0..20 {
            simulation.advance().unwrap();
        }
        let overlap = simulation.frame().stats.max_overlap;
        assert!(overlap < 0.3, "{solver}: {overlap}");
    }
}

/// A block that slides over the ground at 1 m/s.
fn sliding(solver: &str, pair: &str) -> Scene {
    scene(&format!(
        r#"
duration = 1
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
friction = 0.6
[[fill]]
material = "sand"
radius = 0.02
velocity = [1, 0, 0]
shape = {{ box = {{ size = [0.2, 0.2, 0.06] }}, at = [0, 0, 0.03] }}
[[body]]
name = "ground"
friction = 0.6
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
{pair}
"#
    ))
}

#[test]
fn a_material_and_a_body_rub_as_their_pair_says() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let speed = |pair: &str| {
            let mut simulation = Simulation::new(&sliding(solver, pair)).unwrap();
            for _ in 0..6 {
                simulation.advance().unwrap();
            }
            let stats = simulation.frame().stats;
            stats.momentum.x / stats.mass
        };
        let pair = "[[pair]]\nmaterial = \"sand\"\nbody = \"ground\"\nfriction = 0";
        let (rough, smooth) = (speed(""), speed(pair));
        assert!(smooth > 0.98, "{solver}: {smooth} m/s");
        assert!(rough < smooth - 0.1, "{solver}: {rough} m/s");
    }
}

#[test]
fn a_sphere_rebounds_from_a_body_as_their_pair_says() {
    let rebound = |pair: &str| {
        let mut scene = scene(&format!(
            r#"
duration = 1
frame_rate = 400
[solver]
kind = "dem"
[materials.glass]
density = 1500
restitution = 0.3
[[fill]]
material = "glass"
radius = 0.02
velocity = [0, 0, -1]
packing = "lattice"
shape = {{ sphere = {{ radius = 0.023 }}, at = [0, 0, 0.03] }}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
{pair}
"#
        ));
        scene.gravity = DVec3::ZERO;
        let mut simulation = Simulation::new(&scene).unwrap();
        assert_eq!(simulation.world().guides.len(), 1);
        for _ in 0..30 {
            simulation.advance().unwrap();
        }
        simulation.frame().stats.momentum.z / simulation.frame().stats.mass
    };
    let (own, said) = (
        rebound(""),
        rebound("[[pair]]\nmaterial = \"glass\"\nbody = \"ground\"\nrestitution = 0.9"),
    );
    assert!((own - 0.3).abs() < 0.02, "{own} m/s");
    assert!((said - 0.9).abs() < 0.02, "{said} m/s");
}
