//! Settings of the papers that solvers come from, under a name.

use std::borrow::Cow;

use crate::settings::Setting;

/// The names of the presets of sph.
pub(crate) const SPH: &[&str] = &["ihmsen", "neder"];

const fn word(word: &'static str) -> Setting {
    Setting::Word(Cow::Borrowed(word))
}

/// Settings of [Ihmsen13]: 1 ms, three passes of PCISPH with friction in each, boundary particles, forces between single guides.
const IHMSEN: &[(&str, Setting)] = &[
    ("pressure", word("pcisph")),
    ("step", Setting::Number(1e-3)),
    ("min_iterations", Setting::Count(3)),
    ("max_iterations", Setting::Count(3)),
    ("yield", word("narain")),
    ("flow_friction", Setting::Number(0.0)),
    ("boundary", word("particles")),
    ("discrete", Setting::Flag(true)),
    ("warm_start", Setting::Flag(false)),
];

/// Settings of Neder's thesis: IISPH, then one pass of friction, volume maps, drag of the air.
const NEDER: &[(&str, Setting)] = &[
    ("pressure", word("iisph")),
    ("min_iterations", Setting::Count(2)),
    ("friction_iterations", Setting::Count(1)),
    ("yield", word("narain")),
    ("flow_friction", Setting::Number(0.0)),
    ("boundary", word("volume")),
    ("air_density", Setting::Number(1.2041)),
    ("warm_start", Setting::Flag(false)),
];

/// What the preset `name` sets.
pub(crate) fn of(name: &str) -> &'static [(&'static str, Setting)] {
    match name {
        "ihmsen" => IHMSEN,
        "neder" => NEDER,
        _ => &[],
    }
}
