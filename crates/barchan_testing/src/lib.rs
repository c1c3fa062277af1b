//! What tests of several crates need: small worlds, and a count of allocations. No crate but tests depends on it.

mod counting;
mod worlds;

pub use counting::{Counting, allocations};
pub use worlds::*;
