//! Every file of `cases` is an experiment with few spheres and its closed-form result.

mod support;

use std::fs;
use std::path::Path;

use barchan_dem::{Contact, DemSettings, DemSolver, SPEC};
use barchan_world::spec::Setting;
use barchan_world::{Solver, World};
use glam::DVec3;
use support::{add, plane, solver, world};
use toml::de::{DeTable, DeValue};

type Table<'a> = DeTable<'a>;

fn plain(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Float(x) => x.as_str().parse().ok(),
        DeValue::Integer(n) => n.as_str().parse().ok(),
        _ => None,
    }
}

fn number(table: &Table, key: &str) -> Option<f64> {
    plain(table.get(key)?.get_ref())
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key)?.get_ref().as_str()
}

fn vector(table: &Table, key: &str) -> DVec3 {
    let Some(DeValue::Array(items)) = table.get(key).map(toml::Spanned::get_ref) else {
        return DVec3::ZERO;
    };
    let of = |k: usize| plain(items[k].get_ref()).unwrap();
    DVec3::new(of(0), of(1), of(2))
}

fn tables<'a, 'b>(table: &'a Table<'b>, key: &str) -> Vec<&'a Table<'b>> {
    let Some(DeValue::Array(items)) = table.get(key).map(toml::Spanned::get_ref) else {
        panic!("no `{key}`");
    };
    items.iter().map(|item| item.get_ref().as_table().unwrap()).collect()
}

/// Settings with the laws and the integrator that `case` names.
fn settings(case: &Table) -> DemSettings {
    let mut given = SPEC.defaults();
    for key in ["integrator", "normal", "shear"] {
        if let Some(word) = text(case, key) {
            given.set(key, Setting::Word(word.to_owned().into()));
        }
    }
    DemSettings::read(&given).unwrap()
}

/// Observations of a run.
struct Seen {
    /// Relative velocity of the first two, or of the first alone, at the start and the end [m/s].
    before: DVec3,
    after: DVec3,
    spin: DVec3,
    place: [DVec3; 2],
    velocity: DVec3,
    kinetic: [f64; 2],
    momentum: DVec3,
    /// Time in contact [s], deepest overlap [m], largest force on the plane [N].
    touched: f64,
    deepest: f64,
    force: f64,
    seconds: f64,
    /// Mean force on the plane at the end [N].
    load: DVec3,
}

impl Seen {
    fn measure(&self, name: &str) -> f64 {
        match name {
            "restitution" => -self.after.z / self.before.z,
            "parting speed" => self.after.z,
            "tangential restitution" => self.after.x / self.before.x,
            "duration" => self.touched,
            "overlap" => self.deepest,
            "force" => self.force,
            "load" => -self.load.z,
            "speed" => self.velocity.x,
            "normal speed" => self.velocity.z,
            "spin" => self.spin.y,
            "acceleration" => 2.0 * (self.place[1].x - self.place[0].x) / self.seconds.powi(2),
            "way" => self.place[1].x - self.place[0].x,
            "height" => self.place[1].z,
            "energy change" => (self.kinetic[1] / self.kinetic[0] - 1.0).abs(),
            "momentum" => self.momentum.length(),
            _ => panic!("no measure `{name}`"),
        }
    }
}

fn kinetic(solver: &DemSolver, world: &World) -> f64 {
    support::sums(solver, world).2
}

fn experiment(case: &Table) -> Seen {
    let mu = number(case, "friction").unwrap_or(0.0) as f32;
    let mut world = world(vector(case, "gravity"), mu);
    if case.get("plane").is_some() {
        world.bodies.push(plane(DVec3::Z, DVec3::ZERO, mu));
    }
    let spheres = tables(case, "sphere");
    for sphere in &spheres {
        let radius = number(sphere, "radius").unwrap_or(0.005);
        add(&mut world, vector(sphere, "at"), vector(sphere, "velocity"), radius);
    }
    let usual = Contact::default();
    let step = number(case, "step").unwrap();
    let mut solver = solver(
        &world,
        DemSettings {
            step: Some(step),
            reference_speed: number(case, "reference_speed").unwrap_or(1.0),
            duration: number(case, "duration"),
            shear_viscosity: number(case, "shear_viscosity"),
            contacts: vec![Contact {
                youngs_modulus: number(case, "youngs_modulus").unwrap_or(usual.youngs_modulus),
                restitution: number(case, "restitution").unwrap_or(usual.restitution),
                poisson_ratio: number(case, "poisson_ratio").unwrap_or(usual.poisson_ratio),
                rolling_friction: number(case, "rolling_friction"),
                liquid: number(case, "liquid").unwrap_or(0.0),
                contact_angle: number(case, "contact_angle").unwrap_or(0.0).to_radians(),
                ..usual
            }],
            ..settings(case)
        },
    );
    for (id, sphere) in (0..).zip(&spheres) {
        solver.spin(id, vector(sphere, "spin"));
    }
    let steps = (number(case, "seconds").unwrap() / step).round() as u32;
    let relative = |solver: &DemSolver, world: &World| {
        let of = |id: u32| solver.sphere(world, id).map(|s| s.velocity);
        of(0).unwrap() - of(1).unwrap_or(DVec3::ZERO)
    };
    let start: Vec<DVec3> = spheres.iter().map(|s| vector(s, "velocity")).collect();
    let mut seen = Seen {
        before: start[0] - start.get(1).copied().unwrap_or(DVec3::ZERO),
        after: DVec3::ZERO,
        spin: DVec3::ZERO,
        place: [vector(spheres[0], "at"), DVec3::ZERO],
        velocity: DVec3::ZERO,
        kinetic: [0.0; 2],
        momentum: DVec3::ZERO,
        touched: 0.0,
        deepest: 0.0,
        force: 0.0,
        seconds: f64::from(steps) * step,
        load: DVec3::ZERO,
    };
    for (i, velocity) in start.iter().enumerate() {
        let (mass, radius) = (f64::from(world.guides.mass[i]), f64::from(world.guides.radius[i]));
        let spin = vector(spheres[i], "spin").length_squared();
        seen.kinetic[0] += 0.5 * mass * (velocity.length_squared() + 0.4 * radius * radius * spin);
    }
    for k in 0..steps {
        world.time = f64::from(k) * step;
        let report = solver.advance(&mut world, step).unwrap();
        let radius = f64::from(world.guides.radius[0]);
        let overlap = f64::from(report.max_overlap) * radius;
        seen.touched += if overlap > 0.0 { step } else { 0.0 };
        seen.deepest = seen.deepest.max(overlap);
        if let Some(plane) = world.bodies.first() {
            seen.load = plane.wrench.force;
            seen.force = seen.force.max(plane.wrench.force.length());
        }
    }
    let first = solver.sphere(&world, 0).unwrap();
    seen.after = relative(&solver, &world);
    (seen.spin, seen.velocity, seen.place[1]) = (first.angular_velocity, first.velocity, first.position);
    seen.kinetic[1] = kinetic(&solver, &world);
    seen.momentum = support::sums(&solver, &world).0;
    seen
}

#[test]
fn every_case_is_as_its_closed_form_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 10, "{} cases", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let source = fs::read_to_string(&file).unwrap();
        let case = Table::parse(&source).unwrap().into_inner();
        let seen = experiment(&case);
        for check in tables(&case, "check") {
            let measure = text(check, "measure").unwrap();
            let (expected, within) = (number(check, "expected").unwrap(), number(check, "within").unwrap());
            let found = seen.measure(measure);
            if found.is_nan() || (found - expected).abs() > within {
                wrong.push(format!("{name}: {measure} {found}, expected {expected} ± {within}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
