//! `manifest.json`: the contents of a cache.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CacheError, Part, journal};
use crate::{WriteError, write_atomically};

pub(super) const FILE: &str = "manifest.json";

/// Format of caches that this version writes and reads.
const FORMAT: u64 = 1;

/// Description of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scene as resolved.
    pub scene: Value,
    /// Version of the program.
    pub version: String,
    /// Name of the solver.
    pub solver: String,
    /// Frames per second [1/s].
    pub frame_rate: f64,
    /// Number of the frame at time 0.
    pub first_frame: u64,
    /// Checksums of the files that the scene names, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Values that distinguish a manifest of ours, of any format, from other files of that name.
#[derive(Deserialize)]
struct Head {
    format: Option<Value>,
    version: Option<IgnoredAny>,
    solver: Option<IgnoredAny>,
}

/// The contents of a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: u64,
    /// Description of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Frames in the cache, in order.
    pub frames: Vec<FrameEntry>,
}

/// A frame in the cache, with the number of rows of each of its files; `None` for a part that is not written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameEntry {
    /// Frame number.
    pub frame: u64,
    /// Time [s].
    pub time: f64,
    /// Number of guides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guides: Option<u64>,
    /// Number of grains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grains: Option<u64>,
    /// Number of bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bodies: Option<u64>,
    /// Number of contacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contacts: Option<u64>,
    /// Number of cells with fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<u64>,
}

impl FrameEntry {
    /// Returns the number of rows of a part, if it is present.
    pub fn rows(&self, part: Part) -> Option<u64> {
        match part {
            Part::Guides => self.guides,
            Part::Grains => self.grains,
            Part::Bodies => self.bodies,
            Part::Contacts => self.contacts,
            Part::Fields => self.fields,
        }
    }
}

impl Manifest {
    pub(super) fn new(run: Run) -> Self {
        Self {
            format: FORMAT,
            run,
            frames: Vec::new(),
        }
    }

    /// Reads the manifest, and adds the frames of the journal.
    pub(super) fn read(dir: &Path) -> Result<Self, CacheError> {
        // A concurrent run moves frames from the journal to the manifest: read in this order, none is missed.
        let journal = journal::read(dir);
        let not_a_cache = |why: &str| CacheError::NotACache {
            path: dir.to_owned(),
            why: why.to_owned(),
        };
        let path = dir.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(_) if dir.is_file() => return Err(not_a_cache("it is a file")),
            Err(reason) if matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(not_a_cache(match dir.exists() {
                    true => "it has no manifest.json",
                    false => "it does not exist",
                }));
            }
            Err(reason) => return Err(CacheError::Read { path, reason }),
        };
        let head: Head = serde_json::from_slice(&text).map_err(|error| CacheError::damaged(&path, error))?;
        match head.format.and_then(|format| format.as_u64()) {
            Some(FORMAT) => {}
            Some(found) if head.solver.is_some() && head.version.is_some() => {
                return Err(CacheError::Format {
                    path,
                    found,
                    known: FORMAT,
                });
            }
            _ => return Err(CacheError::foreign(&path, "it has no `format`, `version` and `solver`")),
        }
        let mut manifest: Self = serde_json::from_slice(&text).map_err(|error| CacheError::damaged(&path, error))?;
        let last = manifest.frames.last().map(|entry| entry.frame);
        let later = |entry: &FrameEntry| last.is_none_or(|last| entry.frame > last);
        manifest.frames.extend(journal?.into_iter().filter(later));
        match manifest.frames.is_sorted_by(|a, b| a.frame < b.frame) {
            true => Ok(manifest),
            false => Err(CacheError::damaged(&path, "its frames are not in order")),
        }
    }

    /// Writes the manifest and returns its length [bytes].
    pub(super) fn write(&self, dir: &Path) -> Result<u64, WriteError> {
        let text = serde_json::to_vec(self).expect("names and numbers");
        write_atomically(&dir.join(FILE), |out| {
            out.write_all(&text)?;
            out.write_all(b"\n")
        })?;
        Ok(text.len() as u64 + 1)
    }

    /// Lists the frames that have a part.
    pub(super) fn present(&self, has: impl Fn(&FrameEntry) -> bool) -> String {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for frame in self.frames.iter().filter(|f| has(f)).map(|f| f.frame) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == frame => *last = frame,
                _ => ranges.push((frame, frame)),
            }
        }
        let shown = 8;
        let more = ranges.len() > shown;
        let words = ranges.iter().take(shown).map(|&(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        let words: Vec<String> = words.chain(more.then(|| "...".to_owned())).collect();
        match words.is_empty() {
            true => "none".to_owned(),
            false => words.join(", "),
        }
    }
}
