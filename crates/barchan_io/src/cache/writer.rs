//! Writes a cache in parallel with the simulation.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arrow_schema::Metadata;
use barchan_world::{Archive, Frame};

use super::folder::folders;
use super::table::{self, Positions};
use super::{
    CacheError, CacheFolder, FrameEntry, FrameStats, Manifest, Part, Run, bodies, frame_path, journal, remove, stats,
};
use crate::{WriteError, write_checkpoint};

/// Frames that may wait to be written; a simulation that is faster than the disk then blocks.
const QUEUE: usize = 2;

/// Contents and format of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSettings {
    /// Parts to write.
    pub parts: Vec<Part>,
    /// Grains are written in every n-th frame, counted from the first [-]; 0 is treated as 1.
    pub grains_every: u64,
    /// Stores positions of guides and grains in 16 bits per coordinate, within the box of the frame.
    pub compact: bool,
    /// Level of zstd [-]. Default 1: higher levels made files of the same length in more time, negative ones hardly
    /// compressed (bench `cache`).
    pub level: i32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            parts: Part::USUAL.to_vec(),
            grains_every: 1,
            compact: false,
            level: 1,
        }
    }
}

/// Cost of writing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteReport {
    /// Frames written.
    pub frames: u64,
    /// Bytes written, checkpoints included.
    pub bytes: u64,
    /// Time that the writer thread worked.
    pub busy: Duration,
    /// Time that the simulation waited for it.
    pub waited: Duration,
}

enum Job {
    Frame(Box<Frame>),
    Checkpoint(u64, Archive),
}

/// Writes frames in a separate thread.
///
/// The first error stops it: the next call returns that error with the path and the reason, and all earlier frames stay
/// readable. On drop it still writes the frames that were pushed.
pub struct CacheWriter {
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<WriteReport, CacheError>>>,
    last: Option<u64>,
    waited: Duration,
}

impl CacheWriter {
    /// Creates a cache in `dir`. Fails if there is a cache with frames.
    pub fn create(dir: &Path, run: Run, settings: CacheSettings) -> Result<Self, CacheError> {
        Self::create_in(CacheFolder::create(dir, false)?, run, settings)
    }

    /// Creates a cache, replacing the one in the folder, if any. Leaves foreign files alone.
    pub fn create_in(mut folder: CacheFolder, run: Run, settings: CacheSettings) -> Result<Self, CacheError> {
        let manifest = Manifest::new(run);
        clear(folder.dir(), &manifest)?;
        folder.keep();
        Self::start(folder, &manifest, settings)
    }

    /// Continues the cache in `dir` after frame `after`, that of the checkpoint.
    pub fn resume(dir: &Path, run: Run, settings: CacheSettings, after: u64) -> Result<Self, CacheError> {
        Self::resume_in(CacheFolder::open(dir)?, run, settings, after)
    }

    /// Continues the cache in the folder after frame `after`, that of the checkpoint. Removes later frames, and repairs
    /// torn lines.
    pub fn resume_in(folder: CacheFolder, run: Run, settings: CacheSettings, after: u64) -> Result<Self, CacheError> {
        let dir = folder.dir();
        let mut manifest = Manifest::read(dir)?;
        if !manifest.frames.iter().any(|entry| entry.frame == after) {
            return Err(CacheError::NoFrame {
                path: dir.to_owned(),
                what: "files",
                frame: after,
                present: manifest.present(|_| true),
            });
        }
        // Before anything is removed: the journal must not list more than the manifest.
        manifest.write(dir)?;
        journal::clear(dir)?;
        manifest.run = run;
        manifest.frames.retain(|entry| entry.frame <= after);
        check_files(dir, &manifest)?;
        let mut lines = stats::read(dir)?;
        lines.retain(|line| line.frame <= after);
        stats::replace(dir, lines)?;
        manifest.write(dir)?;
        clear_frames(dir, |frame| frame > after)?;
        Self::start(folder, &manifest, settings)
    }

    fn start(folder: CacheFolder, manifest: &Manifest, settings: CacheSettings) -> Result<Self, CacheError> {
        let work = Work {
            first_frame: manifest.run.first_frame,
            listed: manifest.frames.len(),
            added: 0,
            made: Vec::new(),
            report: WriteReport {
                bytes: manifest.write(folder.dir())?,
                ..WriteReport::default()
            },
            settings,
            folder,
        };
        let last = manifest.frames.last().map(|entry| entry.frame);
        let (queue, jobs) = sync_channel(QUEUE);
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread::spawn(move || work.run(&jobs))),
            last,
            waited: Duration::ZERO,
        })
    }

    /// Queues a frame. Blocks while two others are queued; returns the error of an earlier one.
    ///
    /// # Panics
    /// If its number is not above that of the previous frame.
    pub fn push(&mut self, frame: Frame) -> Result<(), CacheError> {
        let number = frame.number;
        assert!(
            self.last.is_none_or(|last| last < number),
            "frame {number} after frame {:?}",
            self.last
        );
        self.last = Some(number);
        self.send(Job::Frame(Box::new(frame)))
    }

    /// Queues a checkpoint, to be written after all frames before it.
    pub fn checkpoint(&mut self, frame: u64, archive: Archive) -> Result<(), CacheError> {
        self.send(Job::Checkpoint(frame, archive))
    }

    fn send(&mut self, job: Job) -> Result<(), CacheError> {
        let queue = self.queue.as_ref().ok_or(CacheError::Stopped)?;
        let start = Instant::now();
        let sent = queue.send(job);
        self.waited += start.elapsed();
        match sent {
            Ok(()) => Ok(()),
            Err(_) => self.join().and(Err(CacheError::Stopped)),
        }
    }

    /// Waits until everything is written.
    pub fn finish(mut self) -> Result<WriteReport, CacheError> {
        self.join()
    }

    fn join(&mut self) -> Result<WriteReport, CacheError> {
        self.queue = None;
        let thread = self.thread.take().ok_or(CacheError::Stopped)?;
        let report = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(WriteReport {
            waited: self.waited,
            ..report
        })
    }
}

impl Drop for CacheWriter {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // Errors are reported by `finish`.
            let _ = thread.join();
        }
    }
}

/// State of the writer thread.
struct Work {
    folder: CacheFolder,
    settings: CacheSettings,
    first_frame: u64,
    /// Frames that the manifest lists.
    listed: usize,
    /// Frames that the journal lists.
    added: usize,
    /// Parts whose folders exist.
    made: Vec<Part>,
    report: WriteReport,
}

/// Smallest number of frames in the journal before the manifest is rewritten [-].
const MIN_JOURNAL_FRAMES: usize = 64;

impl Work {
    fn run(mut self, jobs: &Receiver<Job>) -> Result<WriteReport, CacheError> {
        let written = self.write_all(jobs);
        let listed = self.list();
        written.and(listed)?;
        Ok(self.report)
    }

    fn write_all(&mut self, jobs: &Receiver<Job>) -> Result<(), CacheError> {
        for job in jobs {
            let start = Instant::now();
            match job {
                Job::Frame(frame) => self.frame(*frame)?,
                Job::Checkpoint(frame, archive) => {
                    self.report.bytes += write_checkpoint(self.folder.dir(), &archive, frame)?;
                }
            }
            self.report.busy += start.elapsed();
        }
        Ok(())
    }

    /// Writes the files, then the line of statistics, then that of the journal, so that listed files exist.
    fn frame(&mut self, frame: Frame) -> Result<(), CacheError> {
        let figures = FrameStats::from(&frame);
        let mut entry = FrameEntry {
            frame: frame.number,
            time: frame.time,
            guides: None,
            grains: None,
            bodies: None,
            contacts: None,
            fields: None,
        };
        let tags = Metadata::from([("frame", frame.number.to_string()), ("time", frame.time.to_string())]);
        let positions = match self.settings.compact {
            true => Positions::Compact,
            false => Positions::Exact,
        };
        let level = self.settings.level;
        if self.wants(Part::Guides) {
            entry.guides = Some(frame.guides.len() as u64);
            let path = self.path(Part::Guides, frame.number)?;
            self.report.bytes += table::write(&path, frame.guides, tags.clone(), positions, level)?;
        }
        if let Some(grains) = frame.grains.filter(|_| self.wants_grains(frame.number)) {
            entry.grains = Some(grains.len() as u64);
            let path = self.path(Part::Grains, frame.number)?;
            self.report.bytes += table::write(&path, grains, tags.clone(), positions, level)?;
        }
        if self.wants(Part::Bodies) {
            entry.bodies = Some(frame.bodies.len() as u64);
            let path = self.path(Part::Bodies, frame.number)?;
            self.report.bytes += bodies::write(&path, &frame.bodies, tags.clone(), level)?;
        }
        for (part, table, rows) in [
            (Part::Contacts, frame.contacts, &mut entry.contacts),
            (Part::Fields, frame.fields, &mut entry.fields),
        ] {
            if let Some(table) = table.filter(|_| self.wants(part)) {
                *rows = Some(table.len() as u64);
                let path = self.path(part, frame.number)?;
                self.report.bytes += table::write(&path, table, tags.clone(), Positions::Exact, level)?;
            }
        }
        let dir = self.folder.dir();
        self.report.bytes += stats::append(dir, figures)?;
        self.report.bytes += journal::append(dir, &entry)?;
        self.added += 1;
        self.report.frames += 1;
        // Their number has doubled: over a run, manifests take as much writing as two of them.
        if self.added >= self.listed.max(MIN_JOURNAL_FRAMES) {
            self.list()?;
        }
        Ok(())
    }

    /// Moves the frames of the journal to the manifest. They are not kept in memory for it.
    fn list(&mut self) -> Result<(), CacheError> {
        if self.added > 0 {
            let dir = self.folder.dir();
            let manifest = Manifest::read(dir)?;
            self.report.bytes += manifest.write(dir)?;
            journal::clear(dir)?;
            (self.listed, self.added) = (manifest.frames.len(), 0);
        }
        Ok(())
    }

    /// Returns the path of a frame's file, in an existing folder.
    fn path(&mut self, part: Part, frame: u64) -> Result<PathBuf, WriteError> {
        let path = frame_path(self.folder.dir(), part, frame);
        if !self.made.contains(&part) {
            let path = self.folder.dir().join(part.name());
            fs::create_dir_all(&path).map_err(|reason| WriteError { path, reason })?;
            self.made.push(part);
        }
        Ok(path)
    }

    fn wants(&self, part: Part) -> bool {
        self.settings.parts.contains(&part)
    }

    fn wants_grains(&self, frame: u64) -> bool {
        let since = frame.saturating_sub(self.first_frame);
        self.wants(Part::Grains) && since.is_multiple_of(self.settings.grains_every.max(1))
    }
}

/// Fails if a file of a listed frame is missing.
fn check_files(dir: &Path, manifest: &Manifest) -> Result<(), CacheError> {
    for part in Part::ALL {
        let folder = dir.join(part.name());
        let there: HashSet<OsString> = match fs::read_dir(&folder) {
            Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
            Err(_) => HashSet::new(),
        };
        for entry in manifest.frames.iter().filter(|entry| entry.rows(part).is_some()) {
            let path = frame_path(dir, part, entry.frame);
            if !path.file_name().is_some_and(|name| there.contains(name)) {
                return Err(CacheError::Missing { path });
            }
        }
    }
    Ok(())
}

/// Turns a folder into a cache with an `empty` manifest, and removes the files of an earlier one.
pub(super) fn clear(dir: &Path, empty: &Manifest) -> Result<(), CacheError> {
    remove(&dir.join("checkpoint").join("state"))?;
    journal::clear(dir)?;
    // From now on it is a valid cache without frames, even if clearing is interrupted.
    empty.write(dir)?;
    remove(&dir.join("stats.jsonl"))?;
    clear_frames(dir, |_| true)
}

/// Removes the frames that `goes` selects by their number, and temporary files of a killed run. Other files stay.
fn clear_frames(dir: &Path, goes: impl Fn(u64) -> bool) -> Result<(), CacheError> {
    for folder in folders(dir).iter().map(PathBuf::as_path).chain([dir]) {
        let entries = match fs::read_dir(folder) {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(CacheError::reading(folder))?,
        };
        for entry in entries {
            let path = entry.map_err(CacheError::reading(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let number = name.strip_suffix(".arrow").and_then(|number| number.parse().ok());
            if is_half_written(&name) || (folder != dir && number.is_some_and(&goes)) {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

/// Returns true if a name is that of a temporary file of ours: `.000042.arrow.1234.part`.
fn is_half_written(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
    let Some((place, process)) = inner.and_then(|inner| inner.rsplit_once('.')) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_ours = ["manifest.json", "stats.jsonl", "stage.json", "state", "probe"].contains(&place)
        || place.strip_suffix(".arrow").is_some_and(is_number);
    is_ours && is_number(process)
}
