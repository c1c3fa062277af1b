//! Files in and out: one file a format.
//!
//! Particles leave as [`Points`]: positions and named columns. [`POINT_FORMATS`] lists what can be written; a new format is a
//! file here and a line there.

mod atomic;
mod bytes;
mod csv;
mod ply;
mod points;
mod vtp;
mod xyz;

pub use atomic::{WriteError, write_atomically};
pub use points::{
    Column, POINT_FORMATS, PointFileError, PointFormat, Points, Precision, Values, check_writable, write_points,
};
