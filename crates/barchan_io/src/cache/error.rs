//! What can be wrong with a cache.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::WriteError;

/// Why a cache cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The system refused to write.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The system refused to read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A folder that is no cache.
    #[error("{} is not a cache: {why}", path.display())]
    NotACache {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
    /// A file that was whole once.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file that the manifest lists.
    #[error("{} is missing, though the manifest lists it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file that something else wrote.
    #[error("{} was not written by barchan: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file of another version of this program.
    #[error("{} has format {found}; this version reads format {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// A frame that is not there.
    #[error("{} has no {what} of frame {frame}; it has {present}", path.display())]
    NoFrame {
        /// The cache.
        path: PathBuf,
        /// `guides`, `grains`, `bodies` or `files`.
        what: &'static str,
        /// The frame asked for.
        frame: u64,
        /// Those that are there, such as `0-41, 43`.
        present: String,
    },
    /// No run can go on from here.
    #[error("{} has no checkpoint", path.display())]
    NoCheckpoint {
        /// The cache.
        path: PathBuf,
    },
    /// Another process writes to the folder.
    #[error("{} is being written by {holder}", path.display())]
    Locked {
        /// The cache.
        path: PathBuf,
        /// The process, since when, and its command.
        holder: String,
    },
    /// A new cache would replace another one.
    #[error("{} is a cache already", path.display())]
    Exists {
        /// The cache.
        path: PathBuf,
    },
    /// A file that a new cache would replace, in a folder that is not a cache.
    #[error("{} is not part of a cache and would be replaced: choose another folder, or move it away", path.display())]
    NotOurs {
        /// The file or folder.
        path: PathBuf,
    },
    /// A link where files are written.
    #[error("{} is a link: a cache is not written through links", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Writing ended with an error that was told before.
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
