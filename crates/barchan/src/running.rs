//! Runs a scene into a cache on disk, with checkpoints.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use barchan_io::{
    Cache, CacheError, CacheFolder, CacheSettings, CacheWriter, Part, Run, WriteReport, folder_bytes, has_checkpoint,
    read_checkpoint,
};
use barchan_scene::Scene;
use barchan_world::{ArchiveError, Refiner};
use serde_json::Value;
use thiserror::Error;

use crate::names::file_name;
use crate::phase::{BuildClock, BuildTimes, PhaseWatch};
use crate::simulation::{Simulation, SimulationError};
use crate::stage::Stage;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Folder of the cache.
    pub dir: PathBuf,
    /// Frames after the first; by default the duration of the scene.
    pub frames: Option<u64>,
    /// Number of the frame at time 0, for shots that begin at 1001; by default 0, or that of the run being resumed.
    pub start_frame: Option<u64>,
    /// Continues from the checkpoint in the folder, if there is one.
    pub resume: bool,
    /// Replaces the cache in the folder.
    pub force: bool,
    /// The scene as it was read, for the manifest.
    pub scene: Value,
}

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Reason why a run ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The simulation could not be built or advanced.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The cache could not be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The folder already holds a cache.
    #[error("{} is a cache already: continue it with --resume, replace it with --force, or choose another folder", dir.display())]
    Exists {
        /// The cache.
        dir: PathBuf,
    },
    /// The checkpoint does not fit the scene.
    #[error("{}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: ArchiveError,
    },
    /// The cache was made by another version of the program.
    #[error("{} was made by barchan {made}, this is {}: continue it with that version, or replace it with --force", dir.display(), VERSION)]
    OtherVersion {
        /// The cache.
        dir: PathBuf,
        /// The version that made it.
        made: String,
    },
    /// A file that the scene names has changed since the cache was made.
    #[error("{} was made from another {file}: the file has changed since; continue with the old one, or replace the cache with --force", dir.display())]
    OtherFile {
        /// The cache.
        dir: PathBuf,
        /// The file, as the scene names it.
        file: String,
    },
    /// The cache was made from another scene.
    #[error("{} was made from another scene; resume with the same scene file and the same --set, or replace it with --force", dir.display())]
    OtherScene {
        /// The cache.
        dir: PathBuf,
    },
    /// The frames of the cache are numbered from another start.
    #[error("{} begins with frame {began}, not {asked}; resume without --start-frame, or replace it with --force", dir.display())]
    OtherStart {
        /// The cache.
        dir: PathBuf,
        /// Number of its first frame.
        began: u64,
        /// Requested number.
        asked: u64,
    },
    /// The frame numbers overflow.
    #[error("{frames} frames from number {start} on are more than can be counted")]
    TooManyFrames {
        /// Number of the first frame.
        start: u64,
        /// Number of frames after it.
        frames: u64,
    },
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Finished frames, without the first.
    pub frame: u64,
    /// Total number of frames, without the first.
    pub frames: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Current number of guides.
    pub guides: usize,
    /// Mass of all fills [kg].
    pub filled: f64,
    /// Time for the guides of the last frame [ms].
    pub guide_ms: f64,
    /// Current number of grains.
    pub grains: usize,
    /// Time for the grains of the last frame [ms].
    pub grain_ms: f64,
}

/// Decision of an observer after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Continue with the next frame.
    On,
    /// Stop and leave a checkpoint.
    Stop,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Frames in the cache after the first.
    pub frame: u64,
    /// Requested number of frames after the first.
    pub frames: u64,
    /// Time before the first frame.
    pub build: BuildTimes,
    /// Time spent simulating [s].
    pub simulation: f64,
    /// Time spent writing, in a separate thread.
    pub output: WriteReport,
    /// Total size of the files in the cache's folder [bytes].
    pub bytes: u64,
    /// Warnings of what was replaced when the world was built.
    pub warnings: Vec<String>,
}

/// Simulates `scene` into a cache. `watch` is called before the first frame is simulated and after every frame, and may
/// stop the run.
///
/// The folder is locked and tested before the scene is built.
pub fn run(scene: &Scene, options: &RunOptions, watch: &mut dyn FnMut(Progress) -> Go) -> Result<RunReport, RunError> {
    run_watched(scene, options, &|_| (), watch)
}

/// Like [`run`], and reports the progress before the first frame to `phases`.
pub fn run_watched(
    scene: &Scene,
    options: &RunOptions,
    phases: &PhaseWatch,
    watch: &mut dyn FnMut(Progress) -> Go,
) -> Result<RunReport, RunError> {
    let frames = options.frames.unwrap_or_else(|| scene.frames());
    let start = options.start_frame.unwrap_or(0);
    if start.checked_add(frames).is_none() {
        return Err(RunError::TooManyFrames { start, frames });
    }
    let clock = BuildClock::start();
    let noted = |phase| {
        clock.note(Some(phase));
        phases(phase);
    };
    let (mut simulation, mut writer, first) = begin(scene, options, frames, &noted)?;
    let build = clock.stop();
    let mut simulating = 0.0;
    let mut saved = Instant::now();
    let progress = |simulation: &Simulation| Progress {
        frame: simulation.frame_number(),
        frames,
        time: simulation.world().time,
        guides: simulation.world().guides.len(),
        filled: simulation.world().ledger.filled.kilograms(),
        guide_ms: simulation.guide_ms(),
        grains: simulation.refiner().map_or(0, Refiner::len),
        grain_ms: simulation.grain_ms(),
    };
    let mut stop = simulation.frame_number() < frames && watch(progress(&simulation)) == Go::Stop;
    while simulation.frame_number() < frames && !stop {
        let start = Instant::now();
        let advanced = simulation.advance();
        simulating += start.elapsed().as_secs_f64();
        // Frames before the failure are valid and are written.
        if let Err(error) = advanced {
            writer.finish()?;
            return Err(error.into());
        }
        let number = push(&mut writer, &simulation, first, scene)?;
        stop = watch(progress(&simulation)) == Go::Stop;
        if stop || saved.elapsed() > CHECKPOINT_EVERY || simulation.frame_number() == frames {
            writer.checkpoint(number, simulation.save())?;
            saved = Instant::now();
        }
    }
    let output = writer.finish()?;
    Ok(RunReport {
        frame: simulation.frame_number(),
        frames: frames.max(simulation.frame_number()),
        build,
        simulation: simulating,
        output,
        bytes: folder_bytes(&options.dir).map_err(|reason| CacheError::Read {
            path: options.dir.clone(),
            reason,
        })?,
        warnings: simulation.world().warnings.clone(),
    })
}

/// Returns the simulation, the writer for its frames up to `frames`, and the number of the frame at time 0.
fn begin(
    scene: &Scene,
    options: &RunOptions,
    frames: u64,
    phases: &PhaseWatch,
) -> Result<(Simulation, CacheWriter, u64), RunError> {
    let dir = &options.dir;
    let mut run = Run {
        scene: options.scene.clone(),
        version: VERSION.to_owned(),
        solver: scene.solver.name.to_owned(),
        frame_rate: scene.frame_rate,
        first_frame: options.start_frame.unwrap_or(0),
        files: scene.files.clone(),
    };
    if options.resume && has_checkpoint(dir) {
        let folder = CacheFolder::open(dir)?;
        let cache = Cache::open(dir)?;
        run.first_frame = check_same(&cache.manifest().run, &run, options)?;
        let (number, archive) = read_checkpoint(dir)?;
        let first = run.first_frame;
        let unfit = |reason| RunError::Checkpoint {
            path: dir.join("checkpoint").join("state"),
            reason,
        };
        let simulation = Simulation::resume_watched(scene, &archive, phases).map_err(|error| match error {
            SimulationError::Archive(reason) => unfit(reason),
            error => error.into(),
        })?;
        let frame = simulation.frame_number();
        if first.checked_add(frame) != Some(number) {
            return Err(unfit(ArchiveError::Unfit {
                name: "simulation.frame".to_owned(),
                found: format!("frame {frame} in a checkpoint of frame {number}"),
            }));
        }
        if first.checked_add(frames).is_none() {
            return Err(RunError::TooManyFrames { start: first, frames });
        }
        // Frames after the checkpoint are simulated again; if none is requested, they stay.
        let last = match simulation.frame_number() < frames {
            true => number,
            false => cache.frames().last().map_or(number, |entry| entry.frame),
        };
        let writer = CacheWriter::resume_in(folder, run, settings(scene), last)?;
        return Ok((simulation, writer, first));
    }
    let folder = CacheFolder::create(dir, options.force || options.resume).map_err(|error| match error {
        CacheError::Exists { path } => RunError::Exists { dir: path },
        error => error.into(),
    })?;
    match Cache::open(dir) {
        Ok(cache) if options.resume && !cache.frames().is_empty() => {
            run.first_frame = check_same(&cache.manifest().run, &run, options)?;
        }
        Err(error @ CacheError::Format { .. }) if !options.force => return Err(error.into()),
        _ => {}
    }
    let first = run.first_frame;
    let simulation = match scene.output.settling && scene.settle() > 0.0 {
        true => record_settling(scene, dir, &run, phases)?,
        false => Simulation::watched(scene, phases)?,
    };
    let mut writer = CacheWriter::create_in(folder, run, settings(scene))?;
    Stage::new(scene, simulation.world())
        .save(dir)
        .map_err(CacheError::from)?;
    let number = push(&mut writer, &simulation, first, scene)?;
    writer.checkpoint(number, simulation.save())?;
    Ok((simulation, writer, first))
}

/// Folder of the settling cache inside that of the run.
const SETTLING: &str = "settling";

/// Builds the scene's simulation and writes the frames of settling to a separate cache, which resuming does not need.
/// Replaces an existing one.
fn record_settling(scene: &Scene, dir: &Path, run: &Run, phases: &PhaseWatch) -> Result<Simulation, RunError> {
    let folder = CacheFolder::create(&dir.join(SETTLING), true)?;
    let run = Run {
        // Settling is divided into as many frames.
        frame_rate: (scene.settle() * scene.frame_rate).ceil() / scene.settle(),
        first_frame: 0,
        ..run.clone()
    };
    let mut writer = CacheWriter::create_in(folder, run, settings(scene))?;
    let mut written: Result<(), RunError> = Ok(());
    let simulation = Simulation::recorded(scene, phases, &mut |frame, world| {
        if written.is_ok() {
            written = (|| {
                if frame.number == 0 {
                    let stage = Stage::new(scene, world);
                    stage.save(&dir.join(SETTLING)).map_err(CacheError::from)?;
                }
                Ok(writer.push(frame)?)
            })();
        }
    });
    writer.finish()?;
    written?;
    Ok(simulation?)
}

/// Checks that a run would write the same frames as the existing cache. Returns the number of their first.
fn check_same(before: &Run, run: &Run, options: &RunOptions) -> Result<u64, RunError> {
    let dir = options.dir.clone();
    if before.version != run.version {
        let made = before.version.clone();
        return Err(RunError::OtherVersion { dir, made });
    }
    if before.scene != run.scene {
        return Err(RunError::OtherScene { dir });
    }
    let mut names = before.files.keys().chain(run.files.keys());
    if let Some(file) = names.find(|&name| before.files.get(name) != run.files.get(name)) {
        let file = file.clone();
        return Err(RunError::OtherFile { dir, file });
    }
    if let Some(asked) = options.start_frame.filter(|&asked| asked != before.first_frame) {
        let began = before.first_frame;
        return Err(RunError::OtherStart { dir, began, asked });
    }
    Ok(before.first_frame)
}

fn push(writer: &mut CacheWriter, simulation: &Simulation, first: u64, scene: &Scene) -> Result<u64, RunError> {
    let grains = scene.output.grains && simulation.frame_number().is_multiple_of(scene.output.grains_every);
    let mut frame = match grains {
        true => simulation.frame(),
        false => simulation.frame_without_grains(),
    };
    frame.number += first;
    let number = frame.number;
    writer.push(frame)?;
    Ok(number)
}

fn settings(scene: &Scene) -> CacheSettings {
    let output = &scene.output;
    let wanted = [
        (Part::Guides, output.guides),
        (Part::Grains, output.grains),
        (Part::Bodies, output.bodies),
        (Part::Contacts, output.contacts),
        (Part::Fields, output.fields),
    ];
    CacheSettings {
        parts: wanted.iter().filter(|w| w.1).map(|w| w.0).collect(),
        grains_every: output.grains_every,
        compact: output.compact,
        ..CacheSettings::default()
    }
}

/// Returns the default folder for a run of `scene`: one in `caches`, with its name made safe by [`file_name`].
pub fn default_dir(scene: &Scene) -> PathBuf {
    Path::new("caches").join(file_name(&scene.name))
}
