//! A folder that one process writes to.
//!
//! The lock on the file `.barchan.lock` ends with the process in any case; the file itself stays.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::writer::clear;
use super::{CacheError, Manifest, Part, journal, manifest};
use crate::WriteError;
use crate::atomic::check_writable;

const LOCK: &str = ".barchan.lock";
/// Subfolder for files that are not yet part of the cache.
const STAGING: &str = ".barchan.part";
/// Largest length of a lock file that is read [bytes]; ours are shorter.
const MAX_LOCK_BYTES: u64 = 1 << 16;

/// Everything that a run writes into its folder, the manifest first.
const NAMES: [&str; 10] = [
    manifest::FILE,
    journal::FILE,
    "stats.jsonl",
    "stage.json",
    "meshes",
    "guides",
    "grains",
    "bodies",
    "joints",
    "checkpoint",
];

/// The process that holds the lock, as its lock file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    barchan: String,
    process: u32,
    /// Time at which the lock was taken [s since 1970].
    since: u64,
    command: String,
}

/// A cache's folder, locked: no other barchan process writes to it meanwhile.
#[derive(Debug)]
pub struct CacheFolder {
    dir: PathBuf,
    lock: File,
    /// The folder was created for this lock, and nothing has been written into it.
    is_new: bool,
}

impl CacheFolder {
    /// Locks the folder of a new cache, and creates it if it is missing. Rejects a cache with frames unless `replace`,
    /// and always rejects a folder with foreign files under names of a cache. Changes nothing but the lock file.
    pub fn create(dir: &Path, replace: bool) -> Result<Self, CacheError> {
        reject_foreign(dir)?;
        let is_new = !dir.exists();
        fs::create_dir_all(dir).map_err(writing(dir))?;
        let mut folder = Self::lock(dir)?;
        folder.is_new = is_new;
        // Another process may have written in between.
        reject_foreign(dir)?;
        if !replace && has_frames(dir)? {
            return Err(CacheError::Exists { path: dir.to_owned() });
        }
        folder.try_writing()?;
        Ok(folder)
    }

    /// Locks the folder of an existing cache.
    pub fn open(dir: &Path) -> Result<Self, CacheError> {
        Manifest::read(dir)?;
        reject_links(dir)?;
        let folder = Self::lock(dir)?;
        folder.try_writing()?;
        Ok(folder)
    }

    /// Returns its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Locks the lock file and writes the holder into it.
    fn lock(dir: &Path) -> Result<Self, CacheError> {
        let path = dir.join(LOCK);
        refuse_link(&path)?;
        let options = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut lock = options.map_err(writing(&path))?;
        let held = match lock.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            // Some network file systems do not support locks; runs there go without.
            Err(TryLockError::Error(reason)) if reason.kind() == io::ErrorKind::Unsupported => false,
            Err(TryLockError::Error(reason)) => return Err(writing(&path)(reason).into()),
        };
        let mut text = Vec::new();
        // On some systems a locked file cannot be read.
        let _ = (&mut lock).take(MAX_LOCK_BYTES).read_to_end(&mut text);
        let before: Option<Holder> = serde_json::from_slice(&text).ok();
        if held {
            let holder = before.map_or("another process".to_owned(), |holder| holder.to_string());
            let path = dir.to_owned();
            return Err(CacheError::Locked { path, holder });
        }
        if !text.is_empty() && before.is_none() {
            return Err(CacheError::foreign(&path, "it is not a lock file"));
        }
        write_holder(&mut lock).map_err(writing(&path))?;
        Ok(Self {
            dir: dir.to_owned(),
            lock,
            is_new: false,
        })
    }

    /// Tries to write beside each file that a run replaces: fails early where a run would fail late.
    fn try_writing(&self) -> Result<(), WriteError> {
        check_writable(&self.dir.join("probe"))?;
        let folders = NAMES.iter().map(|name| self.dir.join(name));
        for folder in folders.filter(|path| path.is_dir()) {
            check_writable(&folder.join("probe"))?;
        }
        Ok(())
    }

    /// Creates an empty subfolder for files that become part of the cache together or not at all.
    pub fn stage(&self) -> Result<Staging, CacheError> {
        let staging = Staging {
            dir: self.dir.join(STAGING),
        };
        // A killed process may have left one.
        staging.remove().map_err(writing(&staging.dir))?;
        fs::create_dir_all(&staging.dir).map_err(writing(&staging.dir))?;
        Ok(staging)
    }

    /// Replaces the cache in the folder, if any, by the complete cache in `staging`. Leaves foreign files alone.
    pub fn adopt(mut self, staging: &Staging) -> Result<(), CacheError> {
        let mut staged = Manifest::read(&staging.dir)?;
        staged.frames.clear();
        clear(&self.dir, &staged)?;
        self.keep();
        Ok(staging.move_to(&self.dir)?)
    }

    /// Marks the folder as written to: it is not removed.
    pub(super) fn keep(&mut self) {
        self.is_new = false;
    }
}

/// Subfolder for files that are not yet part of the cache. Removed when dropped.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
}

impl Staging {
    /// Returns its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Moves the files of a cache into its folder, the manifest last, so that listed files exist.
    pub(super) fn move_to(&self, dir: &Path) -> Result<(), WriteError> {
        for name in NAMES.iter().rev() {
            let (from, to) = (self.dir.join(name), dir.join(name));
            if from.is_dir() {
                fs::create_dir_all(&to).map_err(writing(&to))?;
                for entry in fs::read_dir(&from).map_err(writing(&to))?.flatten() {
                    let to = to.join(entry.file_name());
                    fs::rename(entry.path(), &to).map_err(writing(&to))?;
                }
            } else if from.is_file() {
                fs::rename(from, &to).map_err(writing(&to))?;
            }
        }
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.dir) {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The next staging removes any remainder.
        let _ = self.remove();
    }
}

impl Drop for CacheFolder {
    fn drop(&mut self) {
        // The lock is released; errors here are harmless.
        let _ = self.lock.set_len(0);
        if self.is_new {
            let _ = fs::remove_file(self.dir.join(LOCK));
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = now.saturating_sub(Duration::from_secs(self.since)).as_secs();
        let age = match age {
            0..120 => format!("{age} s"),
            120..7200 => format!("{} min", age / 60),
            _ => format!("{} h", age / 3600),
        };
        write!(f, "process {} for {age}: {}", self.process, self.command)
    }
}

fn write_holder(lock: &mut File) -> io::Result<()> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let command = words.collect::<Vec<_>>().join(" ");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let holder = Holder {
        barchan: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        since: now.as_secs(),
        // A very long command line must not make the file unreadable.
        command: command.chars().filter(|c| !c.is_control()).take(2000).collect(),
    };
    let text = serde_json::to_vec(&holder).expect("names and numbers");
    lock.set_len(0)?;
    lock.rewind()?;
    lock.write_all(&text)
}

/// Rejects a folder that is not a cache but has an entry under a name of a cache. Empty folders are allowed.
fn reject_foreign(dir: &Path) -> Result<(), CacheError> {
    match Manifest::read(dir) {
        Ok(_) | Err(CacheError::Format { .. }) => return reject_links(dir),
        Err(CacheError::NotACache { .. }) if !dir.exists() => return Ok(()),
        Err(CacheError::NotACache { .. }) if dir.is_dir() => {}
        Err(error) => return Err(error),
    }
    reject_links(dir)?;
    for name in NAMES {
        let path = dir.join(name);
        let Ok(kind) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_empty = kind.is_dir() && fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
        if !is_empty {
            return Err(CacheError::NotOurs { path });
        }
    }
    Ok(())
}

/// Rejects a cache with a file or folder that is a link: its target may belong to others.
fn reject_links(dir: &Path) -> Result<(), CacheError> {
    NAMES.iter().try_for_each(|name| refuse_link(&dir.join(name)))
}

fn refuse_link(path: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(path).is_ok_and(|kind| kind.is_symlink()) {
        true => Err(CacheError::Link { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Returns true if the folder holds a cache with frames; one of another version counts.
fn has_frames(dir: &Path) -> Result<bool, CacheError> {
    match Manifest::read(dir) {
        Ok(manifest) => Ok(!manifest.frames.is_empty()),
        Err(CacheError::Format { .. }) => Ok(true),
        Err(CacheError::NotACache { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn writing(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |reason| WriteError { path, reason }
}

/// Returns the total size of all files in a folder and below [bytes]; links are not followed.
pub fn folder_bytes(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.metadata()?;
        bytes += match kind.is_dir() {
            true => folder_bytes(&entry.path())?,
            false => kind.len(),
        };
    }
    Ok(bytes)
}

/// Returns the folders of a cache's frames and checkpoint.
pub(super) fn folders(dir: &Path) -> Vec<PathBuf> {
    let parts = Part::ALL.iter().map(|part| part.name());
    parts.chain(["checkpoint"]).map(|name| dir.join(name)).collect()
}
