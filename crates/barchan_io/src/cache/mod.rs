//! Frames on disk, as a folder.
//!
//! ```text
//! DIR/manifest.json          the scene as resolved, the program version, the list of frames
//! DIR/guides/000042.arrow    Arrow IPC (Feather v2), zstd
//! DIR/grains/000042.arrow
//! DIR/bodies/000042.arrow
//! DIR/contacts/000042.arrow  if the scene asks for them, as `fields`
//! DIR/frames.jsonl           while a run writes: the frames that the manifest does not list yet
//! DIR/stats.jsonl            one line per frame
//! DIR/checkpoint/state       everything needed to resume
//! ```
//!
//! Every data tool opens a frame in one line; with pyarrow `feather.read_table("DIR/guides/000042.arrow")`. Tables of
//! guides and grains have the columns `id` (u32), `position` and `velocity` (lists of three f32), `radius` (f32),
//! `material` (u8) and those of the solver. Tables of bodies have `name`, `position`, `rotation` (x y z w),
//! `linear_velocity`, `angular_velocity`, `force` and `torque`, all f64, so that a body reads back exactly. Metadata of
//! a table:
//!
//! | key | value |
//! | --- | --- |
//! | `frame`, `time` | its number, and its time [s] |
//! | `constant:NAME` | the value that all rows of column NAME have, as JSON; the column is there all the same, since zstd makes it all but free |
//! | `box:position` | two corners [m] as JSON, if positions are compact: lists of three u16, 0 at the first corner and 65535 at the second |
//! | `barchan:crc32` | in the footer: checksum of all bytes before the end-of-stream mark |
//!
//! A file is written to a temporary name and renamed, so it is complete or absent. A frame is listed in the manifest,
//! or meanwhile in `frames.jsonl`, once all its files exist. One process at a time writes to a folder: see
//! [`CacheFolder`].

mod arrow_file;
mod bodies;
mod checkpoint;
mod error;
mod folder;
mod grains;
mod journal;
mod jsonl;
mod manifest;
mod reader;
mod stats;
mod table;
mod writer;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use checkpoint::{has_checkpoint, read_checkpoint, write_checkpoint};
pub use error::CacheError;
pub use folder::{CacheFolder, Staging, folder_bytes};
pub use grains::GrainsWriter;
pub use manifest::{FrameEntry, Manifest, Run};
pub use reader::Cache;
pub use stats::FrameStats;
pub use writer::{CacheSettings, CacheWriter, WriteReport};

use crate::WriteError;

/// Part of a frame on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The simulated particles.
    Guides,
    /// The refined particles.
    Grains,
    /// Poses of bodies, and the forces on them.
    Bodies,
    /// Contacts of guides, with their forces.
    Contacts,
    /// Means over the cells of a grid.
    Fields,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 5] = [Self::Guides, Self::Grains, Self::Bodies, Self::Contacts, Self::Fields];

    /// Parts that are kept by default, and exported.
    pub const USUAL: [Self; 3] = [Self::Guides, Self::Grains, Self::Bodies];

    /// Returns its name in scene files and folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guides => "guides",
            Self::Grains => "grains",
            Self::Bodies => "bodies",
            Self::Contacts => "contacts",
            Self::Fields => "fields",
        }
    }

    /// Returns the part of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

fn frame_path(dir: &Path, part: Part, frame: u64) -> PathBuf {
    dir.join(part.name()).join(format!("{frame:06}.arrow"))
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(WriteError {
            path: path.to_owned(),
            reason,
        }),
        _ => Ok(()),
    }
}
