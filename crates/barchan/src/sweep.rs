//! Sweeps: one scene, run for every combination of values of some keys.
//!
//! ```text
//! DIR/sweep.json        the plan: a process needs only this folder and a number to run a point
//! DIR/runs/0003/        cache of run 3
//! DIR/rows/0003.json    its results, once it is finished or has failed
//! DIR/settled/0000/     settled guides, for runs that settle as run 0 does
//! DIR/table.arrow, table.csv    all rows
//! ```
//!
//! Runs are independent: any process may do any of them, in any order, to the same bytes.

mod plan;
mod results;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use barchan_io::{CacheError, WriteError, write_atomically};
use barchan_scene::Diagnostics;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::phase::PhaseWatch;
use crate::running::{Go, Progress, RunError, RunOptions, run_settled};

pub use plan::{Plan, Vary};
pub use results::table;

/// Results of a run, by column.
pub type Row = Map<String, Value>;

/// Reason why a sweep cannot be planned or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The values to vary are invalid.
    #[error("{0}")]
    Values(String),
    /// The scene of a run is invalid.
    #[error("{run}: {errors}")]
    Scene {
        /// The run.
        run: String,
        /// The errors.
        errors: Box<Diagnostics>,
    },
    /// A run failed.
    #[error("{run}: {error}")]
    Run {
        /// The run.
        run: String,
        /// The error.
        error: Box<RunError>,
    },
    /// A run was stopped before its end.
    #[error("{run}: stopped; the same command continues it")]
    Stopped {
        /// The run.
        run: String,
    },
    /// The folder holds another sweep.
    #[error("{} holds another sweep: choose another folder, or repeat the scene, the values and the version of that one", dir.display())]
    Other {
        /// The folder.
        dir: PathBuf,
    },
    /// There is no such run.
    #[error("there is no run {number}: the sweep has {count}, from 0 on")]
    NoRun {
        /// Requested number.
        number: usize,
        /// Number of runs.
        count: usize,
    },
    /// A file of the sweep cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: io::Error,
    },
    /// A file of the sweep cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The cache of a finished run cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// A planned sweep in its folder.
#[derive(Clone, Debug)]
pub struct Sweep {
    dir: PathBuf,
    plan: Plan,
}

impl Sweep {
    /// Writes the plan into `dir`, or continues the same plan there.
    pub fn begin(dir: &Path, plan: Plan) -> Result<Self, SweepError> {
        match Self::open(dir) {
            Ok(found) if found.plan == plan => return Ok(found),
            Err(SweepError::Read { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => {}
            _ => return Err(SweepError::Other { dir: dir.to_owned() }),
        }
        for folder in [ROWS, RUNS] {
            let path = dir.join(folder);
            fs::create_dir_all(&path).map_err(|reason| WriteError { path, reason })?;
        }
        write_json(&dir.join(PLAN), &plan.to_json())?;
        Ok(Self {
            dir: dir.to_owned(),
            plan,
        })
    }

    /// Opens the folder of a sweep.
    pub fn open(dir: &Path) -> Result<Self, SweepError> {
        let path = dir.join(PLAN);
        let foreign = || SweepError::Read {
            path: path.clone(),
            reason: io::Error::new(io::ErrorKind::InvalidData, "it is no plan of this version"),
        };
        let plan = read_json(&path)?.as_ref().and_then(Plan::from_json);
        Ok(Self {
            dir: dir.to_owned(),
            plan: plan.ok_or_else(foreign)?,
        })
    }

    /// Returns its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns its plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the results of run `number`, if it is finished or has failed.
    pub fn row(&self, number: usize) -> Option<Row> {
        match read_json(&self.row_path(number)) {
            Ok(Some(Value::Object(row))) => Some(row),
            _ => None,
        }
    }

    /// Returns true if run `number` is finished, without an error.
    pub fn is_finished(&self, number: usize) -> bool {
        self.row(number).is_some_and(|row| !row.contains_key(ERROR))
    }

    /// Returns the numbers of the runs to do, in two batches: those of the first do not wait for another, those of the
    /// second begin with guides that one of the first has settled.
    pub fn batches(&self) -> [Vec<usize>; 2] {
        let left = (0..self.plan.len()).filter(|&k| !self.is_finished(k));
        let (followers, leaders) = left.partition(|&k| self.plan.leader(k).is_some_and(|leader| leader != k));
        [leaders, followers]
    }

    /// Does run `number`, or continues it, and returns its row; that of a finished run is returned at once. `watch` may
    /// stop it after any frame.
    pub fn run(
        &self,
        number: usize,
        phases: &PhaseWatch,
        watch: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Row, SweepError> {
        let count = self.plan.len();
        if number >= count {
            return Err(SweepError::NoRun { number, count });
        }
        if let Some(row) = self.row(number).filter(|row| !row.contains_key(ERROR)) {
            return Ok(row);
        }
        let run = self.plan.title(number);
        let (scene, document, _) = self.plan.scene(number)?;
        let dir = self.dir.join(RUNS).join(folder_name(number));
        let options = RunOptions {
            dir: dir.clone(),
            frames: self.plan.frames,
            start_frame: None,
            resume: true,
            force: false,
            scene: crate::scene::source(&scene, &document),
        };
        let settled = self.plan.leader(number);
        let settled = settled.map(|leader| self.dir.join(SETTLED).join(folder_name(leader)));
        match run_settled(&scene, &options, settled.as_deref(), phases, watch) {
            Ok(report) if report.frame < report.frames => Err(SweepError::Stopped { run }),
            Ok(_) => {
                let mut row = self.plan.values(number);
                results::measure(&dir, &mut row)?;
                write_json(&self.row_path(number), &Value::Object(row.clone()))?;
                Ok(row)
            }
            Err(error) => {
                let mut row = self.plan.values(number);
                row.insert(ERROR.to_owned(), Value::from(error.to_string()));
                write_json(&self.row_path(number), &Value::Object(row))?;
                let error = Box::new(error);
                Err(SweepError::Run { run, error })
            }
        }
    }

    fn row_path(&self, number: usize) -> PathBuf {
        self.dir.join(ROWS).join(format!("{}.json", folder_name(number)))
    }
}

const PLAN: &str = "sweep.json";
const RUNS: &str = "runs";
const ROWS: &str = "rows";
const SETTLED: &str = "settled";
/// Column of the message of a failed run.
const ERROR: &str = "error";

fn folder_name(number: usize) -> String {
    format!("{number:04}")
}

/// Reads a JSON file; `None` if it holds something else.
fn read_json(path: &Path) -> Result<Option<Value>, SweepError> {
    let text = fs::read(path).map_err(|reason| SweepError::Read {
        path: path.to_owned(),
        reason,
    })?;
    Ok(serde_json::from_slice(&text).ok())
}

fn write_json(path: &Path, value: &Value) -> Result<(), WriteError> {
    write_atomically(path, |out| writeln!(out, "{value}"))
}
