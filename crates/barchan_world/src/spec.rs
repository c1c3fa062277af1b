//! Specification of a solver: its interface to the rest of barchan, as data.
//!
//! A solver's crate owns one [`SolverSpec`]. Scene files, their checks, the JSON Schema and the tables of the manual
//! follow from it; no other code names a solver or its settings.

mod manual;
mod settings;
mod table;
mod words;

pub mod quantities;

use std::error::Error;
use std::fmt;
use std::ops::Range;

use barchan_geometry::clump::Clump;

use crate::{ContactProperties, Solver, World};

pub use settings::{FromSetting, Setting, SettingError, Settings};
pub use table::{DIRECTION, Field, Kind, Need, TURN, TableSpec, field};

/// Key that names a [`Preset`] in a table of settings.
pub const PRESET: &str = "preset";

/// Key of the number of steps that replace each step, in every table of settings whose solver can shorten its steps.
pub const STEP_DIVISOR: &str = "step_divisor";

/// Interface of a solver to the rest of barchan.
pub struct SolverSpec {
    /// Name in scene files: the value of `solver.kind`, and the key of its table of settings.
    pub name: &'static str,
    /// Method in one line.
    pub about: &'static str,
    /// Keys of its settings.
    pub settings: TableSpec,
    /// Settings under a name.
    pub presets: &'static [Preset],
    /// Keys of materials that it reads, besides those that every solver reads.
    pub materials: &'static [&'static str],
    /// Settings that have an effect only under a condition.
    pub idle: &'static [Idle],
    /// Keys of materials that have an effect only under a condition.
    pub idle_materials: &'static [Idle],
    /// Properties that others rely on, for given settings.
    pub facts: fn(&Settings) -> Facts,
    /// Constructor.
    pub build: Build,
}

/// Builds a solver for the world that it will advance.
pub type Build = fn(&Input, &World) -> Result<Box<dyn Solver>, Refusal>;

/// Reason why a solver refuses its settings or the world.
pub type Refusal = Box<dyn Error + Send + Sync>;

/// Everything besides the world that a solver is built from.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Its settings.
    pub settings: &'a Settings,
    /// Frames per second [1/s].
    pub frame_rate: f64,
    /// Contact properties of each material, by number.
    pub contacts: &'a [ContactProperties],
    /// Clumps, and the ids of the guides that are one; empty for solvers without clumps.
    pub clumps: Vec<(Range<u32>, Clump)>,
    /// True if forces move a body at any time of the run, even if the world holds it still for now.
    pub has_dynamic_bodies: bool,
}

/// Settings under a name, usually those of a paper. They apply where the scene sets nothing else.
#[derive(Debug)]
pub struct Preset {
    /// Value of [`PRESET`].
    pub name: &'static str,
    /// Source of the settings.
    pub about: &'static str,
    /// Keys and values.
    pub settings: &'static [(&'static str, Setting)],
}

/// Names of `presets`, as the words of a [`Kind::Word`].
pub const fn preset_names<const N: usize>(presets: &[Preset; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut k = 0;
    while k < N {
        names[k] = presets[k].name;
        k += 1;
    }
    names
}

/// Key that has an effect only under a condition. Elsewhere it is warned of.
#[derive(Debug)]
pub struct Idle {
    /// Setting, or key of a material.
    pub key: &'static str,
    /// Condition of its effect.
    pub unless: Unless,
}

/// Condition under which a key has an effect.
#[derive(Debug)]
pub enum Unless {
    /// Another setting is one of these words.
    Word(&'static str, &'static [&'static str]),
    /// Another setting is given.
    Given(&'static str),
    /// Another setting is not given.
    Missing(&'static str),
    /// The scene fulfils a condition.
    Holds {
        /// Returns whether it does.
        condition: fn(&Context) -> bool,
        /// End of the sentence "`key` has no effect", with its punctuation.
        why: &'static str,
        /// Advice; may be empty.
        help: &'static str,
    },
}

/// Part of a scene that conditions see.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Settings of the solver, presets and defaults included.
    pub settings: &'a Settings,
    /// Contact properties of each material, by number.
    pub contacts: &'a [ContactProperties],
    /// Number of the material that has the key; none for settings.
    pub material: Option<usize>,
}

impl<'a> Context<'a> {
    /// Returns the contact properties of the material that has the key; those of all materials for settings.
    pub fn own(&self) -> &'a [ContactProperties] {
        match self.material {
            Some(material) => &self.contacts[material..=material],
            None => self.contacts,
        }
    }
}

/// Properties of a solver that others rely on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Mass of a guide.
    pub weight: Weight,
    /// True if guides may be clumps; otherwise each is replaced by the sphere of equal volume.
    pub clumps: bool,
    /// True if guides are points of a continuum, which may overlap.
    pub continuum: bool,
    /// Meaning of a material's `friction`.
    pub friction: FrictionMeaning,
    /// Representation of bodies.
    pub bodies: BodySurface,
    /// Shortest periodic range, in radii of the largest guide, with clumps of the ball around the longest one [-]. None
    /// if the solver has no periodic axes.
    pub shortest_period: Option<f64>,
    /// Slope of the steepest heaps that guides hold [deg].
    pub steepest: f64,
    /// Memory per guide of a run, frames being written included [bytes], measured with 67,600 and 198,927 guides.
    pub guide_bytes: f64,
    /// Passes per step that a user may trade for speed while a scene runs.
    pub passes: Option<Passes>,
}

/// Mass of a guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Share of the bulk: a fill weighs its volume times the bulk density.
    Bulk,
    /// Solid particle: its own volume times the particle density.
    Particle,
}

/// Meaning of a material's `friction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionMeaning {
    /// Internal friction of the bulk: the tangent of the slope of its heaps.
    Bulk,
    /// Coulomb friction of a contact.
    Contact,
    /// Coulomb friction of a contact where rolling resistance or the shape of clumps decides about heaps as well; else that of the bulk.
    ContactOfShapes,
}

/// Representation of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodySurface {
    /// Distance, exact up to this many radii of the largest guide [-].
    Distance {
        /// Width of the band.
        band: f64,
    },
    /// Particles that cover the surface.
    Particles,
}

/// Settings that bound the passes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Key of their number, or of the most of them.
    pub most: &'static str,
    /// Key of the fewest, if there is one.
    pub fewest: Option<&'static str>,
    /// Label of a control.
    pub label: &'static str,
    /// Largest number that makes sense [-].
    pub ceiling: u32,
}

impl SolverSpec {
    /// Returns true if the solver reads `key` of materials, one of the keys that only some solvers read.
    pub fn reads(&self, key: &str) -> bool {
        self.materials.contains(&key)
    }

    /// Returns the preset called `name`.
    pub fn preset(&self, name: &str) -> Option<&'static Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }

    /// Returns the settings of the preset called `name`, with the defaults for all that it leaves open.
    pub fn preset_settings(&self, name: &str) -> Option<Settings> {
        let preset = self.preset(name)?;
        let mut settings = self.defaults();
        for (key, value) in preset.settings {
            settings.set(key, value.clone());
        }
        Some(settings)
    }

    /// Returns the settings of this solver where a scene gives none.
    pub fn defaults(&self) -> Settings {
        Settings::defaults(&self.settings)
    }
}

impl fmt::Debug for SolverSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SolverSpec").field(&self.name).finish()
    }
}

impl fmt::Display for SolverSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
