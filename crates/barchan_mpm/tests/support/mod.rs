//! Small worlds, and a solver for them.
#![allow(dead_code, unused_imports, reason = "not every test file needs every world")]

use barchan_bodies::Dynamics;
use barchan_mpm::{MpmSettings, MpmSolver};
pub use barchan_testing::*;
use barchan_world::{Column, ContactProperties, MaterialLaw, Solver, World};

pub fn solver(settings: MpmSettings, world: &World) -> MpmSolver {
    MpmSolver::new(settings, Dynamics::new(world).expect("good bodies")).expect("good settings")
}

/// Returns settings with one material of `law`, after `change`.
pub fn made_of(law: MaterialLaw, change: impl FnOnce(&mut ContactProperties)) -> MpmSettings {
    let mut contact = ContactProperties {
        law: Some(law),
        ..ContactProperties::default()
    };
    change(&mut contact);
    MpmSettings {
        contacts: vec![contact],
        ..MpmSettings::default()
    }
}

/// Returns a column of the solver.
pub fn column(solver: &MpmSolver, name: &str) -> Vec<f32> {
    let found = solver.columns().into_iter().find(|c| c.0 == name);
    let Column::F32(values) = found.expect("the solver has it").1 else {
        panic!("{name} is a number each")
    };
    values
}

/// Radius [m] of guides whose shares are cubes of side `spacing` [m].
pub fn radius_of(spacing: f64) -> f64 {
    spacing * (0.6 * 0.75 / std::f64::consts::PI).cbrt()
}

/// Fills a box with a lattice of guides, `spacing` [m] apart, each of which stands for its cube.
pub fn lattice(world: &mut World, low: glam::DVec3, counts: [u32; 3], spacing: f64) {
    let radius = radius_of(spacing);
    let mass = world.settled_mass(0, radius);
    for x in 0..counts[0] {
        for y in 0..counts[1] {
            for z in 0..counts[2] {
                let at = glam::DVec3::new(f64::from(x), f64::from(y), f64::from(z)) + 0.5;
                world.add_guide(low + spacing * at, glam::DVec3::ZERO, radius, mass, 0);
            }
        }
    }
    world.fill_ends = vec![world.next_id];
}
