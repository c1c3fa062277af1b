//! The parts of a sweep; the package `barchan` distributes them.

use std::path::PathBuf;

use barchan::running::{Go, Progress};
use barchan::sweep::{Plan, Sweep, Vary, table};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{input, of_sweep};
use crate::frame::to_python;
use crate::scene;
use crate::simulation::progress_function;
use crate::table::Table;
use crate::work::{Ending, interruptible};

/// Plans a sweep in the folder `out`, or continues the one there. Returns two lists of runs to do, the second after the
/// first: pairs of number and title.
#[pyfunction]
#[pyo3(signature = (scene, vary, out, *, set = None, frames = None))]
pub fn begin_sweep(
    py: Python<'_>,
    scene: &Bound<'_, PyAny>,
    vary: &Bound<'_, PyDict>,
    out: PathBuf,
    set: Option<&Bound<'_, PyDict>>,
    frames: Option<u64>,
) -> PyResult<[Vec<(usize, String)>; 2]> {
    let document = scene::document(scene, set)?;
    let mut keys = Vec::new();
    for (key, values) in vary.iter() {
        let mut texts = Vec::new();
        // A single text is a value, not a list of characters.
        match values.extract::<String>() {
            Ok(_) => texts.push(scene::toml(&values, 0)?),
            Err(_) => {
                for k in 0..values.len()? {
                    texts.push(scene::toml(&values.get_item(k)?, 0)?);
                }
            }
        }
        keys.push(Vary {
            key: key.extract()?,
            values: texts,
        });
    }
    py.detach(|| {
        let plan = Plan::new(document, keys, frames).map_err(of_sweep)?;
        plan.check().map_err(of_sweep)?;
        let sweep = Sweep::begin(&out, plan).map_err(of_sweep)?;
        let titled = |runs: Vec<usize>| runs.into_iter().map(|k| (k, sweep.plan().title(k))).collect();
        Ok(sweep.batches().map(titled))
    })
}

/// Does run `number` of the sweep in the folder `path`, and returns its row.
#[pyfunction]
#[pyo3(signature = (path, number, *, progress = None))]
pub fn run_sweep<'py>(
    py: Python<'py>,
    path: PathBuf,
    number: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let show = progress_function(py, progress)?;
    let mut heed = |now: Progress| match &show {
        Some(show) => show.call1((now.frame, now.frames, now.time)).map(drop),
        None => Ok(()),
    };
    let row = interruptible(py, Ending::Awaited, &mut heed, move |control| {
        let sweep = Sweep::open(&path).map_err(input)?;
        let mut watch = |now| {
            control.send(now);
            if control.is_stopped() { Go::Stop } else { Go::On }
        };
        sweep.run(number, &|_| (), &mut watch).map_err(of_sweep)
    })??;
    to_python(py, &Value::Object(row))
}

/// Writes the table of the sweep in the folder `path`, and returns it.
#[pyfunction]
pub fn sweep_table(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| {
        let sweep = Sweep::open(&path).map_err(input)?;
        sweep.write_table().map_err(of_sweep)?;
        Ok(Table::of_records(table(&sweep)))
    })
}
