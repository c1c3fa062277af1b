//! Errors in the input of a search.

use thiserror::Error;

/// A mistake in the input; the value and its place are in the message.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A coordinate is NaN or infinite.
    #[error("position {index} is not finite: {position}")]
    Position {
        /// Index of the first such point [-].
        index: usize,
        /// Its position [m].
        position: glam::Vec3,
    },
    /// The reach is zero, negative, NaN or infinite.
    #[error("reach must be finite and > 0 m, got {reach}")]
    Reach {
        /// The reach [m].
        reach: f32,
    },
    /// Indices are `u32`, and the last one is reserved.
    #[error("at most {} points, got {count}", u32::MAX - 1)]
    TooMany {
        /// Number of points [-].
        count: usize,
    },
    /// A periodic range is empty, reversed or not finite.
    #[error("periodic range of axis {axis} must be finite with low < high, got {low}..{high}")]
    Range {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
        /// Lower end [m].
        low: f32,
        /// Upper end [m].
        high: f32,
    },
    /// A period so short that a pair would have two images within reach.
    #[error("period {period} m of axis {axis} is below twice the reach {reach} m")]
    Period {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
        /// Length of the range [m].
        period: f32,
        /// The reach [m].
        reach: f32,
    },
    /// One radius per point is needed.
    #[error("{points} points, but {radii} radii")]
    RadiusCount {
        /// Number of points [-].
        points: usize,
        /// Number of radii [-].
        radii: usize,
    },
    /// A radius is negative or not finite.
    #[error("radius {index} must be finite and >= 0 m, got {radius}")]
    Radius {
        /// Index of the first such radius [-].
        index: usize,
        /// The radius [m].
        radius: f32,
    },
    /// Scale or margin of a contact rule is negative or not finite.
    #[error("contact rule needs finite scale >= 0 and margin >= 0 m, got {scale} and {margin}")]
    Rule {
        /// Factor on the sum of the radii [-].
        scale: f32,
        /// Length added [m].
        margin: f32,
    },
    /// The grid was built for a shorter reach than the largest pair needs.
    #[error("the grid was built for a reach of {built} m, the largest pair needs {needed} m")]
    GridReach {
        /// Reach of the grid [m].
        built: f32,
        /// Reach needed [m].
        needed: f32,
    },
}
