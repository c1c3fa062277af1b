//! Errors as Python exceptions.

use std::fmt::Display;

use barchan::running::RunError as RunningError;
use barchan::sweep::SweepError;
use barchan::{DriveError, SimulationError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(barchan, Error, PyException, "Base of all errors of barchan.");
create_exception!(
    barchan,
    InputError,
    Error,
    "The input is wrong; the message names the place and what is allowed."
);
create_exception!(barchan, RunError, Error, "The work failed.");

/// Reports wrong input.
pub fn input(error: impl Display) -> PyErr {
    InputError::new_err(error.to_string())
}

/// Reports failed work.
pub fn failed(error: impl Display) -> PyErr {
    RunError::new_err(error.to_string())
}

/// Maps an error of a simulation: what the scene is to blame for is wrong input.
pub fn of_simulation(error: SimulationError) -> PyErr {
    match error {
        SimulationError::Advance(_) | SimulationError::Archive(_) => failed(error),
        error => input(error),
    }
}

/// Maps an error of a run.
pub fn of_run(error: RunningError) -> PyErr {
    match error {
        RunningError::Simulation(error) => of_simulation(error),
        RunningError::Cache(_) => failed(error),
        error => input(error),
    }
}

/// Maps an error of a sweep.
pub fn of_sweep(error: SweepError) -> PyErr {
    match &error {
        SweepError::Run { error: cause, .. } => match **cause {
            RunningError::Cache(_) | RunningError::Simulation(SimulationError::Advance(_)) => failed(error),
            _ => input(error),
        },
        SweepError::Stopped { .. } | SweepError::Write(_) | SweepError::Cache(_) => failed(error),
        _ => input(error),
    }
}

/// Maps an error of a driven body: a wrong name is a `KeyError`, as in a dictionary.
pub fn of_drive(error: DriveError) -> PyErr {
    match error {
        DriveError::NoBody { .. } => pyo3::exceptions::PyKeyError::new_err(error.to_string()),
        error => input(error),
    }
}
