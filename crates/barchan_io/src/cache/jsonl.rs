//! Append-only files with one JSON object per line. A crash can tear the last line; it is skipped.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CacheError;
use crate::{WriteError, write_atomically};

fn text(line: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("names and numbers");
    text.push(b'\n');
    text
}

/// Appends a line and returns its length [bytes].
pub(super) fn append(path: &Path, line: &impl Serialize) -> Result<u64, WriteError> {
    let text = text(line);
    let opened = OpenOptions::new().create(true).append(true).open(path);
    match opened.and_then(|mut out| out.write_all(&text)) {
        Ok(()) => Ok(text.len() as u64),
        Err(reason) => Err(WriteError {
            path: path.to_owned(),
            reason,
        }),
    }
}

/// Reads all lines except a torn last one; none if there is no such file.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, CacheError> {
    let bytes = match fs::read(path) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(CacheError::reading(path))?,
    };
    let mut all = Vec::new();
    for (i, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let line = serde_json::from_slice(line)
            .map_err(|error| CacheError::damaged(path, format!("line {}: {error}", i + 1)))?;
        all.push(line);
    }
    Ok(all)
}

/// Replaces the contents of the file by these lines.
pub(super) fn replace<T: Serialize>(path: &Path, lines: impl Iterator<Item = T>) -> Result<(), WriteError> {
    let mut lines = lines;
    write_atomically(path, |out| lines.try_for_each(|line| out.write_all(&text(&line))))
}
