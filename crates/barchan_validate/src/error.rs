use barchan::SimulationError;
use barchan::scene::Diagnostics;
use thiserror::Error;

use crate::expression::ExpressionError;

/// Why an experiment has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// No case of that name.
    #[error("there is no case `{name}`; {help}")]
    NoCase {
        /// What was asked for.
        name: String,
        /// What there is.
        help: String,
    },
    /// An experiment file is at fault.
    #[error("experiment {file}: {reason}")]
    Experiment {
        /// Which.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A law or a length is at fault.
    #[error("experiment {file}: {source}")]
    Expression {
        /// Which.
        file: String,
        /// What is wrong.
        source: ExpressionError,
    },
    /// The scene, or what was set in it.
    #[error("{0}")]
    Scene(Diagnostics),
    /// The simulation could not be made.
    #[error("{what}: {source}")]
    Simulation {
        /// Of which variant.
        what: String,
        /// Why.
        source: Box<SimulationError>,
    },
    /// The report could not be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// Where.
        path: String,
        /// Why.
        reason: std::io::Error,
    },
}
