//! Experiments and closed forms that every solver is held to.
//!
//! An experiment is a file: a scene with `$(expressions)`, how it is done and measured, the law with its band, wrong materials
//! that the band must reject, and changes that must change nothing. [`validate`] runs them and gives a row each.

mod error;
pub mod experiment;
pub mod expression;
mod judge;
pub mod measures;
mod pause;
mod plan;
mod protocols;
mod report;
mod row;
mod run;
mod stage;
mod store;
mod task;
mod work;

pub use error::ValidateError;
pub use judge::{Band, Verdict};
pub use pause::Pause;
pub use plan::{Options, cases};
pub use report::{Report, machine, short, today};
pub use row::{Kind, Row};
pub use run::{Progress, Results, runs, validate};
pub use stage::{Observation, Stage};
pub use task::fingerprint;
