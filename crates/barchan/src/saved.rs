//! States of simulations in folders: a checkpoint and its scene.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use barchan_io::{Cache, CacheError, WriteError, read_checkpoint, write_atomically, write_checkpoint};
use barchan_scene::{Document, Scene};
use barchan_world::Archive;
use serde_json::{Value, json};
use thiserror::Error;

use crate::scene::source;
use crate::simulation::Simulation;

/// Reason why a state cannot be saved or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SavedError {
    /// The checkpoint cannot be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The scene cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The folder holds no scene.
    #[error("{} holds no scene to resume: {reason}", path.display())]
    Scene {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: io::Error,
    },
}

/// Scene beside the checkpoint.
const SCENE: &str = "scene.json";

/// Saves the state of a simulation of `scene`, which was read from `document`, into the folder `dir`.
pub fn save(dir: &Path, simulation: &Simulation, scene: &Scene, document: &Document) -> Result<(), SavedError> {
    write_checkpoint(dir, &simulation.save(), simulation.frame_number())?;
    let mut value = source(scene, document);
    value["folder"] = json!(std::path::absolute(&document.folder).unwrap_or_default());
    write_atomically(&dir.join(SCENE), |out| {
        serde_json::to_writer(out, &value).map_err(Into::into)
    })?;
    Ok(())
}

/// Reads the scene and the state in a folder of [`save`], or in a cache, for [`Simulation::resume`].
pub fn read_saved(dir: &Path) -> Result<(Document, Archive), SavedError> {
    let path = dir.join(SCENE);
    let invalid = |reason| SavedError::Scene {
        path: dir.to_owned(),
        reason,
    };
    let value: Value = match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| invalid(error.into()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Cache::open(dir)?.manifest().run.scene.clone(),
        Err(error) => return Err(invalid(error)),
    };
    let text = value["text"].as_str();
    let text = text.ok_or_else(|| invalid(io::Error::new(io::ErrorKind::InvalidData, "it has no text")))?;
    let mut document = Document::new(value["name"].as_str().unwrap_or("scene"), text);
    document.folder = value["folder"].as_str().map(PathBuf::from).unwrap_or_default();
    let set = value["set"].as_array().into_iter().flatten();
    let document = set.filter_map(Value::as_str).fold(document, Document::with);
    let (_, archive) = read_checkpoint(dir)?;
    Ok((document, archive))
}
