//! `manifest.json`: what a cache holds.

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

/// The format of caches that this version writes and reads.
const FORMAT: u64 = 1;

/// What is simulated, by what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scene as resolved.
    pub scene: Value,
    /// The version of the program.
    pub version: String,
    /// What moves the guides.
    pub solver: String,
    /// Frames a second [1/s].
    pub frame_rate: f64,
    /// Number of the frame at time 0.
    pub first_frame: u64,
    /// Checksums of the files that the scene names, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Values that tell a manifest of ours, of any format, from other files of that name.
#[derive(Deserialize)]
struct Head {
    format: Option<Value>,
    version: Option<IgnoredAny>,
    solver: Option<IgnoredAny>,
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: u64,
    /// What is simulated, by what.
    #[serde(flatten)]
    pub run: Run,
    /// The frames that are there, in order.
    pub frames: Vec<FrameEntry>,
}

/// A frame that is there, and how many rows each of its files has; none for a file that was not asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameEntry {
    /// Its number.
    pub frame: u64,
    /// Its time [s].
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
}

impl FrameEntry {
    /// Rows of a part, if it is there.
    pub fn rows(&self, part: Part) -> Option<u64> {
        match part {
            Part::Guides => self.guides,
            Part::Grains => self.grains,
            Part::Bodies => self.bodies,
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

    /// Reads it, and adds the frames of the journal.
    pub(super) fn read(dir: &Path) -> Result<Self, CacheError> {
        // A run that writes meanwhile moves frames from the journal to the manifest: read in this order, none is missed.
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

    /// Writes it and gives its length [bytes].
    pub(super) fn write(&self, dir: &Path) -> Result<u64, WriteError> {
        let text = serde_json::to_vec(self).expect("names and numbers");
        write_atomically(&dir.join(FILE), |out| {
            out.write_all(&text)?;
            out.write_all(b"\n")
        })?;
        Ok(text.len() as u64 + 1)
    }

    /// The frames that have a part, in words.
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
