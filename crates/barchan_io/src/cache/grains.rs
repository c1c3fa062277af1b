//! Adds grains to a cache that has guides only.

use std::fs;

use arrow_schema::Metadata;
use barchan_world::Table;

use super::folder::{Staging, writing};
use super::table::{self, Positions};
use super::{Cache, CacheError, CacheFolder, CacheSettings, FrameStats, Manifest, Part, frame_path, journal, stats};

/// Writes grains into a cache, frame by frame. The cache changes once all of them are written.
pub struct GrainsWriter {
    /// Dropped before the folder, which is removed too if it was created for this and is still empty.
    staging: Staging,
    folder: CacheFolder,
    /// The staging folder holds a complete cache, not grains only.
    is_copy: bool,
    manifest: Manifest,
    /// Frames that received grains.
    pushed: Vec<u64>,
    stats: Vec<FrameStats>,
    compact: bool,
}

impl GrainsWriter {
    /// Opens a cache. New grains replace those of the same frames.
    pub fn open(folder: CacheFolder, compact: bool) -> Result<Self, CacheError> {
        let manifest = Manifest::read(folder.dir())?;
        let stats = stats::read(folder.dir())?;
        Self::new(folder, manifest, stats, compact)
    }

    /// Starts a copy of `cache` in another folder, replacing the cache there, if any. Grains and the checkpoint are not
    /// copied.
    pub fn copy(cache: &Cache, folder: CacheFolder, compact: bool) -> Result<Self, CacheError> {
        let mut manifest = cache.manifest().clone();
        manifest.frames.iter_mut().for_each(|entry| entry.grains = None);
        let mut writer = Self::new(folder, manifest, cache.stats()?, compact)?;
        writer.is_copy = true;
        let (from, to) = (cache.dir(), writer.staging.dir());
        for part in Part::ALL.into_iter().filter(|part| *part != Part::Grains) {
            fs::create_dir_all(to.join(part.name())).map_err(writing(to))?;
            for entry in cache.frames().iter().filter(|entry| entry.rows(part).is_some()) {
                let path = frame_path(to, part, entry.frame);
                fs::copy(frame_path(from, part, entry.frame), &path).map_err(writing(&path))?;
            }
        }
        let stage = from.join("stage.json");
        if stage.is_file() {
            fs::copy(&stage, to.join("stage.json")).map_err(writing(&stage))?;
        }
        if let Ok(meshes) = fs::read_dir(from.join("meshes")) {
            fs::create_dir_all(to.join("meshes")).map_err(writing(to))?;
            for mesh in meshes.flatten().filter(|mesh| mesh.path().is_file()) {
                let path = to.join("meshes").join(mesh.file_name());
                fs::copy(mesh.path(), &path).map_err(writing(&path))?;
            }
        }
        Ok(writer)
    }

    fn new(folder: CacheFolder, manifest: Manifest, stats: Vec<FrameStats>, compact: bool) -> Result<Self, CacheError> {
        let staging = folder.stage()?;
        let grains = staging.dir().join(Part::Grains.name());
        fs::create_dir_all(&grains).map_err(writing(&grains))?;
        Ok(Self {
            staging,
            folder,
            is_copy: false,
            manifest,
            pushed: Vec::new(),
            stats,
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
        let path = frame_path(self.staging.dir(), Part::Grains, number);
        table::write(&path, grains, tags, positions, CacheSettings::default().level)?;
        entry.grains = Some(count as u64);
        self.pushed.push(number);
        if let Ok(at) = self.stats.binary_search_by_key(&number, |line| line.frame) {
            let line = &mut self.stats[at];
            line.stats.grains = count;
            line.stats.grain_ms = milliseconds;
        }
        Ok(())
    }

    /// Moves the new files into the cache, and lists them in the manifest and the statistics.
    pub fn finish(self) -> Result<(), CacheError> {
        if self.is_copy {
            self.manifest.write(self.staging.dir())?;
            stats::replace(self.staging.dir(), self.stats)?;
            return self.folder.adopt(&self.staging);
        }
        let dir = self.folder.dir();
        // Meanwhile these frames have no grains: a reader never finds rows that the manifest does not list.
        let mut between = self.manifest.clone();
        let is_pushed = |frame: u64| self.pushed.binary_search(&frame).is_ok();
        let entries = between.frames.iter_mut().filter(|entry| is_pushed(entry.frame));
        entries.for_each(|entry| entry.grains = None);
        between.write(dir)?;
        journal::clear(dir)?;
        self.staging.move_to(dir)?;
        self.manifest.write(dir)?;
        stats::replace(dir, self.stats)?;
        Ok(())
    }
}
