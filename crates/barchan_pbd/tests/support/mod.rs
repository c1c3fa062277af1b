//! Small worlds, and a solver for them.
#![allow(dead_code, unused_imports, reason = "not every test file needs every world")]

use barchan_bodies::Dynamics;
use barchan_pbd::{PbdSettings, PbdSolver, Rigid};
pub use barchan_testing::*;
use barchan_world::World;

pub fn solver(world: &World, settings: PbdSettings) -> PbdSolver {
    let bodies = Dynamics::new(world).expect("good bodies");
    let bodies = match settings.rigid {
        Rigid::True => bodies,
        Rigid::ShapeMatching => bodies.shape_matched(),
    };
    PbdSolver::new(settings, bodies).expect("good settings")
}
