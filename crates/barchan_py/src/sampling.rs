//! Particles in solids, and grains for existing guides.

use std::path::PathBuf;

use barchan::geometry::sample::{Packing, Radii};
use barchan::refining::{RefineOptions, refine as refine_all};
use barchan::sampling::{Cover, Fill, Solid, cover, fill};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::input;
use crate::frame::to_python;
use crate::scene;
use crate::simulation::progress_function;
use crate::table::Table;
use crate::work::{Ending, interruptible, quiet};

/// Largest length [m].
const MAX_LENGTH: f64 = 1e9;
/// Smallest radius [m].
const MIN_RADIUS: f64 = 1e-12;

/// Samples a mesh file or a shape, such as `"{ sphere = { radius = 1 } }"` or a dictionary, with particles: a table with
/// `position` and `radius` [m]. `radius` is a number, or the smallest and largest one; `packing` is "dense", "random" or
/// "lattice". `surface` covers the surface instead, `offset` [m] from it, with `normal` as a further column.
#[pyfunction]
#[pyo3(signature = (shape, radius, *, packing = "dense", surface = false, offset = 0.0, seed = 1))]
pub fn sample(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    radius: &Bound<'_, PyAny>,
    packing: &str,
    surface: bool,
    offset: f64,
    seed: u64,
) -> PyResult<Table> {
    let source = match shape.cast::<PyDict>() {
        Ok(table) => scene::toml(table, 0)?,
        Err(_) => shape.extract::<PathBuf>()?.to_string_lossy().into_owned(),
    };
    let radii = match radius.extract::<f64>() {
        Ok(radius) => Radii::one(radius),
        Err(_) => {
            let [low, high] = radius.extract::<[f64; 2]>()?;
            Radii::range(low, high)
        }
    };
    let radii = radii.map_err(|error| input(format!("radius: {error}")))?;
    if !(radii.min() >= MIN_RADIUS && radii.max() <= MAX_LENGTH) {
        return Err(input("radius must be from 1e-12 to 1e9 m"));
    }
    if !(-MAX_LENGTH..=MAX_LENGTH).contains(&offset) {
        return Err(input("offset must be from -1e9 to 1e9 m"));
    }
    if surface && radii.min() != radii.max() {
        return Err(input("a surface takes one radius"));
    }
    let kinds = Packing::ALL;
    let kind = kinds.iter().find(|kind| kind.0 == packing).map(|kind| kind.1);
    let names = kinds.map(|kind| kind.0).join(", ");
    let kind = kind.ok_or_else(|| input(format!("there is no packing `{packing}`; there are: {names}")))?;
    let (table, warnings) = interruptible(py, Ending::Abandoned, &mut quiet, move |_| {
        let solid = Solid::open(&source).map_err(input)?;
        let table = if surface {
            let settings = Cover {
                offset,
                seed,
                ..Cover::new(radii.min())
            };
            let covered = cover(&solid, &settings, &|_| ()).map_err(input)?;
            let sample = covered.sample;
            let radii = vec![covered.radius; sample.positions.len()];
            Table::of_samples(sample.positions, radii, Some(sample.normals))
        } else {
            let settings = Fill {
                packing: kind,
                radii,
                seed,
                memory_limit: Fill::MEMORY_LIMIT,
            };
            let particles = fill(&solid, &settings, &|_| ()).map_err(input)?.particles;
            Table::of_samples(particles.positions, particles.radii, None)
        };
        Ok::<_, PyErr>((table, solid.warnings))
    })??;
    for warning in &warnings {
        scene::warn(py, warning)?;
    }
    Ok(table)
}

/// Adds grains to a cache of guides, or to a folder of particle files of another program, as `barchan refine` does.
/// Returns the cache and counts.
#[pyfunction]
#[pyo3(signature = (path, *, radius = None, output = None, guide_radius = None, frame_rate = 60.0, scene = None,
    set = None, floor = None, bodies = Vec::new(), force = false, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn refine<'py>(
    py: Python<'py>,
    path: PathBuf,
    radius: Option<f64>,
    output: Option<PathBuf>,
    guide_radius: Option<f64>,
    frame_rate: f64,
    scene: Option<&Bound<'py, PyAny>>,
    set: Option<&Bound<'py, PyDict>>,
    floor: Option<f64>,
    bodies: Vec<PathBuf>,
    force: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if !(0.1..=1e6).contains(&frame_rate) {
        return Err(input("frame_rate must be from 0.1 to 1000000"));
    }
    if guide_radius.is_some_and(|radius| !(1e-9..=1e6).contains(&radius)) {
        return Err(input("guide_radius must be from 1e-9 to 1e6 m"));
    }
    if floor.is_some_and(|height| !(-1e9..=1e9).contains(&height)) {
        return Err(input("floor must be from -1e9 to 1e9 m"));
    }
    let options = RefineOptions {
        radius,
        output,
        guide_radius,
        frame_rate,
        force,
        scene: scene.map(|scene| scene::document(scene, set)).transpose()?,
        floor,
        bodies,
        ..RefineOptions::of_cache(&path)
    };
    let show = progress_function(py, progress)?;
    let mut heed = |(done, all): (usize, usize)| match &show {
        Some(show) => show.call1((done, all, py.None())).map(drop),
        None => Ok(()),
    };
    let done = interruptible(py, Ending::Abandoned, &mut heed, move |control| {
        refine_all(&options, &mut |done, all| control.send((done, all))).map_err(input)
    })??;
    for warning in &done.warnings {
        scene::warn(py, warning)?;
    }
    let row = json!({ "path": done.dir, "frames": done.frames, "grains": done.grains, "grain_ms": done.grain_ms });
    to_python(py, &row)
}
