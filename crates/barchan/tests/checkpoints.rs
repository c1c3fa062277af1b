//! Checkpoints with a valid checksum and wrong contents are rejected by the entry's name, or do no harm.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::Archive;

/// Sand with grains, a body that falls on it, and an emitter.
fn scene(solver: &str) -> Scene {
    let text = format!(
        r#"
duration = 1
[solver]
kind = "{solver}"
[refine]
radius = 0.02
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
packing = "lattice"
shape = {{ box = {{ size = [0.4, 0.4, 0.3] }}, at = [0, 0, 0.2] }}
[[emitter]]
material = "sand"
radius = 0.05
rate = 60
shape = {{ box = {{ size = [0.4, 0.4, 0.2] }}, at = [0, 0, 1] }}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
[[body]]
name = "block"
motion = "dynamic"
density = 1000
shape = {{ box = {{ size = [0.2, 0.2, 0.2] }}, at = [0, 0, 0.6] }}
"#
    );
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

fn saved(scene: &Scene) -> Archive {
    let mut simulation = Simulation::new(scene).unwrap();
    (0..12).for_each(|_| simulation.advance().unwrap());
    simulation.save()
}

/// Resumes from an archive for one frame; returns the error.
fn go_on(scene: &Scene, archive: &Archive) -> Result<(), String> {
    let mut simulation = Simulation::resume(scene, archive).map_err(|error| error.to_string())?;
    simulation.advance().map_err(|error| error.to_string())
}

/// Turns valid bytes into wrong ones.
type Pattern = fn(&[u8]) -> Vec<u8>;

#[test]
fn no_entry_of_a_checkpoint_is_believed() {
    let patterns: [(&str, Pattern); 5] = [
        ("ff", |bytes| vec![0xff; bytes.len()]),
        ("7f", |bytes| vec![0x7f; bytes.len()]),
        ("01", |bytes| vec![0x01; bytes.len()]),
        ("twice", |bytes| bytes.repeat(2)),
        ("half", |bytes| bytes[..bytes.len() / 2].to_vec()),
    ];
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let scene = scene(solver);
        let good = saved(&scene);
        go_on(&scene, &good).unwrap();
        for (name, bytes) in &good.entries {
            for (kind, pattern) in patterns {
                let mut bad = good.clone();
                bad.entries.insert(name.clone(), pattern(bytes));
                println!("{solver}: {name} {kind}: {:?}", go_on(&scene, &bad));
            }
        }
    }
}

#[test]
fn what_a_checkpoint_cannot_hold_is_refused_by_name() {
    let cases: [(&str, &[(&str, u8)]); 4] = [
        (
            "pbd",
            &[
                ("pbd.ids", 0xff),
                ("pbd.ids", 0),
                ("pbd.calm", 0xff),
                ("pbd.layers", 0x7f),
                ("pbd.pairs.impulses", 0xff),
                ("pbd.walls.places", 0x7f),
                ("pbd.ways.base", 0xff),
                ("guides.id", 0),
                ("guides.material", 1),
                ("guides.radius", 0x7f),
                ("guides.position", 0x7f),
                ("grains.0", 0xff),
                ("grains.1", 0xff),
                ("grains.2", 0x7f),
                ("grains.5", 0xff),
                ("grains.id", 0xff),
                ("grains.material", 0xff),
                ("grains.material", 0x7f),
                ("grains.counters", 0xff),
                ("grains.anchors", 0xff),
                ("grains.agitation", 0xff),
                ("grains.gradients", 0xff),
                ("grains.count_age", 0xff),
                ("grains.poses", 0xff),
            ],
        ),
        (
            "sph",
            &[
                ("sph.ids", 0xff),
                ("sph.ids", 0),
                ("sph.stress", 0xff),
                ("sph.pressure", 0xff),
                ("sph.supports", 0x7f),
                ("sph.map_support", 0x7f),
                ("sph.sound", 0xff),
                ("guides.radius", 0x7f),
            ],
        ),
        (
            "mpm",
            &[
                ("mpm.ids", 0xff),
                ("mpm.ids", 0),
                ("mpm.gradient", 0xff),
                ("mpm.strain", 0x7f),
                ("mpm.stress", 0xff),
                ("mpm.plastic", 0xff),
                ("mpm.density", 0xff),
                ("mpm.spacing", 0x7f),
                ("mpm.accelerations", 0xff),
            ],
        ),
        (
            "dem",
            &[
                ("dem.spheres", 0xff),
                ("dem.pairs.other", 0xff),
                ("dem.pairs.history", 0xff),
                ("dem.walls", 0xff),
                ("dem.owed", 0xff),
                ("dem.deepest", 0x7f),
                ("dem.step", 0xff),
            ],
        ),
    ];
    for (solver, cases) in cases {
        let scene = scene(solver);
        let good = saved(&scene);
        for &(name, byte) in cases {
            let mut bad = good.clone();
            let entry = bad.entries.get_mut(name).expect(name);
            assert!(!entry.is_empty(), "{name} has nothing to break");
            entry.fill(byte);
            let reason = Simulation::resume(&scene, &bad).err().map(|error| error.to_string());
            let reason = reason.unwrap_or_else(|| panic!("{name} of {byte:#x} is taken"));
            assert!(reason.contains(&format!("`{name}`")), "{name}: {reason}");
        }
    }
}

#[test]
fn a_state_of_rapier_that_can_be_decoded_but_is_wrong_is_refused_by_name() {
    let scene = scene("pbd");
    let good = saved(&scene);
    let name = "bodies.rapier";
    let (mut refused, length) = (0, good.entries[name].len());
    for at in (0..length).step_by(length / 200) {
        let mut bad = good.clone();
        bad.entries.get_mut(name).unwrap()[at] ^= 1;
        if let Err(reason) = go_on(&scene, &bad) {
            refused += u32::from(reason.contains(&format!("`{name}`")));
        }
    }
    assert!(refused > 10, "{refused} states are refused");
}
