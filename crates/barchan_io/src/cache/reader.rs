//! Reads caches.

use std::io;
use std::path::{Path, PathBuf};

use barchan_world::{BodyState, Column, Table};

use super::{CacheError, FrameEntry, FrameStats, Manifest, Part, bodies, frame_path, stats, table};

/// A cache on disk, as it was when opened.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
    manifest: Manifest,
}

impl Cache {
    /// Opens a folder. A run may still be writing into it.
    pub fn open(dir: &Path) -> Result<Self, CacheError> {
        Ok(Self {
            manifest: Manifest::read(dir)?,
            dir: dir.to_owned(),
        })
    }

    /// Returns its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the frames in the cache, in order.
    pub fn frames(&self) -> &[FrameEntry] {
        &self.manifest.frames
    }

    /// Reads the guides of a frame.
    pub fn read_guides(&self, frame: u64) -> Result<Table, CacheError> {
        self.read(Part::Guides, frame, read_particles)
    }

    /// Reads the grains of a frame.
    pub fn read_grains(&self, frame: u64) -> Result<Table, CacheError> {
        self.read(Part::Grains, frame, read_particles)
    }

    /// Reads the bodies of a frame.
    pub fn read_bodies(&self, frame: u64) -> Result<Vec<BodyState>, CacheError> {
        self.read(Part::Bodies, frame, bodies::read)
    }

    /// Reads the contacts of a frame.
    pub fn read_contacts(&self, frame: u64) -> Result<Table, CacheError> {
        self.read(Part::Contacts, frame, table::read)
    }

    /// Reads the fields of a frame.
    pub fn read_fields(&self, frame: u64) -> Result<Table, CacheError> {
        self.read(Part::Fields, frame, table::read)
    }

    fn read<T>(
        &self,
        part: Part,
        frame: u64,
        read: impl FnOnce(&Path, u64) -> Result<T, CacheError>,
    ) -> Result<T, CacheError> {
        let missing = || CacheError::NoFrame {
            path: self.dir.clone(),
            what: part.name(),
            frame,
            present: self.manifest.present(|entry| entry.rows(part).is_some()),
        };
        let at = self.frames().binary_search_by_key(&frame, |entry| entry.frame);
        let rows = at.ok().and_then(|at| self.frames()[at].rows(part));
        let rows = rows.ok_or_else(missing)?;
        let path = frame_path(&self.dir, part, frame);
        match read(&path, rows) {
            Err(CacheError::Read { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {
                Err(CacheError::Missing { path })
            }
            other => other,
        }
    }

    /// Reads the statistics of each frame.
    pub fn stats(&self) -> Result<Vec<FrameStats>, CacheError> {
        let mut lines = stats::read(&self.dir)?;
        lines.retain(|line| {
            self.frames()
                .binary_search_by_key(&line.frame, |entry| entry.frame)
                .is_ok()
        });
        Ok(lines)
    }
}

/// Reads guides or grains, which have positions at least.
fn read_particles(path: &Path, rows: u64) -> Result<Table, CacheError> {
    let table = table::read(path, rows)?;
    match table.column("position") {
        Some(Column::Vec3(_)) => Ok(table),
        Some(_) => Err(CacheError::foreign(path, "its column `position` holds no vectors")),
        None => Err(CacheError::foreign(path, "it has no column `position`")),
    }
}
