//! Content of the window in the player's thread: a simulation with its tools, or a cache.

use std::path::Path;

use barchan::interact::{Machine, Toolbox, Touch};
use barchan::io::Cache;
use barchan::scene::{Lever, Refine, Scene, Setting as SceneSetting, Settings as SceneSettings};
use barchan::world::{Frame, Friction};
use barchan::{Show, Simulation, Stage, Viewpoint, read_frame};
use glam::DVec3;

use crate::ViewerError;
use crate::orbit::Orbit;
use crate::source::{Passes, Ready, Setting, Settings, Source};

/// Content of the window.
pub(crate) enum Shown {
    Live(Box<Live>),
    Cache(Box<Played>),
}

/// A live simulation.
pub(crate) struct Live {
    /// The scene with changed settings, without tools.
    plain: Scene,
    scene: Scene,
    simulation: Simulation,
    tools: Toolbox,
    machine: Option<Machine>,
    settings: Settings,
}

/// A cache being played.
pub(crate) struct Played {
    cache: Cache,
    /// Number and time [s] of each frame.
    frames: Vec<(u64, f64)>,
    at: usize,
}

impl Shown {
    /// Builds or opens the source; may take long.
    pub fn open(source: &Source) -> Result<Self, ViewerError> {
        Ok(match source {
            Source::Scene(scene) => Self::Live(Box::new(Live::new(scene)?)),
            Source::Cache(dir) => Self::Cache(Box::new(Played::new(dir)?)),
        })
    }

    /// Returns the stage: everything visible besides particles.
    pub fn stage(&self) -> Result<Stage, ViewerError> {
        Ok(match self {
            Self::Live(live) => Stage::new(&live.scene, live.simulation.world()),
            Self::Cache(played) => Stage::load(played.cache.dir())?,
        })
    }

    /// Returns the data that the window needs before the first picture.
    pub fn ready(&self, stage: &Stage, aspect: f32) -> Result<Ready, ViewerError> {
        let (position, target, fov) = stage.view(&Viewpoint::default(), 0.0, aspect)?;
        Ok(Ready {
            home: Orbit::of_view(position, target, fov),
            last: match self {
                Self::Live(_) => None,
                Self::Cache(played) => Some(played.frames.len() - 1),
            },
            frame_time: self.frame_time(),
            settings: self.settings(),
            levers: match self {
                Self::Live(live) => live.machine.as_ref().map(Machine::levers).unwrap_or_default(),
                Self::Cache(_) => Vec::new(),
            },
        })
    }

    /// Returns the simulated time per frame [s].
    pub fn frame_time(&self) -> f64 {
        match self {
            Self::Live(live) => 1.0 / live.scene.frame_rate,
            Self::Cache(played) => 1.0 / played.cache.manifest().run.frame_rate,
        }
    }

    /// Returns true if it is simulated.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Returns the frame number, counted from 0.
    pub fn at(&self) -> usize {
        match self {
            Self::Live(live) => live.simulation.frame_number() as usize,
            Self::Cache(played) => played.at,
        }
    }

    /// Returns the settings of a live simulation.
    pub fn settings(&self) -> Option<Settings> {
        match self {
            Self::Live(live) => Some(live.settings.clone()),
            Self::Cache(_) => None,
        }
    }

    /// Returns the names of the bodies being driven.
    pub fn driven(&self) -> Vec<String> {
        let Self::Live(live) = self else { return Vec::new() };
        let bodies = live.machine.iter().flat_map(Machine::bodies);
        let mut names: Vec<String> = bodies.map(|k| live.simulation.world().bodies[k].name.clone()).collect();
        names.dedup();
        names
    }

    /// Advances by one frame. A cache restarts after its last frame.
    pub fn step(&mut self, touch: Option<&Touch>, levers: impl Fn(Lever) -> f64) -> Result<(), ViewerError> {
        match self {
            Self::Live(live) => live.step(touch, levers),
            Self::Cache(played) => {
                played.at = (played.at + 1) % played.frames.len();
                Ok(())
            }
        }
    }

    /// Goes to a frame of a cache, counted from 0.
    pub fn seek(&mut self, frame: usize) {
        if let Self::Cache(played) = self {
            played.at = frame.min(played.frames.len() - 1);
        }
    }

    /// Restarts from the beginning, with the changed settings.
    pub fn restart(&mut self) -> Result<(), ViewerError> {
        match self {
            Self::Live(live) => {
                let pour = live.settings.pour;
                **live = Live::new(&live.plain)?;
                live.set(Setting::Pour(pour))?;
            }
            Self::Cache(played) => played.at = 0,
        }
        Ok(())
    }

    /// Changes a setting of a live simulation.
    pub fn set(&mut self, setting: Setting) -> Result<(), ViewerError> {
        match self {
            Self::Live(live) => live.set(setting),
            Self::Cache(_) => Ok(()),
        }
    }

    /// Returns the current frame for drawing.
    pub fn frame(&self, show: Show) -> Result<Frame, ViewerError> {
        Ok(match self {
            Self::Live(live) => live.simulation.frame(),
            Self::Cache(played) => read_frame(&played.cache, played.frames[played.at].0, show)?,
        })
    }
}

impl Played {
    fn new(dir: &Path) -> Result<Self, ViewerError> {
        let cache = Cache::open(dir)?;
        let frames: Vec<_> = cache.frames().iter().map(|entry| (entry.frame, entry.time)).collect();
        if frames.is_empty() {
            return Err(ViewerError::NoFrames { dir: dir.to_owned() });
        }
        Ok(Self { cache, frames, at: 0 })
    }
}

impl Live {
    fn new(plain: &Scene) -> Result<Self, ViewerError> {
        let mut scene = plain.clone();
        Toolbox::pack(&mut scene);
        let mut tools = None;
        let simulation = Simulation::prepared(&mut scene, |scene, world| tools = Some(Toolbox::unpack(scene, world)))?;
        let tools = tools.expect("a simulation is prepared once");
        Ok(Self {
            settings: settings(plain, &tools),
            plain: plain.clone(),
            machine: Machine::new(&scene),
            scene,
            simulation,
            tools,
        })
    }

    fn step(&mut self, touch: Option<&Touch>, levers: impl Fn(Lever) -> f64) -> Result<(), ViewerError> {
        let duration = 1.0 / self.scene.frame_rate;
        let world = self.simulation.world_mut();
        self.tools.act(world, touch, duration);
        if let Some(machine) = &mut self.machine {
            machine.drive(world, levers, duration);
        }
        Ok(self.simulation.advance()?)
    }

    fn set(&mut self, setting: Setting) -> Result<(), ViewerError> {
        match setting {
            Setting::Gravity(gravity) => {
                let down = self.plain.gravity.normalize_or(-DVec3::Z);
                // Zero gravity keeps its direction.
                self.plain.gravity = down * gravity.max(1e-9);
                self.simulation.world_mut().gravity = down * gravity;
                self.settings.gravity = gravity;
            }
            Setting::Friction(friction) => {
                let worlds = &mut self.simulation.world_mut().materials;
                for material in worlds.all.iter_mut().chain(&mut self.plain.materials.all) {
                    material.angle_of_repose = material.angle_of_repose.map(|_| f64::from(friction).atan());
                    material.friction = Friction {
                        r#static: friction,
                        kinetic: friction,
                    };
                }
                self.settings.friction = friction;
                self.simulation.retune(&self.scene)?;
            }
            Setting::Passes(number) => {
                let Some(passes) = &mut self.settings.passes else {
                    return Ok(());
                };
                passes.number = number;
                let number = u64::from(number);
                for settings in [&mut self.plain.solver_settings, &mut self.scene.solver_settings] {
                    settings.set(passes.key, SceneSetting::Count(number));
                    // The minimum must not exceed the maximum.
                    if let Some((key, least)) = passes.least {
                        settings.set(key, SceneSetting::Count(number.min(least.into())));
                    }
                }
                self.simulation.retune(&self.scene)?;
            }
            Setting::Grains(radius) => {
                let refine = match radius {
                    None => None,
                    Some(radius) => Some(self.grains(radius)?),
                };
                self.simulation.reseed_grains(refine.as_ref(), self.scene.seed)?;
                self.plain.refine = refine;
                self.settings.grains = radius;
            }
            Setting::Pour(rate) => {
                self.tools.rate = rate;
                self.settings.pour = rate;
            }
        }
        Ok(())
    }

    /// Returns the refinement settings with another grain radius [m].
    fn grains(&self, radius: f64) -> Result<Refine, ViewerError> {
        let radii = barchan::geometry::sample::Radii::one(radius)?;
        Ok(match &self.plain.refine {
            Some(refine) => Refine {
                radii,
                ..refine.clone()
            },
            None => Refine {
                radii,
                packing: None,
                settings: SceneSettings::default(),
            },
        })
    }
}

fn settings(scene: &Scene, tools: &Toolbox) -> Settings {
    let guide = scene.smallest_radius().unwrap_or(1.0);
    Settings {
        gravity: scene.gravity.length(),
        friction: scene.materials.all.first().map_or(0.3, |m| {
            m.angle_of_repose.map_or(m.friction.kinetic, |angle| angle.tan() as f32)
        }),
        passes: Passes::of(scene),
        grains: scene.refine.as_ref().map(|refine| refine.radii.max()),
        grain_range: [0.15 * guide, guide],
        pour: tools.rate,
    }
}
