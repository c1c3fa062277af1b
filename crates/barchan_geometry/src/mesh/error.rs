use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use glam::DVec3;
use thiserror::Error;

use super::files::MeshFormat;

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(usize),
    /// Offset in bytes, from 0.
    Byte(usize),
    /// Face in the file's order, from 0.
    Face(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Face(number) => write!(f, "face {number}"),
        }
    }
}

/// Why a mesh could not be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder was given.
    #[error("{} is a folder, not a mesh file", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The file's name does not tell its format.
    #[error("{} {}; allowed are {}", path.display(), unknown(extension.as_deref()), allowed())]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// Its extension, if it has one.
        extension: Option<String>,
    },
    /// Something is wrong inside the file at `path`.
    #[error("{}: {error}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Box<MeshError>,
    },
    /// There is not one byte.
    #[error("the file is empty")]
    Empty,
    /// The file ends early.
    #[error("truncated at {place}: {missing}")]
    Truncated {
        /// Where it ends, or where the part begins that does not fit.
        place: Place,
        /// What is missing.
        missing: String,
    },
    /// The content is of another kind.
    #[error("this is not {format} data: {reason}")]
    NotThisFormat {
        /// What was expected.
        format: MeshFormat,
        /// What speaks against it.
        reason: String,
    },
    /// A part of the file breaks the rules of its format.
    #[error("{place}: {reason}")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong.
        reason: String,
    },
    /// The parts of the file do not fit together.
    #[error("this {format} file is broken: {reason}")]
    Invalid {
        /// The file's format.
        format: MeshFormat,
        /// What is wrong.
        reason: String,
    },
    /// The file uses a feature that is not supported.
    #[error("this {format} file needs {feature}, which is not supported; export it without")]
    Unsupported {
        /// The file's format.
        format: MeshFormat,
        /// The feature.
        feature: String,
    },
    /// A vertex is NaN or infinite.
    #[error("vertex {vertex} is not finite: {position}")]
    NotFinite {
        /// Its number in the file's order, from 0.
        vertex: usize,
        /// Its position [m].
        position: DVec3,
    },
    /// A vertex is too far away to be meant.
    #[error(
        "vertex {vertex} at {position} is farther out than {} m: check the units",
        super::MAX_COORDINATE
    )]
    TooFar {
        /// Its number in the file's order, from 0.
        vertex: usize,
        /// Its position [m].
        position: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error(
        "triangle {triangle}{} names vertex {index}, but there are {vertices} vertices (numbered from {first})",
        line.map(|l| format!(" (line {l})")).unwrap_or_default()
    )]
    IndexOutOfRange {
        /// The triangle's number in the file's order, from 0.
        triangle: usize,
        /// The line it stands on, in a text file.
        line: Option<usize>,
        /// The vertex number as the file has it.
        index: i64,
        /// How many vertices there are.
        vertices: usize,
        /// The file's number of the first vertex.
        first: usize,
    },
    /// More triangles or vertices than can be counted, or than the size of the file can honestly stand for.
    #[error("the mesh has more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// There is nothing to build a surface from.
    #[error("there are no triangles{}", all_degenerate(*dropped))]
    NoTriangles {
        /// How many were there before the degenerate ones were dropped.
        dropped: usize,
    },
    /// The surface encloses nothing.
    #[error("the mesh encloses no volume ({volume:.3e} m³ at {area:.3e} m² of surface): it is a sheet, not a solid")]
    NoVolume {
        /// Signed volume [m³].
        volume: f64,
        /// Area [m²].
        area: f64,
    },
}

impl MeshError {
    /// The same error, with the file it belongs to, unless it names one already.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            named @ (Self::Read { .. } | Self::Folder { .. } | Self::UnknownExtension { .. } | Self::InFile { .. }) => {
                named
            }
            error => Self::InFile {
                path: path.to_owned(),
                error: Box::new(error),
            },
        }
    }

    /// The error itself, without the file's name around it.
    pub fn inner(&self) -> &Self {
        match self {
            Self::InFile { error, .. } => error.inner(),
            error => error,
        }
    }

    pub(crate) fn syntax(place: Place, reason: impl Into<String>) -> Self {
        Self::Syntax {
            place,
            reason: reason.into(),
        }
    }

    pub(crate) fn truncated(place: Place, missing: impl Into<String>) -> Self {
        Self::Truncated {
            place,
            missing: missing.into(),
        }
    }
}

fn allowed() -> String {
    MeshFormat::EXTENSIONS
        .map(|(extension, _)| format!(".{extension}"))
        .join(", ")
}

fn all_degenerate(dropped: usize) -> String {
    match dropped {
        0 => String::new(),
        _ => format!(": all {dropped} are degenerate"),
    }
}

fn unknown(extension: Option<&str>) -> String {
    match extension {
        Some(extension) => format!("has the unknown extension .{extension}"),
        None => "has no extension".to_owned(),
    }
}
