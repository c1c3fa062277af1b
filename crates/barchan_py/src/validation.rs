//! Experiments and closed forms.

use std::path::PathBuf;

use barchan_validate::{Options, ValidateError, fingerprint, validate as validate_all};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{failed, input};
use crate::frame::to_python;
use crate::scene::overrides;
use crate::work::{Ending, interruptible, quiet};

/// Compares a solver with experiments and closed forms, as `barchan validate` does, and returns a dictionary per row.
/// Without `cases` all are run; `out` keeps finished runs, which are not repeated.
#[pyfunction]
#[pyo3(signature = (cases = Vec::new(), *, set = None, quick = true, seeds = None, jobs = 1, out = PathBuf::from("validation")))]
pub fn validate<'py>(
    py: Python<'py>,
    cases: Vec<String>,
    set: Option<&Bound<'py, PyDict>>,
    quick: bool,
    seeds: Option<u64>,
    jobs: usize,
    out: PathBuf,
) -> PyResult<Bound<'py, PyAny>> {
    // Results of another build are not continued.
    let own: PathBuf = py.import("barchan._barchan")?.getattr("__file__")?.extract()?;
    let own = std::fs::read(own).map_err(failed)?;
    let options = Options {
        cases,
        only: None,
        set: overrides(set)?,
        quick,
        seeds: seeds.filter(|&seeds| seeds > 0),
        jobs,
        join: false,
        build: format!("{:016x}", fingerprint(&own)),
    };
    let rows = interruptible(py, Ending::Abandoned, &mut quiet, move |_| {
        let results = validate_all(&options, &out, &|_| (), &mut |_| ()).map_err(|error| match error {
            ValidateError::NoCase { .. } | ValidateError::Scene(_) => input(error),
            error => failed(error),
        })?;
        let rows = results.rows.iter().map(barchan_validate::Row::json);
        Ok::<_, PyErr>(Value::Array(rows.collect()))
    })??;
    to_python(py, &rows)
}
