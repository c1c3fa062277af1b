//! Particles as positions and named columns.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use glam::DVec3;
use thiserror::Error;

use crate::{Values, WriteError, atomic, csv, make_parent, ply, vtp, write_atomically, xyz};

/// Particles to be written: one position each, and columns of the same length.
#[derive(Clone, Debug)]
pub struct Points<'a> {
    /// Centers [m].
    pub positions: &'a [DVec3],
    /// Additional columns, in the order in which they are written.
    pub columns: Vec<Column<'a>>,
}

/// A named value per particle.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name in the file.
    pub name: &'a str,
    /// One value per particle.
    pub values: Values<'a>,
}

/// Precision of positions in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits per coordinate.
    Single,
    /// 64 bits per coordinate.
    Double,
}

/// Accepted rounding of a position to 32 bits relative to the smallest radius [-].
const ACCEPTED_ROUNDING: f64 = 1e-3;

impl<'a> Points<'a> {
    /// Creates particles with a `radius` column [m].
    pub fn new(positions: &'a [DVec3], radii: &'a [f64]) -> Self {
        Self {
            positions,
            columns: Vec::new(),
        }
        .with("radius", Values::Scalar(radii))
    }

    /// Adds a column.
    ///
    /// # Panics
    /// If the column has another length.
    #[must_use]
    pub fn with(mut self, name: &'a str, values: Values<'a>) -> Self {
        assert_eq!(values.len(), self.positions.len(), "column {name}");
        self.columns.push(Column { name, values });
        self
    }

    /// Returns single precision, unless it would move particles far from the origin by a noticeable fraction of their
    /// radius.
    pub fn precision(&self) -> Precision {
        if self.positions.iter().all(|&p| p.as_vec3().as_dvec3() == p) {
            return Precision::Single;
        }
        let farthest = self.positions.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        let smallest = self
            .columns
            .iter()
            .find_map(|c| match c.values {
                Values::Scalar(radii) if c.name == "radius" => {
                    Some(radii.iter().copied().fold(f64::INFINITY, f64::min))
                }
                _ => None,
            })
            .unwrap_or(f64::INFINITY);
        if farthest * f64::from(f32::EPSILON) / 2.0 > ACCEPTED_ROUNDING * smallest {
            Precision::Double
        } else {
            Precision::Single
        }
    }
}

/// A format of point files.
pub struct PointFormat {
    /// Extension of its files, without the dot.
    pub extension: &'static str,
    /// Short description.
    pub about: &'static str,
    write: fn(&mut BufWriter<File>, &Points) -> io::Result<()>,
}

/// Every format of point files.
pub const POINT_FORMATS: &[PointFormat] = &[
    PointFormat {
        extension: "ply",
        about: "Stanford PLY, binary: positions, radii, normals",
        write: ply::write,
    },
    PointFormat {
        extension: "vtp",
        about: "VTK XML for ParaView: positions, radii, normals",
        write: vtp::write,
    },
    PointFormat {
        extension: "csv",
        about: "text with a header line: positions, radii, normals",
        write: csv::write,
    },
    PointFormat {
        extension: "xyz",
        about: "text, three coordinates a line: positions only",
        write: xyz::write,
    },
];

impl PointFormat {
    /// Returns the format of `path` by its extension.
    pub fn of_path(path: &Path) -> Result<&'static Self, PointFileError> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        POINT_FORMATS
            .iter()
            .find(|f| f.extension == extension)
            .ok_or_else(|| PointFileError::UnknownFormat { path: path.to_owned() })
    }
}

/// Reason why points cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PointFileError {
    /// The extension is of no known format.
    #[error("cannot tell the format of {} from its ending; allowed: {}", path.display(), extensions())]
    UnknownFormat {
        /// The path.
        path: PathBuf,
    },
    /// The system cannot write.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn extensions() -> String {
    let all: Vec<String> = POINT_FORMATS.iter().map(|f| format!(".{}", f.extension)).collect();
    all.join(", ")
}

/// Checks that [`write_points`] can write to `path`: the format is known, and the folder is writable. If the folder is
/// missing, its nearest existing parent must be writable.
pub fn check_writable(path: &Path) -> Result<(), PointFileError> {
    PointFormat::of_path(path)?;
    let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.exists();
    let above = path.ancestors().skip(1).find(is_there).unwrap_or(Path::new(""));
    let tried = match path.is_dir() {
        true => path.to_owned(),
        false => above.join(path.file_name().unwrap_or_default()),
    };
    atomic::check_writable(&tried).map_err(|error| WriteError {
        path: path.to_owned(),
        ..error
    })?;
    Ok(())
}

/// Writes particles in the format of `path`'s extension; the file is complete or absent. Creates a missing folder.
pub fn write_points(path: &Path, points: &Points) -> Result<(), PointFileError> {
    let format = PointFormat::of_path(path)?;
    make_parent(path)?;
    write_atomically(path, |out| (format.write)(out, points))?;
    Ok(())
}
