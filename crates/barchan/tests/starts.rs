//! The state of frame 0.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use glam::DVec3;

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// Two fills on the ground, of which the second moves with `velocity`.
fn sand(solver: &str, settle: f64, velocity: [f64; 3]) -> Scene {
    scene(&format!(
        r#"
duration = 1
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
settle = {settle}
shape = {{ box = {{ size = [0.16, 0.16, 0.1] }}, at = [0, 0, 0.05] }}
[[fill]]
material = "sand"
radius = 0.02
velocity = {velocity:?}
shape = {{ box = {{ size = [0.16, 0.16, 0.1] }}, at = [1, 0, 0.05] }}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
"#
    ))
}

#[test]
fn a_fill_that_settled_starts_with_its_velocity() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let velocity = [1.5, -0.5, 0.0];
        let mut simulation = Simulation::new(&sand(solver, 0.5, velocity)).unwrap();
        let world = simulation.world();
        let first = world.fill_ends[0];
        for i in 0..world.guides.len() {
            let wanted = if world.guides.id[i] < first {
                DVec3::ZERO
            } else {
                DVec3::from(velocity)
            };
            assert_eq!(world.guides.velocity[i].as_dvec3(), wanted, "{solver}");
            // It settled where it was filled.
            let x = world.place(i).x;
            assert!(
                (x - f64::from(u8::from(world.guides.id[i] >= first))).abs() < 0.3,
                "{solver}: {x}"
            );
        }
        simulation.advance().unwrap();
        let world = simulation.world();
        let moved: Vec<f64> = (0..world.guides.len())
            .filter(|&i| world.guides.id[i] >= first)
            .map(|i| f64::from(simulation.velocities()[i].x))
            .collect();
        let mean = moved.iter().sum::<f64>() / moved.len() as f64;
        assert!((1.0..1.6).contains(&mean), "{solver}: {mean} m/s");
    }
}

#[test]
fn frame_0_has_the_deepest_overlap_of_its_state() {
    for (solver, wanted) in [("pbd", 0.5), ("sph", 0.0), ("dem", 0.5), ("mpm", 0.0)] {
        let overlap = |change: &dyn Fn(&mut barchan::world::World)| {
            let mut scene = sand(solver, 0.0, [0.0; 3]);
            let simulation = Simulation::prepared(&mut scene, |_, world| change(world)).unwrap();
            simulation.frame().stats.max_overlap
        };
        let packed = overlap(&|_| ());
        assert!(packed < 0.01, "{solver}: {packed}");
        // Two guides far from all others, three quarters of a diameter apart.
        let near = overlap(&|world| {
            for (i, x) in [5.0_f32, 5.03].into_iter().enumerate() {
                world.guides.position[i] = glam::Vec3::new(x, 0.0, 0.5);
                world.guides.offset[i] = glam::Vec3::ZERO;
            }
        });
        assert!((near - wanted).abs() < 0.01, "{solver}: {near}");
        let sunk = overlap(&|world| {
            world.guides.position[0] = glam::Vec3::new(5.0, 0.0, 0.012);
            world.guides.offset[0] = glam::Vec3::ZERO;
        });
        assert!((sunk - 0.4).abs() < 1e-3, "{solver}: {sunk}");
    }
    let settled = Simulation::new(&sand("dem", 0.3, [0.0; 3])).unwrap();
    assert!(settled.frame().stats.max_overlap > 0.0);
}

#[test]
fn clumps_that_lie_apart_do_not_overlap_in_frame_0() {
    let mut scene = sand("dem", 0.0, [0.0; 3]);
    let text = r#"
duration = 1
[solver]
kind = "dem"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
clump = "tetrahedron"
packing = "dense"
shape = { box = { size = [0.3, 0.3, 0.3] } }
"#;
    scene.clone_from(&self::scene(text));
    let overlap = Simulation::new(&scene).unwrap().frame().stats.max_overlap;
    assert!((0.0..0.06).contains(&overlap), "{overlap}");
}

#[test]
fn frames_of_settling_are_a_cache_of_their_own() {
    use barchan::io::Cache;
    use barchan::running::{Go, RunOptions, run};

    let folder = tempfile::tempdir().unwrap();
    let mut scene = sand("pbd", 0.25, [0.5, 0.0, 0.0]);
    let options = |name: &str, frames: u64, resume: bool| RunOptions {
        dir: folder.path().join(name),
        frames: Some(frames),
        start_frame: None,
        resume,
        force: false,
        scene: Default::default(),
    };
    run(&scene, &options("plain", 3, false), &mut |_| Go::On).unwrap();
    assert!(!folder.path().join("plain/settling").exists());
    scene.output.settling = true;
    run(&scene, &options("kept", 2, false), &mut |_| Go::On).unwrap();
    run(&scene, &options("kept", 3, true), &mut |_| Go::On).unwrap();
    let settling = Cache::open(&folder.path().join("kept/settling")).unwrap();
    let times: Vec<f64> = settling.frames().iter().map(|frame| frame.time).collect();
    assert_eq!(times.len(), 16);
    assert!((times[0] + 0.25).abs() < 1e-12 && times[15].abs() < 1e-12, "{times:?}");
    // At the end the ground carries the sand on it.
    let stats = settling.stats().unwrap();
    let bodies = settling.read_bodies(15).unwrap();
    let weight = 9.81 * stats[15].stats.mass;
    assert!(
        (bodies[0].force.z / -weight - 1.0).abs() < 0.3,
        "{} of {weight} N",
        bodies[0].force.z
    );
    // A guide in free fall throughout would have four times this speed.
    let slow = 0.25 * 9.81 * 0.25;
    assert!(stats[15].stats.max_speed < slow, "{} m/s", stats[15].stats.max_speed);
    // The run itself is the same.
    let [plain, kept] = ["plain", "kept"].map(|name| Cache::open(&folder.path().join(name)).unwrap());
    assert_eq!(kept.frames().len(), 4);
    for frame in 0..4 {
        assert!(
            plain.read_guides(frame).unwrap() == kept.read_guides(frame).unwrap(),
            "frame {frame}"
        );
    }
}
