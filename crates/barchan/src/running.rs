//! A simulation from its scene to a cache on disk, with checkpoints.

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

/// Where and how far to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The cache's folder.
    pub dir: PathBuf,
    /// Frames after the first; as many as the scene lasts if none is given.
    pub frames: Option<u64>,
    /// Number of the frame at time 0, for shots that begin at 1001; 0, or what a resumed run began with, if none is given.
    pub start_frame: Option<u64>,
    /// Go on from the checkpoint in the folder; without one, begin.
    pub resume: bool,
    /// Replace the cache that is in the folder.
    pub force: bool,
    /// The scene as it was read, for the manifest.
    pub scene: Value,
}

/// The version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Why a run ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The simulation could not be made or go on.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The cache could not be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A new run where a cache is.
    #[error("{} is a cache already: continue it with --resume, replace it with --force, or choose another folder", dir.display())]
    Exists {
        /// The cache.
        dir: PathBuf,
    },
    /// A checkpoint that does not fit the scene.
    #[error("{}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ArchiveError,
    },
    /// A cache to resume that another version of the program made.
    #[error("{} was made by barchan {made}, this is {}: continue it with that version, or replace it with --force", dir.display(), VERSION)]
    OtherVersion {
        /// The cache.
        dir: PathBuf,
        /// The version that made it.
        made: String,
    },
    /// A cache to resume whose scene names a file that has changed since.
    #[error("{} was made from another {file}: the file has changed since; continue with the old one, or replace the cache with --force", dir.display())]
    OtherFile {
        /// The cache.
        dir: PathBuf,
        /// The file, as the scene names it.
        file: String,
    },
    /// A cache to resume that was made from something else.
    #[error("{} was made from another scene; resume with the same scene file and the same --set, or replace it with --force", dir.display())]
    OtherScene {
        /// The cache.
        dir: PathBuf,
    },
    /// A cache to resume whose frames are numbered from elsewhere.
    #[error("{} begins with frame {began}, not {asked}; resume without --start-frame, or replace it with --force", dir.display())]
    OtherStart {
        /// The cache.
        dir: PathBuf,
        /// Number of its first frame.
        began: u64,
        /// What was asked for.
        asked: u64,
    },
    /// Numbers of frames that would not end.
    #[error("{frames} frames from number {start} on are more than can be counted")]
    TooManyFrames {
        /// Number of the first.
        start: u64,
        /// How many follow it.
        frames: u64,
    },
}

/// What was done so far.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Frames that are done, without the first.
    pub frame: u64,
    /// Frames that there will be.
    pub frames: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Guides now.
    pub guides: usize,
    /// Mass of all fills [kg].
    pub filled: f64,
    /// Milliseconds that the last frame's guides took.
    pub guide_ms: f64,
    /// Grains now.
    pub grains: usize,
    /// Milliseconds that the last frame's grains took.
    pub grain_ms: f64,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// With the next frame.
    On,
    /// No further; a checkpoint is left.
    Stop,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Frames that the cache now has after the first.
    pub frame: u64,
    /// Frames that there were to be.
    pub frames: u64,
    /// Time before the first frame.
    pub build: BuildTimes,
    /// Seconds spent simulating.
    pub simulation: f64,
    /// What writing took, in its own thread.
    pub output: WriteReport,
    /// Length of all files in the cache's folder [bytes].
    pub bytes: u64,
    /// Warnings of what was replaced when the world was built.
    pub warnings: Vec<String>,
}

/// Simulates `scene` into a cache. `watch` is called before the first frame is simulated and after every frame, and may stop the
/// run.
///
/// The folder is locked and tried before the scene is built.
pub fn run(scene: &Scene, options: &RunOptions, watch: &mut dyn FnMut(Progress) -> Go) -> Result<RunReport, RunError> {
    run_watched(scene, options, &|_| (), watch)
}

/// Does the same and reports to `phases` what is in progress before the first frame.
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
        // Frames before the failure stay good, and are written.
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

/// The simulation, of which `frames` are wanted, where they go, and the number of the frame at time 0.
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
        // Frames after the checkpoint are simulated again; if none is wanted, they stay.
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

/// Folder of the cache of settling, in that of the run.
const SETTLING: &str = "settling";

/// Builds the scene's simulation, and writes the frames in which fills settle to a cache of their own: a run that is continued needs none of them. One that is
/// there already is replaced.
fn record_settling(scene: &Scene, dir: &Path, run: &Run, phases: &PhaseWatch) -> Result<Simulation, RunError> {
    let folder = CacheFolder::create(&dir.join(SETTLING), true)?;
    let run = Run {
        // As many frames as settling is cut into.
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

/// Fails unless a run would write the same frames as the cache that is there. Returns the number of their first.
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
    ];
    CacheSettings {
        parts: wanted.iter().filter(|w| w.1).map(|w| w.0).collect(),
        grains_every: output.grains_every,
        compact: output.compact,
        ..CacheSettings::default()
    }
}

/// Default folder for a run of `scene`: one in `caches`, with its name made safe by [`file_name`].
pub fn default_dir(scene: &Scene) -> PathBuf {
    Path::new("caches").join(file_name(&scene.name))
}
