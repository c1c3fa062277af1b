//! Small worlds, and a solver for them.
#![allow(dead_code, unused_imports, reason = "not every test file needs every world")]

use barchan_bodies::Dynamics;
use barchan_sph::{SphSettings, SphSolver};
pub use barchan_testing::*;
use barchan_world::{Column, Solver, World};

pub fn solver(settings: SphSettings, world: &World) -> SphSolver {
    SphSolver::new(settings, Dynamics::new(world).expect("good bodies")).expect("good settings")
}

/// Returns a column of the solver.
pub fn column(solver: &SphSolver, name: &str) -> Vec<f32> {
    let found = solver.columns().into_iter().find(|c| c.0 == name);
    let Column::F32(values) = found.expect("the solver has it").1 else {
        panic!("{name} is a number each")
    };
    values
}
