//! Measures: pure functions of what a simulation shows.

mod fit;
mod height_map;
mod rest;
mod slope;

pub use fit::{Line, line, mean, quantile, spread};
pub use height_map::{HeightMap, settled};
pub use rest::{Rest, RestBand};
pub use slope::{Slope, slope};
