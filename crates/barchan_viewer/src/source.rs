//! Source of the window, and the data exchanged with the player's thread.

use std::path::{Path, PathBuf};

use barchan::scene::{Lever, Scene};

use crate::orbit::Orbit;

/// Source of the window.
#[derive(Clone, Debug)]
pub enum Source {
    /// A scene, simulated live.
    Scene(Box<Scene>),
    /// A cache, played.
    Cache(PathBuf),
}

impl Source {
    /// Shows a scene.
    pub fn scene(scene: Scene) -> Self {
        Self::Scene(Box::new(scene))
    }

    /// Shows the cache in a folder.
    pub fn cache(dir: &Path) -> Self {
        Self::Cache(dir.to_owned())
    }

    /// Describes the task before the first picture.
    pub(crate) fn task(&self) -> String {
        match self {
            Self::Scene(scene) if scene.settle() > 0.0 => format!("building and settling {}", scene.name),
            Self::Scene(scene) => format!("building {}", scene.name),
            Self::Cache(dir) => format!("opening {}", dir.display()),
        }
    }
}

/// A setting of a live simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Gravitational acceleration [m/s²].
    Gravity(f64),
    /// Friction of all materials [-].
    Friction(f32),
    /// Solver iterations per step, or their maximum [-].
    Passes(u32),
    /// Radius of the grains [m]; `None` disables grains.
    Grains(Option<f64>),
    /// Pouring rate [kg/s].
    Pour(f64),
}

/// Solver iterations per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Their key in scene files.
    pub key: &'static str,
    /// Label of the slider.
    pub label: &'static str,
    /// Current number [-].
    pub number: u32,
    /// Upper end of the slider [-].
    pub most: u32,
    /// Key of the minimum, and its value in the scene.
    pub least: Option<(&'static str, u32)>,
}

impl Passes {
    /// Returns the iterations of a scene's solver.
    pub(crate) fn of(scene: &Scene) -> Option<Self> {
        let bounds = scene.facts().passes?;
        let count = |key: &str| scene.solver_settings.get::<u32>(key).ok();
        let number = count(bounds.most)?;
        Some(Self {
            key: bounds.most,
            label: bounds.label,
            number,
            most: bounds.ceiling.max(number),
            least: bounds.fewest.and_then(|key| Some((key, count(key)?))),
        })
    }
}

/// Settings of a live simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Gravitational acceleration [m/s²].
    pub gravity: f64,
    /// Friction of all materials [-].
    pub friction: f32,
    /// Solver iterations per step; `None` if the solver has none.
    pub passes: Option<Passes>,
    /// Radius of the grains [m].
    pub grains: Option<f64>,
    /// Range of sensible grain radii [m].
    pub grain_range: [f64; 2],
    /// Pouring rate [kg/s].
    pub pour: f64,
}

/// Data that the window needs before the first picture.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Initial viewpoint.
    pub home: Orbit,
    /// Last frame number of a cache, counted from 0.
    pub last: Option<usize>,
    /// Simulated time per frame [s].
    pub frame_time: f64,
    /// Settings of a live simulation.
    pub settings: Option<Settings>,
    /// Levers of the machine.
    pub levers: Vec<Lever>,
}
