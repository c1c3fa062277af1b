//! The solvers and their settings.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::field::Kind::{Between, Count, Flag, Table, Word};
use crate::field::Need::{self, Optional};
use crate::field::{Field, TableSpec, field};
use crate::fields::{Datum, Fields};
use crate::presets;
use crate::quantities::{MODULUS, STEP, VELOCITY};

/// Every solver by name, and whether this version has it.
pub const SOLVERS: &[(&str, bool)] = &[("pbd", true), ("sph", true), ("dem", true)];

const SOLVER_NAMES: &[&str] = &["pbd", "sph", "dem"];

/// The table `[solver]`: a name, and a table of settings for each of them.
#[rustfmt::skip]
pub(crate) const SOLVER: TableSpec = TableSpec {
    name: "solver",
    fields: &[
        field("kind", Word(SOLVER_NAMES), Need::Word("pbd"), "what moves the guides"),
        field("pbd",  Table(&PBD),        Optional,          "settings of pbd"),
        field("sph",  Table(&SPH),        Optional,          "settings of sph"),
        field("dem",  Table(&DEM),        Optional,          "settings of dem"),
    ],
    exclusive: &[],
};

/// The settings of position-based dynamics, `[solver.pbd]`.
#[rustfmt::skip]
pub const PBD: TableSpec = TableSpec {
    name: "solver.pbd",
    fields: &[
        field("step",             STEP,             Optional,                  "longest step [s]; a frame is cut into equal ones. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
        field("step_divisor",     Count(1, 1000),   Need::Count(1),            "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("iterations",       Count(1, 1000),   Need::Count(4),            "contact and friction passes in a step"),
        field("stabilization_iterations", Count(0, 1000), Need::Count(2),      "passes that undo overlaps before a step"),
        field("friction",         Word(&["accumulated", "sommer", "macklin"]), Need::Word("accumulated"), "what bounds friction"),
        field("splitting",        Word(&["mass", "average"]),           Need::Word("mass"),    "how a guide shares itself among its contacts"),
        field("memory",           Flag,               Need::Flag(true),        "whether a step starts from the impulses of the last one"),
        field("mass_scaling",     Between(0.0, 1e6),  Need::Number(0.0),       "how fast masses fall off with height [1/m]; 0 for not at all"),
        field("relaxation",       Between(0.1, 4.0),  Need::Number(2.5),       "factor on every correction [-]"),
        field("velocity_clamp",   Between(0.01, 1e3), Need::Number(0.5),       "fastest that a guide may leave a step, in its diameters a step [-]"),
        field("cfl",              Between(0.01, 0.5), Need::Number(0.4),       "longest way of a guide in a step, of the smallest diameter [-]"),
        field("sleeping",         Flag,               Need::Flag(true),        "whether guides that rest are left alone until something near them moves"),
        field("rigid",            Word(&["true", "shape_matching"]),    Need::Word("true"),    "dynamic bodies: truly rigid, or fitted to pieces as printed"),
        field("boundary",         Word(&["field", "particles"]),        Need::Word("field"),   "what guides see of bodies"),
    ],
    exclusive: &[["substeps", "step"]],
};

/// The settings of smoothed particle hydrodynamics, `[solver.sph]`.
#[rustfmt::skip]
pub const SPH: TableSpec = TableSpec {
    name: "solver.sph",
    fields: &[
        field("preset",           Word(presets::SPH), Optional,                "settings of a paper, for all that is not said"),
        field("step",             STEP,             Optional,                  "longest step [s]. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
        field("step_divisor",     Count(1, 1000),   Need::Count(1),            "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("support",          Between(1.2, 4.0), Need::Number(2.0),        "radius of the kernel, in spacings of settled guides [-]; a shorter one sees no neighbours"),
        field("pressure",         Word(&["pcisph", "iisph"]), Need::Word("pcisph"), "how the pressure is found"),
        field("density_error",    Between(1e-6, 0.1), Need::Number(0.001),     "mean density error at which the pressure is good enough [-]"),
        field("min_iterations",   Count(1, 1000),   Need::Count(3),            "fewest passes of the pressure in a step"),
        field("max_iterations",   Count(1, 1000),   Need::Count(100),          "most passes of the pressure in a step"),
        field("friction_iterations", Count(0, 1000), Need::Count(3),           "passes of friction in a step; pcisph has one in each of its own"),
        field("yield",            Word(&["repose", "narain", "zhu_bridson", "klar"]), Need::Word("repose"), "what the angle of friction means"),
        field("flow_friction",    Between(0.0, 2.0), Need::Number(0.12),       "increase of friction in fast flow, mu_2 - mu_s [-]"),
        field("warm_start",       Flag,             Need::Flag(true),          "whether friction and pressure start from those of the last step"),
        field("integration",      Word(&["euler", "leapfrog"]), Need::Word("euler"), "how positions follow velocities"),
        field("drying_time",      Between(1e-6, 1e9), Optional,                "in which sand loses all but 1/e of its water [s]; it never dries if not given"),
        field("wetting_time",     Between(1e-6, 1e9), Optional,                "in which guides that touch share their water [s]; each keeps its own if not given"),
        field("boundary",         Word(&["density", "volume", "particles"]), Need::Word("density"), "what guides feel of bodies: a map of what they hold of a kernel, of a ball (guides hover), or particles"),
        field("sound_speed",      Between(1e-3, 1e5), Optional,                "of artificial viscosity [m/s]; ten times what guides fall to if not given"),
        field("sleeping",         Flag,             Need::Flag(true),          "whether sand at rest is left alone until something may move it"),
        field("discrete",         Flag,             Need::Flag(false),         "whether guides of sand too thin for a pressure push each other apart"),
        field("air_density",      Between(0.0, 1e5), Need::Number(0.0),        "of what slows guides down [kg/m³], 1.2041 for air; 0 for nothing"),
        field("air_viscosity",    Between(1e-9, 1e6), Need::Number(1.845e-5),  "of the same [Pa s]"),
        field("wind",             VELOCITY,         Need::Vector([0.0; 3]),    "velocity of the air [m/s]"),
        field("grain_diameter",   Between(1e-7, 10.0), Optional,               "of the grains that a guide stands for [m]: alone it is slowed as they are; as a ball of its own size if not given"),
        field("cfl",              Between(0.01, 0.4), Need::Number(0.2),       "longest way of a guide in a step, of the kernel's radius [-]"),
    ],
    exclusive: &[["substeps", "step"]],
};

/// The settings of discrete elements, `[solver.dem]`.
#[rustfmt::skip]
pub const DEM: TableSpec = TableSpec {
    name: "solver.dem",
    fields: &[
        field("step",              STEP,               Optional,                     "longest step [s]; a frame is cut into equal ones. By the duration of a contact if not given"),
        field("steps_per_contact", Between(10.0, 1e4), Need::Number(20.0),           "steps in the shortest contact, where no step is given [-]"),
        field("step_divisor",      Count(1, 1000),     Need::Count(1),               "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("integrator",        Word(&["verlet", "rkf45"]), Need::Word("verlet"),    "verlet: steps of a fixed part of a contact; rkf45: as long as their error allows"),
        field("tolerance",         Between(1e-9, 0.1), Need::Number(1e-4),           "error of a step of rkf45, of a radius [-]"),
        field("normal",            Word(&["linear", "hertz_constant", "hertz_tsuji", "hertz_viscoelastic"]), Need::Word("hertz_tsuji"), "what pushes grains apart"),
        field("shear",             Word(&["viscous", "coulomb", "capped", "spring"]), Need::Word("spring"), "what resists sliding"),
        field("reference_speed",   Between(1e-6, 1e5), Need::Number(1.0),            "speed of the impact that has the material's restitution [m/s]"),
        field("duration",          STEP,               Optional,                     "of a contact of the linear law [s]; that of Hertz at the reference speed if not given"),
        field("shear_viscosity",   Between(1e-12, 1e12), Optional,                     "of the laws of shear without memory [N s/m]; as much as the step allows if not given"),
        field("body_youngs_modulus", MODULUS,          Optional,                     "of bodies [Pa]; that of the grain that touches them if not given"),
        field("body_poisson_ratio",  Between(-0.99, 0.5), Need::Number(0.3),         "of bodies [-], with body_youngs_modulus"),
        field("boundary",          Word(&["field", "particles"]), Need::Word("field"), "what grains see of bodies: their surface, or spheres that cover it"),
    ],
    exclusive: &[],
};

/// The table of settings of the solver called `name`.
pub(crate) fn table_of(name: &str) -> &'static TableSpec {
    match name {
        "sph" => &SPH,
        "dem" => &DEM,
        _ => &PBD,
    }
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// `true` or `false`.
    Flag(bool),
    /// A word.
    Word(Cow<'static, str>),
    /// Three numbers.
    Vector([f64; 3]),
}

/// The settings of a solver, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<String, Setting>,
}

impl Settings {
    pub(crate) fn of_fields(fields: &Fields) -> Self {
        let value = |(key, datum): (&'static str, &Datum)| {
            let value = match datum {
                Datum::Number(x) => Setting::Number(*x),
                Datum::Count(n) => Setting::Count(*n),
                Datum::Flag(flag) => Setting::Flag(*flag),
                Datum::Text(word) => Setting::Word(Cow::Owned(word.clone())),
                Datum::Vector(v) => Setting::Vector(v.to_array()),
                _ => return None,
            };
            Some((key.to_owned(), value))
        };
        Self {
            values: fields.values().filter_map(value).collect(),
        }
    }

    /// The settings of `spec` where nothing was said.
    pub fn defaults(spec: &'static TableSpec) -> Self {
        let value = |field: &Field| {
            let value = match field.need {
                Need::Number(x) => Setting::Number(x),
                Need::Count(n) => Setting::Count(n),
                Need::Flag(flag) => Setting::Flag(flag),
                Need::Word(word) => Setting::Word(Cow::Borrowed(word)),
                Need::Vector(v) => Setting::Vector(v),
                Need::Required | Optional => return None,
            };
            Some((field.key.to_owned(), value))
        };
        Self {
            values: spec.fields.iter().filter_map(value).collect(),
        }
    }

    /// Gives `name` another value.
    pub fn set(&mut self, name: &str, value: Setting) {
        self.values.insert(name.to_owned(), value);
    }

    /// Every setting with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The number `name`, whole or not, if it was said or has a default.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            Setting::Number(x) => Some(*x),
            Setting::Count(n) => Some(*n as f64),
            Setting::Flag(_) | Setting::Word(_) | Setting::Vector(_) => None,
        }
    }

    /// The whole number `name`.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Setting::Count(n) => Some(*n),
            _ => None,
        }
    }

    /// Whether `name` is true.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.values.get(name)? {
            Setting::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The three numbers `name`.
    pub fn vector(&self, name: &str) -> Option<[f64; 3]> {
        match self.values.get(name)? {
            Setting::Vector(v) => Some(*v),
            _ => None,
        }
    }

    /// The word `name`.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            Setting::Word(word) => Some(word),
            _ => None,
        }
    }
}
