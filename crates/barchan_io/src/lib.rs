//! Reads and writes files: one source file per format.
//!
//! Frames are stored in a [`Cache`]. Particles are written as [`Points`]: positions and named columns.
//! [`POINT_FORMATS`] lists the formats for particles, [`EXPORTERS`] those for a whole cache; a new format is a file
//! here and a line there.

mod atomic;
mod cache;
mod csv;
mod export;
mod ply;
mod points;
mod read_points;
mod read_vtp;
mod values;
mod vtp;
mod xyz;

pub use atomic::{WriteError, make_parent, write_atomically};
pub use cache::{
    Cache, CacheError, CacheFolder, CacheSettings, CacheWriter, FrameEntry, FrameStats, GrainsWriter, Manifest, Part,
    Record, Run, Staging, WriteReport, folder_bytes, has_checkpoint, read_checkpoint, write_checkpoint, write_records,
    write_records_csv,
};
pub use export::{EXPORTERS, ExportError, ExportOptions, Exporter, MESH_KINDS, MeshSequence, Palette, Up, export};
pub use points::{Column, POINT_FORMATS, PointFileError, PointFormat, Points, Precision, check_writable, write_points};
pub use read_points::{PointTable, READABLE, ReadPointsError, read_points};
pub use values::Values;
