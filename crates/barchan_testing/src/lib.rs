//! Helpers shared by the tests of several crates: small worlds and an allocation counter. Only tests depend on this
//! crate.

mod counting;
mod worlds;

pub use counting::{Counting, allocations, peak_allocation};
pub use worlds::*;
