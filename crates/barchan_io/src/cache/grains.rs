//! Grains for a cache that has guides only.

use std::fs;
use std::path::{Path, PathBuf};

use arrow_schema::Metadata;
use barchan_world::Table;

use super::table::{self, Positions};
use super::{CacheError, CacheSettings, FrameStats, Manifest, Part, frame_path, stats};
use crate::WriteError;

/// Writes grains into a cache that is there, frame by frame.
pub struct GrainsWriter {
    dir: PathBuf,
    manifest: Manifest,
    stats: Vec<FrameStats>,
    compact: bool,
}

impl GrainsWriter {
    /// Opens the cache `dir`. Grains that it has are replaced as new ones come.
    pub fn open(dir: &Path, compact: bool) -> Result<Self, CacheError> {
        let folder = dir.join(Part::Grains.name());
        fs::create_dir_all(&folder).map_err(|reason| WriteError { path: folder, reason })?;
        Ok(Self {
            manifest: Manifest::read(dir)?,
            stats: stats::read(dir)?,
            dir: dir.to_owned(),
            compact,
        })
    }

    /// Writes the grains of frame `number`, which took `milliseconds`.
    pub fn push(&mut self, number: u64, grains: Table, milliseconds: f64) -> Result<(), CacheError> {
        let present = self.manifest.present(|_| true);
        let Some(entry) = self.manifest.frames.iter_mut().find(|entry| entry.frame == number) else {
            return Err(CacheError::NoFrame {
                path: self.dir.clone(),
                what: "files",
                frame: number,
                present,
            });
        };
        let tags = Metadata::from([("frame", number.to_string()), ("time", entry.time.to_string())]);
        let positions = match self.compact {
            true => Positions::Compact,
            false => Positions::Exact,
        };
        let count = grains.len();
        let path = frame_path(&self.dir, Part::Grains, number);
        table::write(&path, grains, tags, positions, CacheSettings::default().level)?;
        entry.grains = Some(count as u64);
        if let Some(line) = self.stats.iter_mut().find(|line| line.frame == number) {
            line.stats.grains = count;
            line.stats.grain_ms = milliseconds;
        }
        Ok(())
    }

    /// Lists what was written in the manifest and the statistics.
    pub fn finish(self) -> Result<(), CacheError> {
        self.manifest.write(&self.dir)?;
        stats::replace(&self.dir, self.stats)?;
        Ok(())
    }
}
