//! Stores finished runs in a folder, so that interrupted validations continue and runs of other machines count.

use std::io::Write;
use std::path::{Path, PathBuf};

use barchan::io::write_atomically;
use serde_json::{Value, json};

use crate::ValidateError;
use crate::pause::Pause;
use crate::task::{Finished, Task};

/// A folder with one file per finished run, named by the key of the run.
pub(crate) struct Store {
    folder: PathBuf,
    build: String,
    /// Accepts results of other builds.
    any_build: bool,
}

impl Store {
    /// Creates the store of a report's folder `dir`, for results of `build`.
    pub fn new(dir: &Path, build: &str, any_build: bool) -> Result<Self, ValidateError> {
        let folder = dir.join("runs");
        std::fs::create_dir_all(&folder).map_err(|reason| failed(&folder, reason))?;
        Ok(Self {
            folder,
            build: build.to_owned(),
            any_build,
        })
    }

    fn path(&self, task: &Task) -> PathBuf {
        self.folder.join(format!("{}.json", task.key))
    }

    /// Returns the checkpoint of `task`.
    pub fn pause(&self, task: &Task) -> Pause {
        Pause::new(self.folder.join(&task.key), &self.build)
    }

    /// Returns the stored result of `task`.
    pub fn get(&self, task: &Task) -> Option<Finished> {
        let text = std::fs::read(self.path(task)).ok()?;
        let value: Value = serde_json::from_slice(&text).ok()?;
        let counts = self.any_build || value["build"] == json!(self.build);
        counts.then(|| Finished::read(&value)).flatten()
    }

    /// Stores the result of `task`.
    pub fn put(&self, task: &Task, finished: &Finished) -> Result<(), ValidateError> {
        let mut value = finished.json();
        value["run"] = json!(task.what);
        value["build"] = json!(self.build);
        let path = self.path(task);
        write_atomically(&path, |out| writeln!(out, "{value}")).map_err(|error| failed(&path, error.reason))
    }
}

fn failed(path: &Path, reason: std::io::Error) -> ValidateError {
    ValidateError::Write {
        path: path.display().to_string(),
        reason,
    }
}
