//! `frames.jsonl`: the frames that came since the manifest was written, a line each.
//!
//! The manifest lists all frames, so to write it for each of them would take time that grows with their number. It is written
//! when their number has doubled, and when a run ends; frames between are appended here. Readers take both.

use std::path::{Path, PathBuf};

use super::{CacheError, FrameEntry, jsonl, remove};
use crate::WriteError;

pub(super) const FILE: &str = "frames.jsonl";

fn file(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Appends a frame and returns the length of its line [bytes].
pub(super) fn append(dir: &Path, entry: &FrameEntry) -> Result<u64, WriteError> {
    jsonl::append(&file(dir), entry)
}

pub(super) fn read(dir: &Path) -> Result<Vec<FrameEntry>, CacheError> {
    jsonl::read(&file(dir))
}

/// Removes it, once the manifest lists what it held.
pub(super) fn clear(dir: &Path) -> Result<(), WriteError> {
    remove(&file(dir))
}
