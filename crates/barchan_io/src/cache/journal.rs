//! `frames.jsonl`: one line per frame since the manifest was written.
//!
//! The manifest lists all frames, so rewriting it per frame would take time that grows with their number. It is written
//! when their number has doubled, and when a run ends; frames in between are appended here. Readers read both.

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

/// Removes the journal once the manifest lists its frames.
pub(super) fn clear(dir: &Path) -> Result<(), WriteError> {
    remove(&file(dir))
}
