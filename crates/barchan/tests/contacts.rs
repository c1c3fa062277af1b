//! Contacts and fields against closed forms.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};
use barchan::world::{Column, Frame, Table};
use glam::Vec3;

const GRAVITY: f64 = 9.81;
/// Radius of the spheres [m].
const RADIUS: f64 = 0.01;

/// Simulates spheres at `centers` [m] on a floor with dem for `frames` frames.
fn simulated(centers: &[[f64; 3]], gravity: f64, output: &str, frames: usize) -> Frame {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = centers.iter().map(|[x, y, z]| format!("{x},{y},{z}\n")).collect();
    std::fs::write(folder.path().join("spheres.csv"), format!("x,y,z\n{rows}")).unwrap();
    let text = format!(
        r#"
        name = "spheres"
        duration = 1.0
        frame_rate = 20
        gravity = [0, 0, {}]
        [solver]
        kind = "dem"
        [materials.glass]
        density = 1500
        particle_density = 2500
        friction = {{ static = 0.4, kinetic = 0.4 }}
        restitution = 0.3
        youngs_modulus = 1e7
        [[fill]]
        material = "glass"
        radius = {RADIUS}
        from = "spheres.csv"
        [[body]]
        name = "side"
        shape = {{ box = {{ size = [0.1, 0.1, 0.1] }}, at = [5, 0, 0] }}
        [[body]]
        name = "floor"
        shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
        [output]
        {output}
        "#,
        -gravity
    );
    let document = Document {
        folder: folder.path().to_owned(),
        ..Document::new("spheres", text)
    };
    let (scene, _) = parse_scene(&document).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    assert!(simulation.frame().contacts.is_none(), "before the first step");
    (0..frames).for_each(|_| simulation.advance().unwrap());
    simulation.frame()
}

fn floats<'a>(table: &'a Table, name: &str) -> &'a [f32] {
    match table.column(name) {
        Some(Column::F32(values)) => values,
        found => panic!("{name}: {found:?}"),
    }
}

fn vectors<'a>(table: &'a Table, name: &str) -> &'a [Vec3] {
    match table.column(name) {
        Some(Column::Vec3(values)) => values,
        found => panic!("{name}: {found:?}"),
    }
}

fn mass() -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) * 2500.0
}

#[test]
fn a_stack_of_two_presses_with_one_and_two_weights() {
    let both = r#"cache = ["guides", "contacts", "fields"]
        field_cell = 0.1"#;
    let frame = simulated(&[[0.05, 0.05, RADIUS], [0.05, 0.05, 3.0 * RADIUS]], GRAVITY, both, 20);
    let contacts = frame.contacts.as_ref().unwrap();
    assert_eq!(contacts.len(), 2);
    let Some(Column::U8(is_body)) = contacts.column("is_body") else {
        panic!("no column is_body");
    };
    let weight = mass() * GRAVITY;
    for (row, &is_body) in is_body.iter().enumerate() {
        let expected = if is_body == 1 { 2.0 * weight } else { weight };
        let found = f64::from(floats(contacts, "normal_force")[row]);
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        assert!(f64::from(vectors(contacts, "shear_force")[row].length()) < 1e-3 * weight);
        let height = if is_body == 1 { 0.0 } else { 2.0 * RADIUS };
        assert!((f64::from(vectors(contacts, "point")[row].z) - height).abs() < 1e-4);
    }
    let Some(Column::U32(others)) = contacts.column("other") else {
        panic!("no column other");
    };
    let floor = is_body.iter().position(|&is_body| is_body == 1).unwrap();
    assert_eq!(others[floor], 1, "the second body");
    // σzz = (m g · 2 r + 2 m g · r) / V in the only cell.
    let fields = frame.fields.as_ref().unwrap();
    let volume = 0.1f64.powi(3);
    let at = vectors(fields, "position").iter().position(|p| p.z > 0.0).unwrap();
    let stress = f64::from(vectors(fields, "stress")[at].z);
    let expected = 4.0 * weight * RADIUS / volume;
    assert!((stress / expected - 1.0).abs() < 2e-3, "{stress} {expected}");
    assert!(vectors(fields, "stress")[at].truncate().length() < 1e-3 * expected as f32);
    // Three ends of contacts at two guides.
    assert_eq!(floats(fields, "coordination")[at], 1.5);
}

#[test]
fn the_floor_carries_the_weight_of_a_heap() {
    let place = |k: i32| {
        let [i, j, l] = [k % 4, k / 4 % 4, k / 16].map(f64::from);
        [0.0201 * i + 0.003 * l, 0.0201 * j, RADIUS + 0.0205 * l]
    };
    let centers: Vec<[f64; 3]> = (0..48).map(place).collect();
    let frame = simulated(&centers, GRAVITY, r#"cache = ["contacts"]"#, 60);
    assert!(frame.fields.is_none());
    let contacts = frame.contacts.as_ref().unwrap();
    let Some(Column::U8(is_body)) = contacts.column("is_body") else {
        panic!("no column is_body");
    };
    let carried: f64 = (floats(contacts, "normal_force").iter().zip(is_body))
        .filter(|(_, is_body)| **is_body == 1)
        .map(|(force, _)| f64::from(*force))
        .sum();
    let weight = 48.0 * mass() * GRAVITY;
    assert!((carried / weight - 1.0).abs() < 0.02, "{carried} {weight}");
}

#[test]
fn a_cubic_lattice_fills_a_sixth_of_pi() {
    let centers: Vec<[f64; 3]> = (0..64)
        .map(|k| [k % 4, k / 4 % 4, k / 16].map(|k| RADIUS * (2.0 * f64::from(k) + 1.0)))
        .collect();
    let frame = simulated(&centers, 0.0, "cache = [\"fields\"]\nfield_cell = 0.04", 1);
    let fields = frame.fields.unwrap();
    assert_eq!(fields.len(), 8);
    for packing in floats(&fields, "packing") {
        assert!((packing - std::f32::consts::FRAC_PI_6).abs() < 1e-5, "{packing}");
    }
    assert_eq!(vectors(&fields, "position")[0], Vec3::splat(0.02));
}

#[test]
fn solvers_without_contacts_are_refused() {
    for part in ["contacts", "fields"] {
        let text = format!(
            "duration = 1\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = \"sand\"\nradius = 0.05\n\
             shape = {{ sphere = {{ radius = 0.2 }} }}\n[output]\ncache = [\"{part}\"]\n"
        );
        let (scene, _) = parse_scene(&Document::new("scene.toml", text)).unwrap();
        let error = Simulation::new(&scene).err().expect("an error").to_string();
        assert!(error.contains("keeps no contacts"), "{error}");
    }
}
