//! Sources of frames: a cache, or a simulation.

use std::path::Path;

use barchan::io::{Cache, Part};
use barchan::scene::Scene;
use barchan::world::Frame;
use barchan::{Coloring, Look, Show, Simulation, Span, Stage, read_frame};

use super::failure;
use crate::cache::wrong_cache;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::run::simulation_failure;
use crate::scene::SceneArguments;

/// Observer of frames: receives the stage, the frame's time [s], and a function that returns the frame. Returns false
/// to stop.
pub type Watch<'a> = dyn FnMut(&Stage, f64, &mut dyn FnMut() -> Result<Frame, Failure>) -> Result<bool, Failure> + 'a;

/// A sequence of frames.
pub trait Source {
    /// Returns its name.
    fn name(&self) -> String;
    /// Returns the frames per second [1/s].
    fn frame_rate(&self) -> f64;
    /// Returns the number of the last frame.
    fn last_frame(&self) -> u64;
    /// Returns true if the drawn grains lack a column and take it from their guides.
    fn is_followed(&self, column: &str) -> Result<bool, Failure>;
    /// Fixes the range of colors and the framing camera over all images of a movie, as far as frames are available.
    fn survey(&self, look: &mut Look) -> Result<(), Failure>;
    /// Plays all frames, or one of them.
    fn play(&mut self, only: Option<u64>, progress: &Progress, watch: &mut Watch) -> Result<(), Failure>;
}

/// Frames of a cache.
pub struct CacheSource {
    cache: Cache,
    stage: Stage,
    /// Particles to draw.
    show: Show,
    /// Particles to read for it.
    read: Show,
    /// Number and time [s] of the frames that can be shown.
    frames: Vec<(u64, f64)>,
}

impl CacheSource {
    /// Opens a cache for its first frame and `count` more.
    pub fn open(dir: &Path, look: &Look, count: Option<u64>) -> Result<Self, Failure> {
        let cache = Cache::open(dir).map_err(wrong_cache)?;
        let stage = Stage::load(dir).map_err(|error| Failure::input(error.to_string()))?;
        let show = look.show;
        // Alternating guides and grains would flicker: if some frames have grains, only these are shown.
        let grains = show != Show::Guides && cache.frames().iter().any(|entry| entry.rows(Part::Grains).is_some());
        let part = if grains { Part::Grains } else { Part::Guides };
        let shown = cache.frames().iter().filter(|entry| entry.rows(part).is_some());
        let count = count.map_or(usize::MAX, |count| count as usize).saturating_add(1);
        let frames: Vec<_> = shown.map(|entry| (entry.frame, entry.time)).take(count).collect();
        let Some(&(first, _)) = frames.first() else {
            return Err(Failure::input(format!("{} has no frames to draw", dir.display())));
        };
        let mut source = Self {
            cache,
            stage,
            show,
            read: show,
            frames,
        };
        // Guides are read beside grains only for a column that grains lack, such as wetness.
        let needs_guides = match &look.coloring {
            Coloring::Column { name, .. } if grains => !Stage::columns(&source.frame(first)?, show).contains(name),
            Coloring::Material => grains && source.stage.is_wet(),
            Coloring::Column { .. } => false,
        };
        if needs_guides {
            source.read = Show::Compare;
        }
        Ok(source)
    }

    fn frame(&self, number: u64) -> Result<Frame, Failure> {
        read_frame(&self.cache, number, self.read).map_err(failure)
    }
}

impl Source for CacheSource {
    fn name(&self) -> String {
        let name = self
            .cache
            .manifest()
            .run
            .scene
            .get("name")
            .and_then(|name| name.as_str());
        name.unwrap_or("barchan").to_owned()
    }

    fn frame_rate(&self) -> f64 {
        self.cache.manifest().run.frame_rate
    }

    fn last_frame(&self) -> u64 {
        self.frames[self.frames.len() - 1].0
    }

    fn is_followed(&self, column: &str) -> Result<bool, Failure> {
        if self.read == self.show {
            return Ok(false);
        }
        let frame = self.frame(self.last_frame())?;
        Ok(Stage::is_followed(&frame, self.show, column))
    }

    fn survey(&self, look: &mut Look) -> Result<(), Failure> {
        let column = match &look.coloring {
            Coloring::Column { name, .. } => Some(name.clone()),
            Coloring::Material => None,
        };
        if column.is_none() && !self.stage.is_framing(&look.viewpoint) {
            return Ok(());
        }
        let mut all: Option<Span> = None;
        for &(number, _) in &self.frames {
            let frame = self.frame(number)?;
            self.stage.include(&frame, look).map_err(failure)?;
            if let Some(column) = column.as_ref().filter(|column| !Stage::is_to_come(&frame, column)) {
                let span = Stage::span(&frame, self.show, column).map_err(failure)?;
                all = Some(all.map_or(span, |all| all.join(span)));
            }
        }
        if let Coloring::Column { span, .. } = &mut look.coloring {
            *span = all;
        }
        Ok(())
    }

    fn play(&mut self, only: Option<u64>, progress: &Progress, watch: &mut Watch) -> Result<(), Failure> {
        if let Some(number) = only {
            let entry = self.cache.frames().iter().find(|entry| entry.frame == number);
            let time = entry.map_or(0.0, |entry| entry.time);
            let mut load = || self.frame(number);
            return watch(&self.stage, time, &mut load).map(|_| ());
        }
        for (k, &(number, time)) in self.frames.iter().enumerate() {
            let mut load = || self.frame(number);
            if !watch(&self.stage, time, &mut load)? {
                break;
            }
            progress.show_frames(k as u64 + 1, self.frames.len() as u64);
        }
        Ok(())
    }
}

/// Frames of a scene being simulated.
pub struct SceneSource {
    scene: Scene,
    simulation: Simulation,
    stage: Stage,
    show: Show,
    frames: u64,
}

impl SceneSource {
    /// Builds a scene, for its first frame and `frames` more; without grains if they are not drawn.
    pub fn open(
        name: &str,
        set: &[String],
        show: Show,
        frames: Option<u64>,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let arguments = SceneArguments {
            scene: name.to_owned(),
            set: set.to_vec(),
        };
        let (mut scene, _) = arguments.scene()?;
        if show == Show::Guides {
            scene.refine = None;
        }
        let simulation =
            Simulation::watched(&scene, &|phase| progress.show_phase(phase)).map_err(simulation_failure)?;
        Ok(Self {
            stage: Stage::new(&scene, simulation.world()),
            show,
            frames: frames.unwrap_or_else(|| scene.frames()),
            simulation,
            scene,
        })
    }
}

impl Source for SceneSource {
    fn name(&self) -> String {
        self.scene.name.clone()
    }

    fn frame_rate(&self) -> f64 {
        self.scene.frame_rate
    }

    fn last_frame(&self) -> u64 {
        self.frames
    }

    fn is_followed(&self, column: &str) -> Result<bool, Failure> {
        Ok(Stage::is_followed(&self.simulation.frame(), self.show, column))
    }

    fn survey(&self, look: &mut Look) -> Result<(), Failure> {
        self.stage.include_start(look);
        if let Coloring::Column { name, range, .. } = &look.coloring {
            // The columns are known in advance, but not their values.
            let frame = self.simulation.frame();
            if !Stage::is_to_come(&frame, name) {
                Stage::span(&frame, self.show, name).map_err(failure)?;
            }
            if range.is_none() {
                return Err(Failure::input(format!(
                    "a scene that is drawn while it is simulated needs the range of {name}: --range LOW..HIGH"
                )));
            }
        }
        Ok(())
    }

    fn play(&mut self, only: Option<u64>, progress: &Progress, watch: &mut Watch) -> Result<(), Failure> {
        loop {
            let number = self.simulation.frame_number();
            progress.show_frames(number, self.frames);
            if only.is_none_or(|only| only == number) {
                let simulation = &self.simulation;
                let time = simulation.world().time;
                if !watch(&self.stage, time, &mut || Ok(simulation.frame()))? {
                    break;
                }
            }
            if number >= self.frames {
                break;
            }
            self.simulation.advance().map_err(simulation_failure)?;
        }
        Ok(())
    }
}
