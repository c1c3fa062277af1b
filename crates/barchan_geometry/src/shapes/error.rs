use std::path::PathBuf;

/// Why a shape cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A number outside what the shape allows.
    #[error("{what} must be {allowed}, got {value}")]
    Value {
        /// Name of the parameter.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        allowed: String,
    },
    /// A direction of zero length.
    #[error("{what} must not be zero")]
    ZeroDirection {
        /// Name of the parameter.
        what: &'static str,
    },
    /// A profile that is no polygon.
    #[error("profile must have at least 3 different points, got {count}")]
    FewPoints {
        /// How many different points there are.
        count: usize,
    },
    /// A profile folded flat.
    #[error("profile must enclose an area, its points lie on one line")]
    NoArea,
    /// A profile whose inside is not defined.
    #[error("profile must not cross or touch itself, edges {first} and {second} do (edge 0 leaves the first point)")]
    SelfIntersecting {
        /// Number of one edge.
        first: usize,
        /// Number of the other.
        second: usize,
    },
    /// A composition of nothing.
    #[error("{what} must have at least one shape")]
    Empty {
        /// Name of the composition.
        what: &'static str,
    },
    /// A height image of unsuitable size.
    #[error("a heightmap must have at least 2 x 2 and at most {most} samples, got {columns} x {rows}")]
    ImageSize {
        /// Samples along x.
        columns: usize,
        /// Samples along y.
        rows: usize,
        /// Largest number of samples.
        most: usize,
    },
    /// A height image that cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    ImageFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A height image that is not a good PNG.
    #[error("cannot read {} as a PNG image: {source}", path.display())]
    ImageFormat {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        source: png::DecodingError,
    },
}

impl ShapeError {
    /// Name of the parameter at fault; for reporting it where it was written.
    pub fn parameter(&self) -> &'static str {
        match self {
            Self::Value { what, .. } | Self::ZeroDirection { what } | Self::Empty { what } => what,
            Self::FewPoints { .. } | Self::NoArea | Self::SelfIntersecting { .. } => "profile",
            Self::ImageSize { .. } | Self::ImageFile { .. } | Self::ImageFormat { .. } => "file",
        }
    }
}

/// `value` if `fits`, or an error that names what is `allowed`.
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
