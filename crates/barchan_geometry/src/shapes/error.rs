use std::path::PathBuf;

/// Reason why a shape cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A number is out of range.
    #[error("{what} must be {allowed}, got {value}")]
    Value {
        /// Name of the parameter.
        what: &'static str,
        /// Given value.
        value: f64,
        /// Allowed values.
        allowed: String,
    },
    /// A direction has zero length.
    #[error("{what} must not be zero")]
    ZeroDirection {
        /// Name of the parameter.
        what: &'static str,
    },
    /// A profile has fewer than three different points.
    #[error("profile must have at least 3 different points, got {count}")]
    FewPoints {
        /// Number of different points.
        count: usize,
    },
    /// The points of a profile are collinear.
    #[error("profile must enclose an area, its points lie on one line")]
    NoArea,
    /// A profile intersects itself.
    #[error("profile must not cross or touch itself, edges {first} and {second} do (edge 0 leaves the first point)")]
    SelfIntersecting {
        /// Index of one edge.
        first: usize,
        /// Index of the other.
        second: usize,
    },
    /// A composition has no shapes.
    #[error("{what} must have at least one shape")]
    Empty {
        /// Name of the composition.
        what: &'static str,
    },
    /// A height image has an unsuitable size.
    #[error("a heightmap must have at least 2 x 2 and at most {most} samples, got {columns} x {rows}")]
    ImageSize {
        /// Samples along x.
        columns: usize,
        /// Samples along y.
        rows: usize,
        /// Largest number of samples.
        most: usize,
    },
    /// A height image cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    ImageFile {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// A height image is not a valid PNG.
    #[error("cannot read {} as a PNG image: {source}", path.display())]
    ImageFormat {
        /// The file.
        path: PathBuf,
        /// The decoder's message.
        source: png::DecodingError,
    },
}

impl ShapeError {
    /// Returns the name of the invalid parameter, for reporting its position.
    pub fn parameter(&self) -> &'static str {
        match self {
            Self::Value { what, .. } | Self::ZeroDirection { what } | Self::Empty { what } => what,
            Self::FewPoints { .. } | Self::NoArea | Self::SelfIntersecting { .. } => "profile",
            Self::ImageSize { .. } | Self::ImageFile { .. } | Self::ImageFormat { .. } => "file",
        }
    }
}

/// Returns `value` if `fits`, or an error that names the `allowed` values.
pub(super) fn allow(what: &'static str, value: f64, fits: bool, allowed: impl ToString) -> Result<f64, ShapeError> {
    if fits && value.is_finite() {
        Ok(value)
    } else {
        let allowed = allowed.to_string();
        Err(ShapeError::Value { what, value, allowed })
    }
}

pub(super) fn positive(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    allow(what, value, value > 0.0, "finite and above zero")
}

pub(super) fn not_negative(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    allow(what, value, value >= 0.0, "finite and not negative")
}

pub(super) fn finite(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    allow(what, value, true, "finite")
}

pub(super) fn all_positive(what: &'static str, values: glam::DVec3) -> Result<glam::DVec3, ShapeError> {
    for value in values.to_array() {
        positive(what, value)?;
    }
    Ok(values)
}
