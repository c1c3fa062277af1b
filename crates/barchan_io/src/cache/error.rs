//! Errors of caches.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::WriteError;

/// Reason why a cache cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: io::Error,
    },
    /// The folder is not a cache.
    #[error("{} is not a cache: {why}", path.display())]
    NotACache {
        /// The folder.
        path: PathBuf,
        /// The defect.
        why: String,
    },
    /// The file is damaged.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// A file that the manifest lists is missing.
    #[error("{} is missing, though the manifest lists it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by another program.
    #[error("{} was not written by barchan: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The defect.
        what: String,
    },
    /// The file has the format of another version of this program.
    #[error("{} has format {found}; this version reads format {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format of this version.
        known: u64,
    },
    /// There is no such frame.
    #[error("{} has no {what} of frame {frame}; it has {present}", path.display())]
    NoFrame {
        /// The cache.
        path: PathBuf,
        /// `guides`, `grains`, `bodies` or `files`.
        what: &'static str,
        /// Requested frame.
        frame: u64,
        /// Available frames, such as `0-41, 43`.
        present: String,
    },
    /// There is no checkpoint to resume from.
    #[error("{} has no checkpoint", path.display())]
    NoCheckpoint {
        /// The cache.
        path: PathBuf,
    },
    /// Another process is writing to the folder.
    #[error("{} is being written by {holder}", path.display())]
    Locked {
        /// The cache.
        path: PathBuf,
        /// The process, its start, and its command.
        holder: String,
    },
    /// A new cache would replace another one.
    #[error("{} is a cache already", path.display())]
    Exists {
        /// The cache.
        path: PathBuf,
    },
    /// A new cache would replace this file, in a folder that is not a cache.
    #[error("{} is not part of a cache and would be replaced: choose another folder, or move it away", path.display())]
    NotOurs {
        /// The file or folder.
        path: PathBuf,
    },
    /// A path of the cache is a link.
    #[error("{} is a link: a cache is not written through links", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Writing stopped after an error that was returned earlier.
    #[error("writing has stopped after an earlier error")]
    Stopped,
}

impl CacheError {
    pub(super) fn damaged(path: &Path, what: impl ToString) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    pub(super) fn foreign(path: &Path, what: impl ToString) -> Self {
        Self::Foreign {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    pub(super) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |reason| Self::Read { path, reason }
    }
}
