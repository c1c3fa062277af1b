//! The solvers and their settings.

use std::collections::BTreeMap;

use crate::field::Kind::{Between, Count, Flag, Positive, Table, Word};
use crate::field::Need::{self, Optional};
use crate::field::{Field, TableSpec, field};
use crate::fields::{Datum, Fields};

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
        field("step",             Positive,         Optional,                  "longest step [s]; a frame is cut into equal ones. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
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
        field("step",             Positive,         Optional,                  "longest step [s]. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
        field("support",          Between(1.2, 4.0), Need::Number(2.0),        "radius of the kernel, in spacings of settled guides [-]; a shorter one sees no neighbours"),
        field("pressure",         Word(&["pcisph", "iisph"]), Need::Word("pcisph"), "how the pressure is found"),
        field("density_error",    Between(1e-6, 0.1), Need::Number(0.001),     "mean density error at which the pressure is good enough [-]"),
        field("min_iterations",   Count(1, 1000),   Need::Count(3),            "fewest passes of the pressure in a step"),
        field("max_iterations",   Count(1, 1000),   Need::Count(100),          "most passes of the pressure in a step"),
        field("friction_iterations", Count(0, 1000), Need::Count(3),           "passes of friction in a step; pcisph has one in each of its own"),
        field("yield",            Word(&["repose", "narain", "zhu_bridson", "klar"]), Need::Word("repose"), "what the angle of friction means"),
        field("cfl",              Between(0.01, 0.4), Need::Number(0.2),       "longest way of a guide in a step, of the kernel's radius [-]"),
    ],
    exclusive: &[["substeps", "step"]],
};

/// The settings of discrete elements, `[solver.dem]`.
#[rustfmt::skip]
pub const DEM: TableSpec = TableSpec {
    name: "solver.dem",
    fields: &[
        field("step",              Positive,           Optional,                     "longest step [s]; a frame is cut into equal ones. By the duration of a contact if not given"),
        field("steps_per_contact", Between(10.0, 1e4), Need::Number(20.0),           "steps in the shortest contact, where no step is given [-]"),
        field("normal",            Word(&["linear", "hertz_constant", "hertz_tsuji", "hertz_viscoelastic"]), Need::Word("hertz_tsuji"), "what pushes grains apart"),
        field("shear",             Word(&["viscous", "coulomb", "capped", "spring"]), Need::Word("spring"), "what resists sliding"),
        field("reference_speed",   Positive,           Need::Number(1.0),            "speed of the impact that has the material's restitution [m/s]"),
        field("duration",          Positive,           Optional,                     "of a contact of the linear law [s]; that of Hertz at the reference speed if not given"),
        field("shear_viscosity",   Positive,           Optional,                     "of the laws of shear without memory [N s/m]; as much as the step allows if not given"),
        field("body_youngs_modulus", Positive,         Optional,                     "of bodies [Pa]; that of the grain that touches them if not given"),
        field("body_poisson_ratio",  Between(-0.99, 0.5), Need::Number(0.3),         "of bodies [-], with body_youngs_modulus"),
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
    Word(String),
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
                Datum::Text(word) => Setting::Word(word.clone()),
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
                Need::Word(word) => Setting::Word(word.to_owned()),
                Need::Required | Optional | Need::Vector(_) => return None,
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
            Setting::Flag(_) | Setting::Word(_) => None,
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

    /// The word `name`.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            Setting::Word(word) => Some(word),
            _ => None,
        }
    }
}
