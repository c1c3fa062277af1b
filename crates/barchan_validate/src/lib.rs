//! Validates every solver against experiments and closed forms.
//!
//! An experiment is a file: a scene with `$(expressions)`, a protocol, the law with its band, wrong materials that the
//! band must reject, and changes that must not affect the results. [`validate`] runs them and returns one row per
//! check.

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
