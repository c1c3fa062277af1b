//! A simulation that was saved continues bit-identically, even before the first step.

use barchan::io::{read_checkpoint, write_checkpoint};
use barchan::running::{Go, RunOptions, default_dir, run};
use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::Column;
use barchan::{Simulation, Stage};
use glam::DVec3;

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// Sand on the ground, filled as `fill` specifies.
fn ground(solver: &str, fill: &str) -> String {
    format!(
        r#"
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
{fill}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
"#
    )
}

/// The same with two balls at a joint.
fn sand(solver: &str, fill: &str) -> Scene {
    let fill = format!("{fill}\nshape = {{ box = {{ size = [0.2, 0.2, 0.16] }}, at = [0, 0, 0.1] }}");
    scene(&format!(
        r#"
name = "sand"
duration = 1
{}
[[body]]
name = "first"
motion = "dynamic"
density = 1000
shape = {{ sphere = {{ radius = 0.1 }}, at = [0.5, 0, 1] }}
[[body]]
name = "second"
motion = "dynamic"
density = 1000
shape = {{ sphere = {{ radius = 0.1 }}, at = [0.5, 0, 1.3] }}
[[joint]]
kind = "ball"
bodies = ["first", "second"]
at = [0.5, 0, 1.15]
"#,
        ground(solver, &fill)
    ))
}

#[test]
fn what_was_saved_before_its_first_frame_goes_on_bit_for_bit() {
    for (solver, fill) in [
        ("pbd", ""),
        ("sph", ""),
        ("mpm", ""),
        ("dem", ""),
        ("dem", "clump = \"tetrahedron\""),
        ("pbd", "settle = 0.05"),
        ("sph", "settle = 0.05"),
        ("mpm", "settle = 0.05"),
        ("dem", "settle = 0.05"),
        ("dem", "settle = 0.05\nclump = \"tetrahedron\""),
    ] {
        let scene = sand(solver, fill);
        let mut whole = Simulation::new(&scene).unwrap();
        let mut resumed = Simulation::resume(&scene, &whole.save()).unwrap();
        for _ in 0..4 {
            whole.advance().unwrap();
            resumed.advance().unwrap();
        }
        let (a, b) = (whole.frame(), resumed.frame());
        assert!(a.guides == b.guides, "{solver}, {fill}");
        let poses = |simulation: &Simulation| -> Vec<_> {
            let bodies = simulation.world().bodies.iter();
            bodies.map(|body| (body.pose, body.twist)).collect()
        };
        assert!(poses(&whole) == poses(&resumed), "{solver}, {fill}");
        let first = &whole.world().bodies[1];
        assert!(
            first.pose.position.z < 0.99,
            "{solver}, {fill}: {}",
            first.pose.position
        );
    }
}

#[test]
fn what_is_published_lies_within_periodic_ranges() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let fill = "velocity = [1, -2, 0]\nshape = { box = { size = [0.28, 0.3, 0.1] }, at = [0.05, 0.1, 0.1] }";
        let periodic = "duration = 1\nperiodic = { x = [0, 0.3], y = [-0.2, 0.2] }";
        let scene = scene(&format!("{periodic}\n{}[refine]\nradius = 0.01", ground(solver, fill)));
        let mut simulation = Simulation::new(&scene).unwrap();
        for _ in 0..4 {
            let frame = simulation.frame();
            for table in [&frame.guides, frame.grains.as_ref().unwrap()] {
                let Some(Column::Vec3(positions)) = table.column("position") else {
                    panic!("no positions");
                };
                assert!(!positions.is_empty());
                for position in positions {
                    let is_within = (0.0..=0.3).contains(&position.x) && (-0.2..=0.2).contains(&position.y);
                    assert!(is_within, "{solver}: {position} in frame {}", frame.number);
                }
            }
            simulation.advance().unwrap();
        }
    }
}

#[test]
fn a_cache_lies_in_the_folder_of_caches_whatever_its_scene_is_called() {
    for name in ["../../etc", "a/b", "..", "/"] {
        let mut scene = sand("pbd", "");
        scene.name = name.to_owned();
        let dir = default_dir(&scene);
        assert_eq!(dir.components().count(), 2, "{}", dir.display());
        assert!(dir.starts_with("caches"), "{}", dir.display());
    }
}

#[test]
fn a_checkpoint_that_claims_what_cannot_be_is_refused() {
    let scene = sand("pbd", "");
    let whole = Simulation::new(&scene).unwrap().save();
    assert!(Simulation::resume(&scene, &whole).is_ok());
    let refused = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut archive = whole.clone();
        change(archive.entries.get_mut(name).unwrap());
        let error = Simulation::resume(&scene, &archive).err().expect(name).to_string();
        assert!(error.contains(name), "{name}: {error}");
    };
    let put = |value: &[u8]| {
        let value = value.to_vec();
        move |bytes: &mut Vec<u8>| bytes[..value.len()].copy_from_slice(&value)
    };
    // 51 GB of positions, if they were allocated.
    refused("world.counters", &put(&2_147_483_647_u64.to_ne_bytes()));
    refused("world.counters", &put(&u64::MAX.to_ne_bytes()));
    refused("guides.id", &put(&1_000_000_u32.to_ne_bytes()));
    refused("guides.material", &put(&[7]));
    refused("guides.velocity", &put(&f32::NAN.to_ne_bytes()));
    refused("guides.radius", &put(&(-1.0_f32).to_ne_bytes()));
    refused("world.bodies", &put(&f64::INFINITY.to_ne_bytes()));
}

#[test]
fn a_start_that_is_not_finite_is_no_frame() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let mut world = sand(solver, "");
        world.fills[0].velocity = DVec3::new(0.0, 0.0, -1e300);
        let error = Simulation::new(&world).err().expect("an error").to_string();
        assert!(error.contains("guide 0 moves at inf m/s"), "{solver}: {error}");
    }
}

#[test]
fn a_mesh_outside_of_the_cache_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let stage = |mesh: &str| {
        let body = serde_json::json!({ "name": "a", "color": null, "opacity": 1.0, "mesh": mesh });
        let plan = serde_json::json!({ "materials": [], "bodies": [body], "cameras": [] });
        std::fs::write(folder.path().join("stage.json"), plan.to_string()).unwrap();
        Stage::load(folder.path()).unwrap_err().to_string()
    };
    for mesh in ["../x.ply", "/etc/x.ply", "a/b.ply", "..", "", "./x.ply"] {
        let error = stage(mesh);
        assert!(
            error.contains("stage.json") && error.contains("in meshes"),
            "{mesh}: {error}"
        );
    }
    assert!(!stage("000_a.ply").contains("in meshes"));
}

#[test]
fn a_checkpoint_of_another_frame_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scene = sand("pbd", "");
    let mut options = RunOptions {
        dir: folder.path().join("cache"),
        frames: Some(3),
        start_frame: Some(7),
        resume: false,
        force: false,
        scene: Default::default(),
    };
    run(&scene, &options, &mut |_| Go::On).unwrap();
    let (number, mut archive) = read_checkpoint(&options.dir).unwrap();
    assert_eq!(number, 10);
    archive.put("simulation.frame", &[1_u64]);
    write_checkpoint(&options.dir, &archive, number).unwrap();
    (options.resume, options.frames) = (true, Some(5));
    let error = run(&scene, &options, &mut |_| Go::On).unwrap_err().to_string();
    assert!(error.contains("state") && error.contains("simulation.frame"), "{error}");
    archive.put("simulation.frame", &[3_u64]);
    write_checkpoint(&options.dir, &archive, number).unwrap();
    let mut frames = Vec::new();
    let report = run(&scene, &options, &mut |now| {
        frames.push(now.frame);
        Go::On
    });
    // `watch` is called before the first frame, too.
    assert_eq!((report.unwrap().frame, frames), (5, vec![3, 4, 5]));
}
