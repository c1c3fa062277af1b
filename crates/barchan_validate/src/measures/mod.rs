//! Measures: pure functions of a simulation's state.

mod conservation;
mod fit;
mod flow;
mod front;
mod height_map;
mod outline;
mod packing;
mod rest;
mod slope;

pub use conservation::{Momenta, carried};
pub use fit::{Line, line, mean, quantile, spread};
pub use flow::{Discharge, discharge};
pub use front::front;
pub use height_map::{HeightMap, settled};
pub use outline::Outline;
pub use packing::{coordination, fractions};
pub use rest::{Rest, RestBand};
pub use slope::{Slope, flank_along_x, slope};
