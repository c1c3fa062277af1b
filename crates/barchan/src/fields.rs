//! Fields: means of guides and contacts over the cells of a grid.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use barchan_scene::Scene;
use barchan_world::{Column, Contact, Partner, Renumbering, Table, World};
use glam::{DMat3, DVec3, Vec3};

/// Default edge of a cell, in radii of the largest guide [-].
const CELL: f64 = 8.0;
/// Points per edge of the cube around a sphere, among which its volume is shared.
const SAMPLES: i32 = 4;

/// Sums over a cell.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Volume of guides [m³].
    volume: f64,
    /// Guides whose centers are in the cell, their mass [kg], momentum [kg m/s] and number of contacts.
    guides: u32,
    mass: f64,
    momentum: DVec3,
    contacts: u32,
    /// Sum of force times branch vector [N m].
    moment: DMat3,
}

/// Returns the edge of the cells of a scene's fields [m].
pub(crate) fn cell(scene: &Scene) -> f64 {
    let largest = scene.sample().guides.radius.iter().copied().fold(0.0, f32::max);
    let default = CELL * f64::from(largest);
    scene
        .output
        .field_cell
        .unwrap_or(if default > 0.0 { default } else { 1.0 })
}

/// Returns the fields of a world whose guides move with `velocities` [m/s] and have `contacts`: one row for each cell of
/// edge `cell` [m] that a guide reaches, in the order of x, then y, then z.
///
/// | column | meaning |
/// | --- | --- |
/// | `position` | center of the cell [m] |
/// | `packing` | share of the cell's volume in guides [-] |
/// | `coordination` | mean number of contacts of the guides with their centers in the cell [-] |
/// | `velocity` | mean velocity of these guides, by mass [m/s] |
/// | `stress` | σxx, σyy, σzz of contacts [Pa]; compression is positive |
/// | `shear_stress` | σyz, σzx, σxy [Pa] |
///
/// The stress is σ = -1/V Σ f ⊗ l [Love27, Weber66] over the contacts of the guides with their centers in the cell: f is
/// the force on the guide, l the vector from its center to the contact. What moving guides carry is left out.
pub fn fields(world: &World, velocities: &[Vec3], contacts: &[Contact], cell: f64) -> Table {
    let mut cells: BTreeMap<[i64; 3], Sums> = BTreeMap::new();
    let key = |p: DVec3| (world.wrapped(p) / cell).floor().to_array().map(|x| x as i64);
    let guides = &world.guides;
    let mut rows = Vec::new();
    let wanted: Vec<u32> = (contacts.iter())
        .flat_map(|contact| match contact.partner {
            Partner::Guide(other) => [contact.guide, other],
            Partner::Body(_) => [contact.guide; 2],
        })
        .collect();
    Renumbering::default().find(&wanted, &guides.id, &mut rows);
    let samples = sphere_samples();
    for i in 0..guides.len() {
        let (center, radius) = (world.place(i), f64::from(guides.radius[i]));
        let share = 4.0 / 3.0 * PI * radius.powi(3) / samples.len() as f64;
        for &sample in &samples {
            cells.entry(key(center + radius * sample)).or_default().volume += share;
        }
        let (sums, mass) = (cells.entry(key(center)).or_default(), f64::from(guides.mass[i]));
        sums.guides += 1;
        sums.mass += mass;
        sums.momentum += mass * velocities[i].as_dvec3();
    }
    for (contact, rows) in contacts.iter().zip(rows.chunks(2)) {
        let centers = [rows[0], rows[1]].map(|row| world.place(row as usize));
        let is_pair = matches!(contact.partner, Partner::Guide(_));
        let partners = if is_pair { &centers[..] } else { &centers[..1] };
        for (k, &center) in partners.iter().enumerate() {
            let force = if k == 0 { contact.force } else { -contact.force };
            let arm = nearest(world, contact.point - center);
            let sums = cells.entry(key(center)).or_default();
            sums.contacts += 1;
            sums.moment += DMat3::from_cols(-force * arm.x, -force * arm.y, -force * arm.z);
        }
    }
    let per_volume = 1.0 / cell.powi(3);
    let column = |value: &dyn Fn(&Sums) -> DVec3| Column::Vec3(cells.values().map(|s| value(s).as_vec3()).collect());
    let numbers = |value: &dyn Fn(&Sums) -> f64| Column::F32(cells.values().map(|s| value(s) as f32).collect());
    let center = |key: &[i64; 3]| (cell * (DVec3::from_array(key.map(|k| k as f64)) + 0.5)).as_vec3();
    let mut table = Table::default();
    table.push("position", Column::Vec3(cells.keys().map(center).collect()));
    table.push("packing", numbers(&|sums| sums.volume * per_volume));
    table.push(
        "coordination",
        numbers(&|sums| f64::from(sums.contacts) / f64::from(sums.guides.max(1))),
    );
    table.push(
        "velocity",
        column(&|sums| sums.momentum / sums.mass.max(f64::MIN_POSITIVE)),
    );
    let stress = |sums: &Sums| (sums.moment + sums.moment.transpose()) * (0.5 * per_volume);
    let diagonal = |sums: &Sums| {
        let s = stress(sums);
        DVec3::new(s.x_axis.x, s.y_axis.y, s.z_axis.z)
    };
    let sides = |sums: &Sums| {
        let s = stress(sums);
        DVec3::new(s.y_axis.z, s.z_axis.x, s.x_axis.y)
    };
    table.push("stress", column(&diagonal));
    table.push("shear_stress", column(&sides));
    table
}

/// Returns the points of a regular grid within the unit sphere.
fn sphere_samples() -> Vec<DVec3> {
    let place = |k: i32| (f64::from(k) + 0.5) * 2.0 / f64::from(SAMPLES) - 1.0;
    let all = (0..SAMPLES.pow(3)).map(|k| {
        let [x, y, z] = [k % SAMPLES, k / SAMPLES % SAMPLES, k / SAMPLES / SAMPLES].map(place);
        DVec3::new(x, y, z)
    });
    all.filter(|p| p.length() < 1.0).collect()
}

/// Returns the shortest of the vectors that differ by whole periods.
fn nearest(world: &World, v: DVec3) -> DVec3 {
    let mut v = v.to_array();
    for (x, range) in v.iter_mut().zip(&world.periodic) {
        if let Some([low, high]) = range {
            *x -= (high - low) * (*x / (high - low)).round();
        }
    }
    DVec3::from_array(v)
}
