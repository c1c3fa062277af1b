//! The Python module `barchan`. It drives the same [`barchan::Simulation`] as everything else.
//!
//! Columns lie in Arrow arrays that numpy and Arrow programs share: a view keeps its frame alive, and the next step
//! makes a new one, so that none ever dangles.

mod bodies;
mod cache;
mod errors;
mod frame;
mod picture;
mod sampling;
mod scene;
mod simulation;
mod sweep;
mod table;
mod validation;
mod work;

use pyo3::prelude::*;

/// Compiled part of the package `barchan`.
#[pymodule]
fn _barchan(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", py.get_type::<errors::Error>())?;
    module.add("InputError", py.get_type::<errors::InputError>())?;
    module.add("RunError", py.get_type::<errors::RunError>())?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<bodies::Bodies>()?;
    module.add_class::<bodies::Body>()?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<cache::Cache>()?;
    module.add_class::<cache::Frames>()?;
    module.add_function(wrap_pyfunction!(scene::scenes, module)?)?;
    module.add_function(wrap_pyfunction!(scene::check, module)?)?;
    module.add_function(wrap_pyfunction!(sampling::sample, module)?)?;
    module.add_function(wrap_pyfunction!(sampling::refine, module)?)?;
    module.add_function(wrap_pyfunction!(picture::render, module)?)?;
    module.add_function(wrap_pyfunction!(validation::validate, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::begin_sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::run_sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep_table, module)?)?;
    Ok(())
}
