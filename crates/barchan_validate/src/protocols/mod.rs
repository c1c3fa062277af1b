//! Protocols of experiments: each drives a simulation and measures.

mod bed;
mod column;
mod creep;
mod cut;
mod discharge;
mod flight;
mod free;
mod grains;
mod heap;
mod janssen;
mod layer;
mod packing;
mod slide;
mod truck;

use barchan::SimulationError;
use thiserror::Error;

use crate::expression::ExpressionError;
use crate::stage::{Observation, Stage};

/// Reason why an experiment stopped early.
#[derive(Debug, Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    #[error(transparent)]
    Expression(#[from] ExpressionError),
}

pub(crate) type Protocol = fn(&mut Stage) -> Result<Observation, Broken>;

/// Every protocol by name.
const PROTOCOLS: &[(&str, Protocol)] = &[
    ("slide", slide::slide),
    ("stick", slide::stick),
    ("tilt", slide::tilt),
    ("heap", heap::heap),
    ("creep", creep::creep),
    ("truck", truck::truck),
    ("column", column::column),
    ("cut", cut::cut),
    ("discharge", discharge::run_out),
    ("slot", discharge::run_out_of_slot),
    ("layer", layer::flow),
    ("packing", packing::packing),
    ("janssen", janssen::sink),
    ("bed", bed::bed),
    ("weigh", bed::weigh),
    ("ball", bed::ball),
    ("cloud", free::cloud),
    ("crossings", free::crossings),
    ("fall", free::fall),
    ("flip", free::flip),
    ("grains", grains::grains),
    ("flight", flight::flight),
];

/// Returns the protocol called `name`.
pub(crate) fn protocol(name: &str) -> Option<Protocol> {
    PROTOCOLS.iter().find(|p| p.0 == name).map(|p| p.1)
}
