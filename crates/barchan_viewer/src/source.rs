//! What the window is opened on, and what becomes of it in the player's thread.

use std::path::{Path, PathBuf};

use barchan::scene::{Lever, Scene};

use crate::orbit::Orbit;

/// What is shown.
#[derive(Clone, Debug)]
pub enum Source {
    /// A scene that is simulated live.
    Scene(Box<Scene>),
    /// A cache that is played.
    Cache(PathBuf),
}

impl Source {
    /// A scene.
    pub fn scene(scene: Scene) -> Self {
        Self::Scene(Box::new(scene))
    }

    /// A cache's folder.
    pub fn cache(dir: &Path) -> Self {
        Self::Cache(dir.to_owned())
    }

    /// What takes time before the first picture.
    pub(crate) fn task(&self) -> String {
        match self {
            Self::Scene(scene) if scene.settle() > 0.0 => format!("building and settling {}", scene.name),
            Self::Scene(scene) => format!("building {}", scene.name),
            Self::Cache(dir) => format!("opening {}", dir.display()),
        }
    }
}

/// A value that a live simulation may be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Acceleration of free fall [m/s²].
    Gravity(f64),
    /// Friction of all materials [-].
    Friction(f32),
    /// Passes of the solver in a step, or most of them [-].
    Passes(u32),
    /// Radius of the grains [m]; none for no grains.
    Grains(Option<f64>),
    /// What is poured [kg/s].
    Pour(f64),
}

/// Passes of a solver in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// The key of scene files that sets them.
    pub key: &'static str,
    /// What a slider says.
    pub label: &'static str,
    /// Their number [-].
    pub number: u32,
    /// Most that make sense [-].
    pub most: u32,
    /// The key of the least number, and what the scene sets it to.
    pub least: Option<(&'static str, u32)>,
}

impl Passes {
    /// Returns the passes of a scene's solver.
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

/// The settings of a live simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Acceleration of free fall [m/s²].
    pub gravity: f64,
    /// Friction of all materials [-].
    pub friction: f32,
    /// Passes of the solver in a step; none if it has none.
    pub passes: Option<Passes>,
    /// Radius of the grains [m].
    pub grains: Option<f64>,
    /// Least and greatest radius of grains that make sense [m].
    pub grain_range: [f64; 2],
    /// What is poured [kg/s].
    pub pour: f64,
}

/// What the window must know once there is something to show.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where it looks from at first.
    pub home: Orbit,
    /// Number of the last frame, counted from 0, if it is a cache.
    pub last: Option<usize>,
    /// Simulated time of a frame [s].
    pub frame_time: f64,
    /// The settings of a live simulation.
    pub settings: Option<Settings>,
    /// What can be driven.
    pub levers: Vec<Lever>,
}
