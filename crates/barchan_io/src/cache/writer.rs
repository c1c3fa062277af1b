//! A cache that is written, beside the simulation.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arrow_schema::Metadata;
use barchan_world::{Archive, Frame};

use super::table::{self, Positions};
use super::{CacheError, FrameEntry, FrameStats, Manifest, Part, Run, bodies, frame_path, manifest, stats};
use crate::{WriteError, write_checkpoint};

/// Frames that may wait to be written; a simulation that is faster than the disk waits then.
const QUEUE: usize = 2;

/// What is written, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSettings {
    /// Which files a frame gets.
    pub parts: Vec<Part>,
    /// Grains are written in each so manieth frame, counted from the first [-]; 0 is taken as 1.
    pub grains_every: u64,
    /// Whether positions of guides and grains are stored in 16 bits a coordinate, within the box of the frame.
    pub compact: bool,
    /// Level of zstd [-]. By default 1: higher ones made files of the same length in more time, negative ones hardly
    /// compressed (bench `cache`).
    pub level: i32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            grains_every: 1,
            compact: false,
            level: 1,
        }
    }
}

/// What writing took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteReport {
    /// Frames written.
    pub frames: u64,
    /// Bytes written, checkpoints included.
    pub bytes: u64,
    /// Time that the writing thread worked.
    pub busy: Duration,
    /// Time that the simulation waited for it.
    pub waited: Duration,
}

enum Job {
    Frame(Box<Frame>),
    Checkpoint(u64, Archive),
}

/// Writes frames in a thread of its own.
///
/// The first error ends it: the next call returns that error, with the path and the reason, and all frames before stay
/// readable. Dropped, it still writes what was pushed.
pub struct CacheWriter {
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<WriteReport, CacheError>>>,
    last: Option<u64>,
    waited: Duration,
}

impl CacheWriter {
    /// Begins a cache in `dir`, in place of the one that is there, if any. Files that are not of a cache are left alone.
    pub fn create(dir: &Path, run: Run, settings: CacheSettings) -> Result<Self, CacheError> {
        match Manifest::read(dir) {
            Ok(_) | Err(CacheError::NotACache { .. } | CacheError::Format { .. }) => {}
            Err(error) => return Err(error),
        }
        make_folders(dir)?;
        // The manifest goes first: what is half cleared is no cache.
        for path in [
            dir.join(manifest::FILE),
            dir.join("stats.jsonl"),
            dir.join("checkpoint").join("state"),
        ] {
            remove(&path)?;
        }
        clear_frames(dir, |_| true)?;
        Self::start(dir, Manifest::new(run), settings)
    }

    /// Goes on with the cache in `dir` after frame `after`, whose checkpoint is taken up. Later frames are removed, and a torn
    /// line of statistics is repaired.
    pub fn resume(dir: &Path, run: Run, settings: CacheSettings, after: u64) -> Result<Self, CacheError> {
        let mut manifest = Manifest::read(dir)?;
        if !manifest.frames.iter().any(|entry| entry.frame == after) {
            return Err(CacheError::NoFrame {
                path: dir.to_owned(),
                what: "files",
                frame: after,
                present: manifest.present(|_| true),
            });
        }
        manifest.run = run;
        manifest.frames.retain(|entry| entry.frame <= after);
        let mut lines = stats::read(dir)?;
        lines.retain(|line| line.frame <= after);
        stats::replace(dir, lines)?;
        manifest.write(dir)?;
        make_folders(dir)?;
        clear_frames(dir, |frame| frame > after)?;
        Self::start(dir, manifest, settings)
    }

    fn start(dir: &Path, manifest: Manifest, settings: CacheSettings) -> Result<Self, CacheError> {
        let mut work = Work {
            dir: dir.to_owned(),
            settings,
            report: WriteReport::default(),
            manifest,
        };
        work.report.bytes = work.manifest.write(dir)?;
        let last = work.manifest.frames.last().map(|entry| entry.frame);
        let (queue, jobs) = sync_channel(QUEUE);
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread::spawn(move || work.run(&jobs))),
            last,
            waited: Duration::ZERO,
        })
    }

    /// Hands over a frame. Waits while two others wait; returns the error of an earlier one.
    ///
    /// # Panics
    /// If its number is not above that of the frame before.
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

    /// Hands over a checkpoint, to be written once all frames before it are there.
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

    /// Waits until all is written.
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
            // Whoever wants to hear of errors calls `finish`.
            let _ = thread.join();
        }
    }
}

/// What the writing thread holds.
struct Work {
    dir: PathBuf,
    settings: CacheSettings,
    manifest: Manifest,
    report: WriteReport,
}

impl Work {
    fn run(mut self, jobs: &Receiver<Job>) -> Result<WriteReport, CacheError> {
        for job in jobs {
            let start = Instant::now();
            match job {
                Job::Frame(frame) => self.frame(*frame)?,
                Job::Checkpoint(frame, archive) => self.report.bytes += write_checkpoint(&self.dir, &archive, frame)?,
            }
            self.report.busy += start.elapsed();
        }
        Ok(self.report)
    }

    /// Files, then the line of statistics, then the manifest: what it lists is there.
    fn frame(&mut self, frame: Frame) -> Result<(), CacheError> {
        let figures = FrameStats::from(&frame);
        let mut entry = FrameEntry {
            frame: frame.number,
            time: frame.time,
            guides: None,
            grains: None,
            bodies: None,
        };
        let tags = Metadata::from([("frame", frame.number.to_string()), ("time", frame.time.to_string())]);
        let positions = match self.settings.compact {
            true => Positions::Compact,
            false => Positions::Exact,
        };
        let level = self.settings.level;
        if self.wants(Part::Guides) {
            entry.guides = Some(frame.guides.len() as u64);
            let path = frame_path(&self.dir, Part::Guides, frame.number);
            self.report.bytes += table::write(&path, frame.guides, tags.clone(), positions, level)?;
        }
        if let Some(grains) = frame.grains.filter(|_| self.wants_grains(frame.number)) {
            entry.grains = Some(grains.len() as u64);
            let path = frame_path(&self.dir, Part::Grains, frame.number);
            self.report.bytes += table::write(&path, grains, tags.clone(), positions, level)?;
        }
        if self.wants(Part::Bodies) {
            entry.bodies = Some(frame.bodies.len() as u64);
            let path = frame_path(&self.dir, Part::Bodies, frame.number);
            self.report.bytes += bodies::write(&path, &frame.bodies, tags, level)?;
        }
        self.report.bytes += stats::append(&self.dir, figures)?;
        self.manifest.frames.push(entry);
        self.report.bytes += self.manifest.write(&self.dir)?;
        self.report.frames += 1;
        Ok(())
    }

    fn wants(&self, part: Part) -> bool {
        self.settings.parts.contains(&part)
    }

    fn wants_grains(&self, frame: u64) -> bool {
        let since = frame.saturating_sub(self.manifest.run.first_frame);
        self.wants(Part::Grains) && since.is_multiple_of(self.settings.grains_every.max(1))
    }
}

fn folders(dir: &Path) -> [PathBuf; 4] {
    ["guides", "grains", "bodies", "checkpoint"].map(|name| dir.join(name))
}

fn make_folders(dir: &Path) -> Result<(), WriteError> {
    for path in folders(dir) {
        fs::create_dir_all(&path).map_err(|reason| WriteError { path, reason })?;
    }
    Ok(())
}

/// Removes the frames that `goes` picks by their number, and what a killed run left half written. Other files stay.
fn clear_frames(dir: &Path, goes: impl Fn(u64) -> bool) -> Result<(), CacheError> {
    for folder in folders(dir).iter().map(PathBuf::as_path).chain([dir]) {
        for entry in fs::read_dir(folder).map_err(CacheError::reading(folder))? {
            let path = entry.map_err(CacheError::reading(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let number = name.strip_suffix(".arrow").and_then(|number| number.parse().ok());
            let half = name.starts_with('.') && name.ends_with(".part");
            if half || (folder != dir && number.is_some_and(&goes)) {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(WriteError {
            path: path.to_owned(),
            reason,
        }),
        _ => Ok(()),
    }
}
