//! Atomic writes: a file is complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {reason}", path.display())]
pub struct WriteError {
    /// Path of the file.
    pub path: PathBuf,
    /// The system's message.
    pub reason: io::Error,
}

/// Writes a temporary file beside `path` and renames it. On an error the previous file stays, and nothing is left over.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), WriteError> {
    let beside = beside(path);
    let written = File::create(&beside).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        fs::rename(&beside, path)
    });
    written.map_err(|reason| {
        // The file may never have been created; the first error is the one to report.
        let _ = fs::remove_file(&beside);
        WriteError {
            path: path.to_owned(),
            reason,
        }
    })
}

/// A file that is written piece by piece beside its path, and renamed into it at the end. Dropped unfinished, it leaves
/// nothing behind.
pub(crate) struct StagedFile {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    length: u64,
}

impl StagedFile {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        make_parent(path)?;
        let file = File::create(beside(path)).map_err(|reason| WriteError {
            path: path.to_owned(),
            reason,
        })?;
        Ok(Self {
            path: path.to_owned(),
            out: Some(BufWriter::with_capacity(1 << 20, file)),
            length: 0,
        })
    }

    /// Returns the number of bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes and returns their offset.
    pub fn put(&mut self, bytes: &[u8]) -> Result<u64, WriteError> {
        let at = self.length;
        self.with(|out| out.write_all(bytes))?;
        self.length += bytes.len() as u64;
        Ok(at)
    }

    /// Replaces bytes that were written before.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), WriteError> {
        let end = self.length;
        self.with(|out| {
            out.seek(SeekFrom::Start(at))?;
            out.write_all(bytes)?;
            out.seek(SeekFrom::Start(end)).map(|_| ())
        })
    }

    /// Moves the complete file to its path.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.with(BufWriter::flush)?;
        self.out = None;
        fs::rename(beside(&self.path), &self.path).map_err(|reason| WriteError {
            path: self.path.clone(),
            reason,
        })
    }

    fn with(&mut self, work: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), WriteError> {
        work(self.out.as_mut().expect("an unfinished file")).map_err(|reason| WriteError {
            path: self.path.clone(),
            reason,
        })
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            let _ = fs::remove_file(beside(&self.path));
        }
    }
}

/// Creates the folder of the file at `path`, if it is missing.
pub fn make_parent(path: &Path) -> Result<(), WriteError> {
    match path.parent() {
        None => Ok(()),
        Some(folder) => fs::create_dir_all(folder).map_err(|reason| WriteError {
            path: path.to_owned(),
            reason,
        }),
    }
}

/// Checks early that a file can be written at `path`.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let beside = beside(path);
    let tried = match path.is_dir() {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        false => File::create(&beside).and_then(|_| fs::remove_file(&beside)),
    };
    tried.map_err(|reason| WriteError {
        path: path.to_owned(),
        reason,
    })
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.ply");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(failed.unwrap_err().to_string().contains("points.ply"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_staged_file_is_complete_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.usdc");
        let mut file = StagedFile::create(&path).unwrap();
        file.put(b"....tables").unwrap();
        file.patch(0, b"head").unwrap();
        assert_eq!(file.put(b", end").unwrap(), 10);
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"headtables, end");
        drop(StagedFile::create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"headtables, end");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("points.ply");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("nowhere"), "{error}");
    }
}
