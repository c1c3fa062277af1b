//! A folder that one process writes to.
//!
//! The lock is held on the file `.barchan.lock` and ends with the process, however that ends; the file itself stays.

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
/// Folder within a cache's folder for what is not part of the cache yet.
const STAGING: &str = ".barchan.part";
/// A lock file of ours is shorter; others are not read further.
const LONGEST_LOCK: u64 = 1 << 16;

/// Everything that a run writes into its folder, the manifest first.
const NAMES: [&str; 9] = [
    manifest::FILE,
    journal::FILE,
    "stats.jsonl",
    "stage.json",
    "meshes",
    "guides",
    "grains",
    "bodies",
    "checkpoint",
];

/// The process that writes to a folder, as its lock file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    barchan: String,
    process: u32,
    /// Seconds since 1970, when the lock was taken.
    since: u64,
    command: String,
}

/// A cache's folder, locked: no other process of ours writes to it meanwhile.
#[derive(Debug)]
pub struct CacheFolder {
    dir: PathBuf,
    lock: File,
    /// The folder was made for this lock, and nothing was written into it yet.
    is_new: bool,
}

impl CacheFolder {
    /// Locks the folder of a new cache, and makes it if it is missing. A cache that has frames is refused unless `replace`; a
    /// folder that holds other files of the names that a cache has is always refused. Changes nothing but the lock file.
    pub fn create(dir: &Path, replace: bool) -> Result<Self, CacheError> {
        refuse_foreign(dir)?;
        let is_new = !dir.exists();
        fs::create_dir_all(dir).map_err(writing(dir))?;
        let mut folder = Self::lock(dir)?;
        folder.is_new = is_new;
        // Another process may have come between.
        refuse_foreign(dir)?;
        if !replace && has_frames(dir)? {
            return Err(CacheError::Exists { path: dir.to_owned() });
        }
        folder.try_writing()?;
        Ok(folder)
    }

    /// Locks the folder of a cache that is there.
    pub fn open(dir: &Path) -> Result<Self, CacheError> {
        Manifest::read(dir)?;
        refuse_links(dir)?;
        let folder = Self::lock(dir)?;
        folder.try_writing()?;
        Ok(folder)
    }

    /// Returns its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Locks the lock file and writes into it who holds it.
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
            // Some network disks cannot lock; a run there is as safe as before there were locks.
            Err(TryLockError::Error(reason)) if reason.kind() == io::ErrorKind::Unsupported => false,
            Err(TryLockError::Error(reason)) => return Err(writing(&path)(reason).into()),
        };
        let mut text = Vec::new();
        // On some systems a locked file cannot be read.
        let _ = (&mut lock).take(LONGEST_LOCK).read_to_end(&mut text);
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

    /// Tries to write beside each file of the cache that a run replaces: fails early where a run would fail late.
    fn try_writing(&self) -> Result<(), WriteError> {
        check_writable(&self.dir.join("probe"))?;
        let folders = NAMES.iter().map(|name| self.dir.join(name));
        for folder in folders.filter(|path| path.is_dir()) {
            check_writable(&folder.join("probe"))?;
        }
        Ok(())
    }

    /// Makes an empty folder within this one, for files that become part of the cache together or not at all.
    pub fn stage(&self) -> Result<Staging, CacheError> {
        let staging = Staging {
            dir: self.dir.join(STAGING),
        };
        // A killed process may have left one.
        staging.remove().map_err(writing(&staging.dir))?;
        fs::create_dir_all(&staging.dir).map_err(writing(&staging.dir))?;
        Ok(staging)
    }

    /// Puts the whole cache in `staging` in place of the one in the folder, if any. Files that are not of a cache are left alone.
    pub fn adopt(mut self, staging: &Staging) -> Result<(), CacheError> {
        let mut staged = Manifest::read(&staging.dir)?;
        staged.frames.clear();
        clear(&self.dir, &staged)?;
        self.keep();
        Ok(staging.move_to(&self.dir)?)
    }

    /// Notes that something was written: the folder stays.
    pub(super) fn keep(&mut self) {
        self.is_new = false;
    }
}

/// A folder within a cache's folder for what is not part of the cache yet. Removed when dropped.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
}

impl Staging {
    /// Returns its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Moves the files of a cache into its folder, the manifest last: what it lists is there.
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
        // The next one removes what is left.
        let _ = self.remove();
    }
}

impl Drop for CacheFolder {
    fn drop(&mut self) {
        // Nobody holds it any longer; what fails here harms nobody.
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
        // An endless command line must not make the file unreadable.
        command: command.chars().filter(|c| !c.is_control()).take(2000).collect(),
    };
    let text = serde_json::to_vec(&holder).expect("names and numbers");
    lock.set_len(0)?;
    lock.rewind()?;
    lock.write_all(&text)
}

/// Fails if the folder is no cache of ours but holds something of a name that a cache has. Empty folders are no harm.
fn refuse_foreign(dir: &Path) -> Result<(), CacheError> {
    match Manifest::read(dir) {
        Ok(_) | Err(CacheError::Format { .. }) => return refuse_links(dir),
        Err(CacheError::NotACache { .. }) if !dir.exists() => return Ok(()),
        Err(CacheError::NotACache { .. }) if dir.is_dir() => {}
        Err(error) => return Err(error),
    }
    refuse_links(dir)?;
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

/// Fails if a file or folder of the cache is a link: what it leads to may belong to others.
fn refuse_links(dir: &Path) -> Result<(), CacheError> {
    NAMES.iter().try_for_each(|name| refuse_link(&dir.join(name)))
}

fn refuse_link(path: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(path).is_ok_and(|kind| kind.is_symlink()) {
        true => Err(CacheError::Link { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Whether the folder holds a cache with frames; one of another version counts as such.
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

/// Returns the sum of the lengths of all files in a folder and in those below it [bytes]; links are not followed.
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

/// The folders of a cache's frames and checkpoint.
pub(super) fn folders(dir: &Path) -> Vec<PathBuf> {
    let parts = Part::ALL.iter().map(|part| part.name());
    parts.chain(["checkpoint"]).map(|name| dir.join(name)).collect()
}
