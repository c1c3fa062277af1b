//! Spatial sort and fixed-radius neighbor search over points: positions and a radius, nothing else.
//!
//! A [`Grid`] sorts points into cells, [`Lists`] holds the neighbors of each point. Both are rebuilt in every step
//! and reuse their memory. Results do not depend on the number of threads or on the instruction set, and equal brute
//! force bit for bit: a pair is near if `dx*dx + dy*dy + dz*dz < reach*reach` in f32.
//!
//! ```
//! use barchan_neighbors::{Grid, Lists};
//! use glam::Vec3;
//!
//! let points = [Vec3::ZERO, Vec3::new(0.5, 0.0, 0.0), Vec3::new(-40.0, 0.0, 7.0)];
//! let (mut grid, mut lists) = (Grid::new(), Lists::new());
//! grid.build(&points, 1.0)?;
//! lists.find(&grid);
//! assert_eq!(lists.of(0), [1]);
//! assert_eq!(lists.of(2), []);
//!
//! // The points near any place:
//! let mut near = Vec::new();
//! grid.near(Vec3::new(0.2, 0.0, 0.0), |index, _squared_distance| near.push(index));
//! assert_eq!(near, [0, 1]);
//! # Ok::<(), barchan_neighbors::Error>(())
//! ```
//!
//! Spheres of different radii are searched by [`Lists::find_contacts`], two sets of points by [`Lists::find_for`] and
//! [`Lists::find_between`], periodic domains by [`Grid::periodic`]. A solver loops over [`Lists::chunks`] in parallel;
//! one that keeps its columns in the order of [`Grid::order`] finds neighbors close in memory.

mod axes;
mod curve;
mod error;
mod grid;
mod kernel;
mod lattice;
mod lists;
mod search;
mod sort;

pub use barchan_simd::Level;
pub use curve::{Curve, is_along_curve, morton};
pub use error::Error;
pub use grid::{Cells, Grid};
pub use lattice::jittered_lattice;
pub use lists::{ContactRule, Csr, Lists};
pub use search::Rows;
