//! Atomic writes: a file is complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
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
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("points.ply");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("nowhere"), "{error}");
    }
}
