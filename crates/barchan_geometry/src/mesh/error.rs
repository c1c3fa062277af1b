use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use glam::DVec3;
use thiserror::Error;

use super::files::MeshFormat;

/// Position of an error in a file.
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

/// Reason why a mesh cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The path is a folder.
    #[error("{} is a folder, not a mesh file", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The extension is of no known format.
    #[error("{} {}; allowed are {}", path.display(), unknown(extension.as_deref()), allowed())]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// Its extension, if it has one.
        extension: Option<String>,
    },
    /// The contents of the file at `path` are invalid.
    #[error("{}: {error}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<MeshError>,
    },
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file ends early.
    #[error("truncated at {place}: {missing}")]
    Truncated {
        /// Position of the end, or of the part that does not fit.
        place: Place,
        /// The missing part.
        missing: String,
    },
    /// The content has another format.
    #[error("this is not {format} data: {reason}")]
    NotThisFormat {
        /// Expected format.
        format: MeshFormat,
        /// The contradiction.
        reason: String,
    },
    /// A part of the file violates its format.
    #[error("{place}: {reason}")]
    Syntax {
        /// Position.
        place: Place,
        /// The error.
        reason: String,
    },
    /// The parts of the file are inconsistent.
    #[error("this {format} file is broken: {reason}")]
    Invalid {
        /// The file's format.
        format: MeshFormat,
        /// The error.
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
        /// Its index in the file, from 0.
        vertex: usize,
        /// Its position [m].
        position: DVec3,
    },
    /// A vertex is implausibly far away.
    #[error(
        "vertex {vertex} at {position} is farther out than {} m: check the units",
        super::MAX_COORDINATE
    )]
    TooFar {
        /// Its index in the file, from 0.
        vertex: usize,
        /// Its position [m].
        position: DVec3,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error(
        "triangle {triangle}{} names vertex {index}, but there are {vertices} vertices (numbered from {first})",
        line.map(|l| format!(" (line {l})")).unwrap_or_default()
    )]
    IndexOutOfRange {
        /// Index of the triangle in the file, from 0.
        triangle: usize,
        /// Line of the triangle, in a text file.
        line: Option<usize>,
        /// Vertex index as written in the file.
        index: i64,
        /// Number of vertices.
        vertices: usize,
        /// Index of the first vertex in this format.
        first: usize,
    },
    /// There are more triangles or vertices than can be counted, or than the size of the file can plausibly contain.
    #[error("the mesh has more than {limit} {what}")]
    TooMany {
        /// `triangles` or `vertices`.
        what: &'static str,
        /// Allowed number.
        limit: usize,
    },
    /// There are no triangles.
    #[error("there are no triangles{}", all_degenerate(*dropped))]
    NoTriangles {
        /// Number of triangles before degenerate ones were dropped.
        dropped: usize,
    },
    /// The surface encloses no volume.
    #[error("the mesh encloses no volume ({volume:.3e} m³ at {area:.3e} m² of surface): it is a sheet, not a solid")]
    NoVolume {
        /// Signed volume [m³].
        volume: f64,
        /// Area [m²].
        area: f64,
    },
}

impl MeshError {
    /// Adds the file to the error, unless it names one already.
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

    /// Returns the error without the file's name.
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
