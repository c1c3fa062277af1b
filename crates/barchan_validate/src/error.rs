use barchan::SimulationError;
use barchan::scene::Diagnostics;
use thiserror::Error;

use crate::expression::ExpressionError;

/// Reason why an experiment has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// There is no case of that name.
    #[error("there is no case `{name}`; {help}")]
    NoCase {
        /// Requested name.
        name: String,
        /// Available cases.
        help: String,
    },
    /// An experiment file is invalid.
    #[error("experiment {file}: {reason}")]
    Experiment {
        /// The file.
        file: String,
        /// The error.
        reason: String,
    },
    /// A law or a length is invalid.
    #[error("experiment {file}: {source}")]
    Expression {
        /// The file.
        file: String,
        /// The error.
        source: ExpressionError,
    },
    /// The scene or an override is invalid.
    #[error("{0}")]
    Scene(Diagnostics),
    /// The simulation could not be built.
    #[error("{what}: {source}")]
    Simulation {
        /// The variant.
        what: String,
        /// The error.
        source: Box<SimulationError>,
    },
    /// The report could not be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The path.
        path: String,
        /// The error.
        reason: std::io::Error,
    },
}
