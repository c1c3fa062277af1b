//! Scenes that begin with a frame of another run.

use std::path::Path;

use barchan::Simulation;
use barchan::io::Cache;
use barchan::running::{Go, RunOptions, run};
use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::{Column, Table};
use glam::{Quat, Vec3};
use serde_json::Value;

const FRAMES: u64 = 6;

fn document(text: &str) -> Document {
    Document::new("scene.toml", text)
}

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&document(text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// A rough floor, sand above it with what `fill` says, and a ball that falls; further text after the solver.
fn sand(solver: &str, head: &str, fill: &str) -> String {
    format!(
        r#"
duration = 1
{head}
[solver]
kind = "{solver}"
[materials.gravel]
density = 1500
[materials.sand]
density = 1600
{fill}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
[[body]]
name = "ball"
motion = "dynamic"
density = 3000
shape = {{ sphere = {{ radius = 0.06 }}, at = [0, 0, 0.3] }}
[refine]
radius = 0.01
"#
    )
}

const FILLS: &str = r#"
[[fill]]
material = "gravel"
radius = 0.02
packing = "lattice"
fixed = true
shape = { box = { size = [0.3, 0.3, 0.05] }, at = [0, 0, 0.025] }
[[fill]]
material = "sand"
radius = 0.02
shape = { box = { size = [0.2, 0.2, 0.1] }, at = [0, 0, 0.1] }
"#;

/// Runs `text` into `dir`.
fn keep(text: &str, dir: &Path) {
    let options = RunOptions {
        dir: dir.to_owned(),
        frames: Some(FRAMES),
        start_frame: None,
        resume: true,
        force: false,
        scene: Value::Null,
    };
    run(&scene(text), &options, &mut |_| Go::On).unwrap();
}

/// Rows of `table` by their ids, as text.
fn rows(table: &Table, names: &[&str]) -> Vec<String> {
    let Some(Column::U32(ids)) = table.column("id") else {
        panic!("no ids")
    };
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&i| ids[i]);
    let cell = |name: &&str, i: usize| match table.column(name) {
        Some(Column::Vec3(values)) => format!("{:?}", values[i]),
        Some(Column::F32(values)) => format!("{:?}", values[i]),
        Some(Column::U32(values)) => format!("{:?}", values[i]),
        Some(Column::U8(values)) => format!("{:?}", values[i]),
        None => panic!("no column {name}"),
    };
    let row = |&i: &usize| names.iter().map(|name| cell(name, i)).collect::<Vec<_>>().join(" ");
    order.iter().map(row).collect()
}

#[test]
fn a_scene_begins_with_the_guides_grains_and_bodies_of_a_frame() {
    for (solver, fill, own) in [
        ("pbd", FILLS.to_owned(), &["id"][..]),
        ("sph", FILLS.to_owned(), &["pressure"]),
        ("dem", FILLS.to_owned(), &["angular_velocity"]),
        ("dem", format!("{FILLS}clump = \"tetrahedron\"\n"), &["rotation"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("before");
        keep(&sand(solver, "", &fill), &dir);
        let start = format!(
            "start = {{ cache = {:?}, frame = {FRAMES} }}",
            dir.display().to_string()
        );
        let scene = scene(&sand(solver, &start, ""));
        let mut simulation = Simulation::new(&scene).unwrap();
        let (cache, frame) = (Cache::open(&dir).unwrap(), simulation.frame());
        let names = [&["id", "position", "velocity", "radius", "material"], own].concat();
        let before = cache.read_guides(FRAMES).unwrap();
        let (wanted, found) = (rows(&before, &names), rows(&frame.guides, &names));
        // Rotation vectors pass through a quaternion.
        if own != ["rotation"] {
            assert!(wanted == found, "{solver}");
        }
        let turns = |table: &Table| match table.column("rotation") {
            Some(Column::Vec3(turns)) => turns.clone(),
            _ => vec![Vec3::ZERO; table.len()],
        };
        let (a, b) = (turns(&before), turns(&frame.guides));
        assert!(a.iter().zip(&b).all(|(a, b)| (*a - *b).length() < 1e-4), "{solver}");
        assert!(own != ["rotation"] || a.iter().any(|turn| turn.length() > 0.1));
        let columns = ["id", "position", "velocity", "radius", "material"];
        let grains = cache.read_grains(FRAMES).unwrap();
        assert!(grains.len() > 100, "{solver}: {} grains", grains.len());
        assert!(
            rows(&grains, &columns) == rows(frame.grains.as_ref().unwrap(), &columns),
            "{solver}"
        );
        let ball = |bodies: &[barchan::world::BodyState]| {
            let ball = bodies.iter().find(|body| body.name == "ball").unwrap();
            (ball.position, ball.rotation, ball.linear_velocity)
        };
        let was = ball(&cache.read_bodies(FRAMES).unwrap());
        assert!(was.0.z < 0.29 && was == ball(&frame.bodies), "{solver}: {was:?}");
        let mass = cache.stats().unwrap().last().unwrap().stats.mass;
        assert!(
            (frame.stats.mass / mass - 1.0).abs() < 1e-6,
            "{solver}: {} kg",
            frame.stats.mass
        );
        assert!(frame.stats.ledger_closes);
        // It goes on from there, and the floor stays where it is.
        simulation.advance().unwrap();
        let next = simulation.frame();
        let fixed = |table: &Table| {
            let rows = rows(table, &["material", "position"]);
            rows.into_iter().filter(|row| row.starts_with('0')).collect::<Vec<_>>()
        };
        assert!(
            fixed(&next.guides).len() > 10 && fixed(&next.guides) == fixed(&before),
            "{solver}"
        );
        assert!(next.guides.len() == before.len() && next.stats.ledger_closes);
        assert!(
            ball(&next.bodies).0.z < was.0.z || ball(&next.bodies).2.z > was.2.z,
            "{solver}"
        );
    }
}

#[test]
fn a_started_run_resumes_bit_for_bit_and_can_be_started_from_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    keep(&sand("dem", "", &format!("{FILLS}clump = \"cube\"\n")), &at("first"));
    // Sand of its own comes before that of the frame.
    let more = "[[fill]]\nmaterial = \"sand\"\nradius = 0.02\npacking = \"lattice\"\n\
                shape = { box = { size = [0.1, 0.1, 0.05] }, at = [0.5, 0, 0.03] }";
    let start = |name: &str| format!("start = {{ cache = {:?} }}", at(name).display().to_string());
    let second = sand("dem", &start("first"), more);
    keep(&second, &at("second"));
    let scene_of_second = scene(&second);
    let mut whole = Simulation::new(&scene_of_second).unwrap();
    let mut resumed = Simulation::resume(&scene_of_second, &whole.save()).unwrap();
    for _ in 0..FRAMES {
        whole.advance().unwrap();
        resumed.advance().unwrap();
    }
    let (a, b) = (whole.frame(), resumed.frame());
    assert!(a.guides == b.guides && a.grains == b.grains);
    let third = Simulation::new(&scene(&sand("dem", &start("second"), "")))
        .unwrap()
        .frame();
    let names = ["id", "position", "radius", "material"];
    assert!(rows(&third.guides, &names) == rows(&a.guides, &names));
    let turns = |table: &Table| {
        let (Some(Column::U32(ids)), Some(Column::Vec3(turns))) = (table.column("id"), table.column("rotation")) else {
            panic!("clumps are no clumps")
        };
        let mut turned: Vec<(u32, Quat)> = ids
            .iter()
            .copied()
            .zip(turns.iter().map(|v| Quat::from_scaled_axis(*v)))
            .collect();
        turned.sort_by_key(|turn| turn.0);
        turned
    };
    for ((id, one), (other, two)) in turns(&a.guides).into_iter().zip(turns(&third.guides)) {
        assert!(id == other && one.dot(two).abs() > 0.9999, "{id}: {one} {two}");
    }
}

#[test]
fn what_cannot_be_begun_with_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("before");
    keep(&sand("pbd", "", FILLS), &dir);
    let dir = dir.display().to_string();
    let refusal = |text: &str| parse_scene(&document(text)).unwrap_err().to_string();
    let start = |frame: &str| format!("start = {{ cache = {dir:?}{frame} }}");
    let missing = refusal(&sand("pbd", "start = { cache = \"nowhere\" }", ""));
    assert!(
        missing.contains("scene.toml:3:19") && missing.contains("nowhere"),
        "{missing}"
    );
    let no_frame = refusal(&sand("pbd", &start(", frame = 99"), ""));
    assert!(
        no_frame.contains("scene.toml:3:") && no_frame.contains("99"),
        "{no_frame}"
    );
    let other = refusal(&sand("sph", &start(""), ""));
    assert!(
        other.contains("made by the solver pbd") && other.contains("solver.kind = \"pbd\""),
        "{other}"
    );
    let unlike = refusal(&sand("pbd", &start(""), "").replace("materials.gravel", "materials.mud"));
    assert!(unlike.contains("no material like number 0"), "{unlike}");
    let finer = refusal(&sand("pbd", &start(""), "").replace("radius = 0.01", "radius = 0.005"));
    assert!(finer.contains("a grain has the radius 0.01 m"), "{finer}");
    let settle = FILLS.replace("fixed = true", "settle = 1.0");
    let settling = refusal(&sand("pbd", &start(""), &settle));
    assert!(settling.contains("cannot settle"), "{settling}");
    // Guides lost a column.
    let table = Path::new(&dir).join("guides");
    for file in std::fs::read_dir(table).unwrap().flatten() {
        std::fs::write(file.path(), b"nothing").unwrap();
    }
    let broken = refusal(&sand("pbd", &start(""), ""));
    assert!(broken.contains("scene.toml:3:"), "{broken}");
}
