//! Grains for a cache that has guides only.

use std::fs;

use arrow_schema::Metadata;
use barchan_world::Table;

use super::table::{self, Positions};
use super::{CacheError, CacheFolder, CacheSettings, FrameStats, Manifest, Part, frame_path, journal, stats};
use crate::WriteError;

/// Writes grains into a cache that is there, frame by frame.
pub struct GrainsWriter {
    folder: CacheFolder,
    manifest: Manifest,
    stats: Vec<FrameStats>,
    compact: bool,
}

impl GrainsWriter {
    /// Opens a cache. Grains that it has are replaced as new ones come.
    pub fn open(folder: CacheFolder, compact: bool) -> Result<Self, CacheError> {
        let grains = folder.dir().join(Part::Grains.name());
        fs::create_dir_all(&grains).map_err(|reason| WriteError { path: grains, reason })?;
        Ok(Self {
            manifest: Manifest::read(folder.dir())?,
            stats: stats::read(folder.dir())?,
            folder,
            compact,
        })
    }

    /// Writes the grains of frame `number`, which took `milliseconds`.
    pub fn push(&mut self, number: u64, grains: Table, milliseconds: f64) -> Result<(), CacheError> {
        let Ok(at) = self.manifest.frames.binary_search_by_key(&number, |entry| entry.frame) else {
            return Err(CacheError::NoFrame {
                path: self.folder.dir().to_owned(),
                what: "files",
                frame: number,
                present: self.manifest.present(|_| true),
            });
        };
        let entry = &mut self.manifest.frames[at];
        let tags = Metadata::from([("frame", number.to_string()), ("time", entry.time.to_string())]);
        let positions = match self.compact {
            true => Positions::Compact,
            false => Positions::Exact,
        };
        let count = grains.len();
        let path = frame_path(self.folder.dir(), Part::Grains, number);
        table::write(&path, grains, tags, positions, CacheSettings::default().level)?;
        entry.grains = Some(count as u64);
        if let Ok(at) = self.stats.binary_search_by_key(&number, |line| line.frame) {
            let line = &mut self.stats[at];
            line.stats.grains = count;
            line.stats.grain_ms = milliseconds;
        }
        Ok(())
    }

    /// Lists what was written in the manifest and the statistics.
    pub fn finish(self) -> Result<(), CacheError> {
        let dir = self.folder.dir();
        self.manifest.write(dir)?;
        journal::clear(dir)?;
        stats::replace(dir, self.stats)?;
        Ok(())
    }
}
