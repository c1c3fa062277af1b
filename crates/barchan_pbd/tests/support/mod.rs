//! Small worlds, and a solver for them.
#![allow(dead_code, unused_imports, reason = "not every test file needs every world")]

use barchan_pbd::{FreeBodies, PbdSettings, PbdSolver};
pub use barchan_testing::*;

pub fn solver(settings: PbdSettings) -> PbdSolver {
    PbdSolver::new(settings, Box::new(FreeBodies)).expect("good settings")
}
