//! Frames of a simulation or a cache.

use std::sync::{Arc, OnceLock};

use barchan::io::{Cache, CacheError, Part};
use barchan::world::Stats;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::{failed, input};
use crate::table::Table;

/// One frame: of a simulation, or of a cache, whose parts are read when they are first used.
#[pyclass(frozen, module = "barchan")]
pub struct Frame {
    /// Frame number.
    #[pyo3(get)]
    number: u64,
    /// Time [s].
    #[pyo3(get)]
    time: f64,
    cache: Option<Arc<Cache>>,
    guides: OnceLock<Option<Table>>,
    grains: OnceLock<Option<Table>>,
    bodies: OnceLock<Option<Table>>,
    stats: OnceLock<Value>,
}

impl Frame {
    /// Takes a frame of a simulation.
    pub fn of_simulation(frame: barchan::world::Frame) -> Self {
        Self {
            number: frame.number,
            time: frame.time,
            cache: None,
            stats: stats_json(&frame.stats).into(),
            guides: Some(Table::of_particles(frame.guides)).into(),
            grains: frame.grains.map(Table::of_particles).into(),
            bodies: Some(Table::of_bodies(&frame.bodies)).into(),
        }
    }

    /// Names a frame of a cache.
    pub fn of_cache(cache: Arc<Cache>, number: u64, time: f64) -> Self {
        Self {
            number,
            time,
            cache: Some(cache),
            guides: OnceLock::new(),
            grains: OnceLock::new(),
            bodies: OnceLock::new(),
            stats: OnceLock::new(),
        }
    }

    /// Returns a part, which is read if it is not yet known.
    fn part(
        &self,
        py: Python<'_>,
        known: &OnceLock<Option<Table>>,
        read: impl FnOnce(&Cache) -> Result<Table, CacheError> + Send,
    ) -> PyResult<Option<Table>> {
        if let (None, Some(cache)) = (known.get(), &self.cache) {
            let found = match py.detach(|| read(cache)) {
                Ok(table) => Some(table),
                Err(CacheError::NoFrame { .. }) => None,
                Err(error) => return Err(failed(error)),
            };
            // Another thread may have been faster, with the same result.
            let _ = known.set(found);
        }
        Ok(known.get().cloned().flatten())
    }
}

#[pymethods]
impl Frame {
    /// The simulated particles, if the cache has them.
    #[getter]
    fn guides(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        self.part(py, &self.guides, |cache| {
            cache.read_guides(self.number).map(Table::of_particles)
        })
    }

    /// The refined particles, if there are any.
    #[getter]
    fn grains(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        self.part(py, &self.grains, |cache| {
            cache.read_grains(self.number).map(Table::of_particles)
        })
    }

    /// Poses of bodies, and the forces and torques of the guides on them.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        self.part(py, &self.bodies, |cache| {
            cache.read_bodies(self.number).map(|bodies| Table::of_bodies(&bodies))
        })
    }

    /// Statistics of the frame.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let (None, Some(cache)) = (self.stats.get(), &self.cache) {
            let all = py.detach(|| cache.stats()).map_err(failed)?;
            let own = all.iter().find(|line| line.frame == self.number);
            let _ = self.stats.set(own.map_or(Value::Null, |line| stats_json(&line.stats)));
        }
        to_python(py, self.stats.get().unwrap_or(&Value::Null))
    }

    /// Returns a part for Arrow programs: an object with `__arrow_c_stream__`.
    #[pyo3(signature = (part = "guides"))]
    fn to_arrow(&self, py: Python<'_>, part: &str) -> PyResult<Table> {
        let table = match Part::of_name(part) {
            Some(Part::Guides) => self.guides(py)?,
            Some(Part::Grains) => self.grains(py)?,
            Some(Part::Bodies) => self.bodies(py)?,
            Some(Part::Joints) | None => {
                return Err(input(format!(
                    "`{part}` is no part of a frame: guides, grains or bodies"
                )));
            }
        };
        table.ok_or_else(|| input(format!("frame {} has no {part}", self.number)))
    }

    fn __repr__(&self) -> String {
        format!("<barchan.Frame {} at {} s>", self.number, self.time)
    }
}

/// Returns statistics as JSON, with the names of `stats.jsonl`.
pub fn stats_json(stats: &Stats) -> Value {
    let mut all = json!({
        "steps": stats.steps,
        "guides": stats.guides,
        "grains": stats.grains,
        "mass": stats.mass,
        "removed_mass": stats.removed_mass,
        "emitted_mass": stats.emitted_mass,
        "ledger_closes": stats.ledger_closes,
        "kinetic_energy": stats.kinetic_energy,
        "potential_energy": stats.potential_energy,
        "momentum": stats.momentum.to_array(),
        "max_speed": stats.max_speed,
        "max_overlap": stats.max_overlap,
        "guide_ms": stats.guide_ms,
        "grain_ms": stats.grain_ms,
    });
    for (name, value) in &stats.extras {
        all[name.as_str()] = Value::from(*value);
    }
    all
}

/// Converts JSON to Python's own types.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
