//! How experiments are done: each drives a simulation and measures.

mod heap;

use barchan::SimulationError;
use thiserror::Error;

use crate::expression::ExpressionError;
use crate::stage::{Observation, Stage};

/// Why an experiment broke off.
#[derive(Debug, Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    #[error(transparent)]
    Expression(#[from] ExpressionError),
}

pub(crate) type Protocol = fn(&mut Stage) -> Result<Observation, Broken>;

/// Every protocol by name.
const PROTOCOLS: &[(&str, Protocol)] = &[("heap", heap::heap)];

/// The protocol called `name`.
pub(crate) fn protocol(name: &str) -> Option<Protocol> {
    PROTOCOLS.iter().find(|p| p.0 == name).map(|p| p.1)
}
