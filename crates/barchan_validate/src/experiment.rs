//! Experiments as data: the files of `experiments`.

use toml::de::{DeTable, DeValue};

use crate::ValidateError;
use crate::expression::Parameters;

/// Every experiment: one file each.
const FILES: &[(&str, &str)] = &[
    ("incline_block", include_str!("../experiments/incline_block.toml")),
    ("incline_guides", include_str!("../experiments/incline_guides.toml")),
    ("incline_grains", include_str!("../experiments/incline_grains.toml")),
    ("incline_stuck", include_str!("../experiments/incline_stuck.toml")),
    (
        "incline_tilt_block",
        include_str!("../experiments/incline_tilt_block.toml"),
    ),
    (
        "incline_tilt_guides",
        include_str!("../experiments/incline_tilt_guides.toml"),
    ),
    ("repose", include_str!("../experiments/repose.toml")),
    ("repose_dug", include_str!("../experiments/repose_dug.toml")),
    ("repose_large", include_str!("../experiments/repose_large.toml")),
    ("repose_pile", include_str!("../experiments/repose_pile.toml")),
    ("creep", include_str!("../experiments/creep.toml")),
    ("truck", include_str!("../experiments/truck.toml")),
    ("column", include_str!("../experiments/column.toml")),
    ("cut", include_str!("../experiments/cut.toml")),
    ("hourglass", include_str!("../experiments/hourglass.toml")),
    ("slot", include_str!("../experiments/slot.toml")),
    ("slope", include_str!("../experiments/slope.toml")),
    ("packing", include_str!("../experiments/packing.toml")),
    ("janssen", include_str!("../experiments/janssen.toml")),
    ("bed", include_str!("../experiments/bed.toml")),
    ("weight", include_str!("../experiments/weight.toml")),
    ("ball", include_str!("../experiments/ball.toml")),
    ("clumps", include_str!("../experiments/clumps.toml")),
    ("momentum_cloud", include_str!("../experiments/momentum_cloud.toml")),
    ("momentum_angular", include_str!("../experiments/momentum_angular.toml")),
    ("momentum_fall", include_str!("../experiments/momentum_fall.toml")),
    ("momentum_flip", include_str!("../experiments/momentum_flip.toml")),
    ("periodic", include_str!("../experiments/periodic.toml")),
    ("refine_column", include_str!("../experiments/refine_column.toml")),
    ("refine_still", include_str!("../experiments/refine_still.toml")),
    ("refine_hourglass", include_str!("../experiments/refine_hourglass.toml")),
    ("refine_pile", include_str!("../experiments/refine_pile.toml")),
    ("refine_excavator", include_str!("../experiments/refine_excavator.toml")),
    ("refine_truck", include_str!("../experiments/refine_truck.toml")),
    ("refine_splash", include_str!("../experiments/refine_splash.toml")),
    ("refine_stream", include_str!("../experiments/refine_stream.toml")),
];

/// An experiment: scene, protocol, and expected results.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// File name.
    pub file: String,
    /// The case that it belongs to.
    pub case: String,
    /// One-sentence description.
    pub about: String,
    /// Source of the law.
    pub source: String,
    /// Protocol that runs and measures it: a name of the table of protocols.
    pub protocol: String,
    /// Expression for the approximate number of guide steps of a run. The longest run starts first.
    pub cost: String,
    /// The scene, with `$(expressions)`.
    pub scene: String,
    /// Parameters of the expressions.
    pub parameters: Parameters,
    /// Laws.
    pub checks: Vec<Check>,
    /// Variants to run.
    pub variants: Vec<Variant>,
    /// Negative controls: variants that must be rejected.
    pub controls: Vec<Control>,
    /// Changes that must not affect the results.
    pub twins: Vec<Twin>,
    /// Power laws through all variants.
    pub fits: Vec<Fit>,
    /// Parameter on the axis of the plots.
    pub plot: Option<Axis>,
}

/// A quantity, its law and its band.
#[derive(Clone, Debug)]
pub struct Check {
    /// Measured quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Expected value.
    pub expected: String,
    /// Smallest accepted value.
    pub low: Option<String>,
    /// Largest accepted value.
    pub high: Option<String>,
    /// Sets in which it counts.
    pub sets: Sets,
    /// Bands that replace it for certain solvers, by name.
    pub bands: Vec<(String, Option<String>, Option<String>)>,
}

impl Check {
    /// Returns both ends of the band of `solver`; a solver without either is not held to it.
    pub fn band(&self, solver: &str) -> (Option<&str>, Option<&str>) {
        let own = self.bands.iter().find(|band| band.0 == solver);
        own.map_or((self.low.as_deref(), self.high.as_deref()), |band| {
            (band.1.as_deref(), band.2.as_deref())
        })
    }
}

/// A run of the experiment.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Sets that it belongs to.
    pub sets: Sets,
    /// Runs with different seeds in the full set.
    pub seeds: u64,
    /// Changed parameters.
    pub parameters: Parameters,
    /// Overrides of the scene; `solver.*` is the table of the solver that runs.
    pub set: Vec<String>,
    /// A setting that the solver must have; otherwise this is skipped.
    pub needs: Option<String>,
}

/// Membership in the quick and the full set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets {
    /// With `--quick`.
    pub quick: bool,
    /// Without `--quick`.
    pub full: bool,
}

impl Sets {
    /// Returns true if this belongs to the quick set, or to the full one.
    pub fn holds(self, quick: bool) -> bool {
        if quick { self.quick } else { self.full }
    }
}

/// A wrong material, which the band must reject.
#[derive(Clone, Debug)]
pub struct Control {
    /// Run of the control.
    pub variant: Variant,
    /// The quantity whose band must reject it.
    pub rejects: String,
}

/// A change that must not affect the results.
#[derive(Clone, Debug)]
pub struct Twin {
    /// Run of the twin.
    pub variant: Variant,
    /// The variant that it is compared with.
    pub of: String,
    /// Change besides `set`.
    pub change: Option<Change>,
    /// The quantity that must stay the same.
    pub quantity: String,
    /// Allowed difference.
    pub within: String,
}

/// Changes that must not affect the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Translates the scene by a kilometer, more than 1000 diameters.
    Shift,
    /// Rotates scene and gravity.
    Rotate,
    /// Mirrors the guides at the start.
    Mirror,
    /// Renumbers the guides.
    Permute,
    /// Adds the same velocity to everything.
    Boost,
    /// Halves the steps.
    HalfStep,
    /// Doubles the iterations.
    TwiceTheIterations,
}

const CHANGES: &[(&str, Change)] = &[
    ("shift", Change::Shift),
    ("rotate", Change::Rotate),
    ("mirror", Change::Mirror),
    ("permute", Change::Permute),
    ("boost", Change::Boost),
    ("half step", Change::HalfStep),
    ("twice the iterations", Change::TwiceTheIterations),
];

/// The exponent of a power law through variants.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Its name.
    pub name: String,
    /// The quantity.
    pub quantity: String,
    /// The base of the power.
    pub over: String,
    /// Smallest `over` of the variants included.
    pub from: f64,
    /// Largest `over` of the variants included.
    pub to: f64,
    /// Expected exponent.
    pub expected: String,
    /// Smallest accepted value.
    pub low: Option<String>,
    /// Largest accepted value.
    pub high: Option<String>,
    /// Sets that it belongs to.
    pub sets: Sets,
}

/// An axis of a plot.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The parameter.
    pub parameter: String,
    /// Label of the axis.
    pub label: String,
}

/// Returns all experiments, in the order of the table.
pub fn experiments() -> Result<Vec<Experiment>, ValidateError> {
    FILES.iter().map(|(file, text)| read(file, text)).collect()
}

fn read(file: &str, text: &str) -> Result<Experiment, ValidateError> {
    let wrong = |reason: String| ValidateError::Experiment {
        file: file.to_owned(),
        reason,
    };
    let table = DeTable::parse(text).map_err(|error| wrong(error.to_string()))?;
    experiment(file, table.get_ref()).map_err(wrong)
}

fn experiment(file: &str, table: &DeTable) -> Result<Experiment, String> {
    let list = |key: &str| tables(table, key);
    Ok(Experiment {
        file: file.to_owned(),
        case: text(table, "case")?,
        about: text(table, "about")?,
        source: text(table, "source")?,
        protocol: text(table, "protocol")?,
        cost: optional(table, "cost").unwrap_or_else(|| "0".to_owned()),
        scene: match optional(table, "built_in") {
            Some(name) => scene_of(&name)?,
            None => text(table, "scene")?,
        },
        parameters: parameters(table)?,
        checks: list("check")?.into_iter().map(check).collect::<Result<_, _>>()?,
        variants: list("variant")?.into_iter().map(variant).collect::<Result<_, _>>()?,
        controls: list("control")?.into_iter().map(control).collect::<Result<_, _>>()?,
        twins: list("twin")?.into_iter().map(twin).collect::<Result<_, _>>()?,
        fits: list("fit")?.into_iter().map(fit).collect::<Result<_, _>>()?,
        plot: match table.get("plot").and_then(|v| v.get_ref().as_table()) {
            Some(plot) => Some(Axis {
                parameter: text(plot, "parameter")?,
                label: text(plot, "label")?,
            }),
            None => None,
        },
    })
}

/// Returns the text of a built-in scene.
fn scene_of(name: &str) -> Result<String, String> {
    let known = barchan::scene::BUILT_IN.iter().find(|scene| scene.name == name);
    known
        .map(|scene| scene.text.to_owned())
        .ok_or(format!("there is no scene `{name}`"))
}

fn check(table: &DeTable) -> Result<Check, String> {
    let bands = table.iter().filter_map(|(key, value)| {
        let band = value.get_ref().as_table()?;
        let bounds = (optional(band, "low"), optional(band, "high"));
        Some((key.get_ref().to_string(), bounds.0, bounds.1))
    });
    Ok(Check {
        quantity: text(table, "quantity")?,
        unit: optional(table, "unit").unwrap_or_default(),
        expected: text(table, "expected")?,
        low: optional(table, "low"),
        high: optional(table, "high"),
        sets: sets(table)?,
        bands: bands.collect(),
    })
}

fn variant(table: &DeTable) -> Result<Variant, String> {
    let seeds = optional(table, "seeds").map_or(Ok(3), |n| n.parse());
    let set = table.get("set").and_then(|v| v.get_ref().as_array());
    let said = set.map(|list| {
        let items = list.iter().filter_map(|item| item.get_ref().as_str());
        items.map(str::to_owned).collect()
    });
    Ok(Variant {
        name: text(table, "name")?,
        sets: sets(table)?,
        seeds: seeds.map_err(|_| "`seeds` is no whole number".to_owned())?,
        parameters: parameters(table)?,
        set: said.unwrap_or_default(),
        needs: optional(table, "needs"),
    })
}

fn control(table: &DeTable) -> Result<Control, String> {
    Ok(Control {
        variant: variant(table)?,
        rejects: text(table, "rejects")?,
    })
}

fn twin(table: &DeTable) -> Result<Twin, String> {
    let change = optional(table, "change").map(|name| {
        let known = CHANGES.iter().find(|change| change.0 == name);
        known
            .map(|change| change.1)
            .ok_or(format!("there is no change `{name}`"))
    });
    Ok(Twin {
        variant: variant(table)?,
        of: text(table, "of")?,
        change: change.transpose()?,
        quantity: text(table, "quantity")?,
        within: text(table, "within")?,
    })
}

fn fit(table: &DeTable) -> Result<Fit, String> {
    let bound = |key: &str, default: f64| optional(table, key).and_then(|x| x.parse().ok()).unwrap_or(default);
    Ok(Fit {
        name: text(table, "name")?,
        quantity: text(table, "quantity")?,
        over: text(table, "over")?,
        from: bound("from", f64::NEG_INFINITY),
        to: bound("to", f64::INFINITY),
        expected: text(table, "expected")?,
        low: optional(table, "low"),
        high: optional(table, "high"),
        sets: sets(table)?,
    })
}

/// Parses `sets = "quick"` or `"full"`; both if absent.
fn sets(table: &DeTable) -> Result<Sets, String> {
    let said = optional(table, "sets").unwrap_or_else(|| "quick full".to_owned());
    let words: Vec<&str> = said.split_whitespace().collect();
    match words.iter().find(|word| !["quick", "full"].contains(word)) {
        Some(word) => Err(format!("there is no set `{word}`")),
        None => Ok(Sets {
            quick: words.contains(&"quick"),
            full: words.contains(&"full"),
        }),
    }
}

fn parameters(table: &DeTable) -> Result<Parameters, String> {
    let mut parameters = Parameters::default();
    let entries = table.get("parameters").and_then(|v| v.get_ref().as_table());
    for (name, value) in entries.into_iter().flatten() {
        let expression = plain(value.get_ref()).ok_or(format!("parameter `{}` is no expression", name.get_ref()))?;
        parameters.set(name.get_ref(), expression);
    }
    Ok(parameters)
}

fn tables<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Result<Vec<&'t DeTable<'i>>, String> {
    let Some(value) = table.get(key) else {
        return Ok(Vec::new());
    };
    let list = value.get_ref().as_array().ok_or(format!("`{key}` is no list"))?;
    let item =
        |item: &'t toml::Spanned<DeValue<'i>>| item.get_ref().as_table().ok_or(format!("`{key}` holds no tables"));
    list.iter().map(item).collect()
}

/// Returns a string or a number as text.
fn plain(value: &DeValue) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn optional(table: &DeTable, key: &str) -> Option<String> {
    table.get(key).and_then(|value| plain(value.get_ref()))
}

fn text(table: &DeTable, key: &str) -> Result<String, String> {
    optional(table, key).ok_or(format!("`{key}` is missing"))
}
