use barchan_geometry::text::short;
use thiserror::Error;

/// Why bodies could not be set in motion.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BodiesError {
    /// A dynamic body without weight.
    #[error("body `{body}` is dynamic and needs a positive mass, got {} kg", short(*.mass))]
    Mass {
        /// Name of the body.
        body: String,
        /// Its mass [kg].
        mass: f64,
    },
    /// A dynamic body that resists no turning about some axis.
    #[error("body `{body}` is dynamic and needs positive moments of inertia, got {moments:?} kg m²")]
    Inertia {
        /// Name of the body.
        body: String,
        /// Its moments of inertia about x, y and z [kg m²].
        moments: [f64; 3],
    },
    /// A velocity or a place that is no number, or a rotation that is none.
    #[error("body `{body}` starts with the {what} {value}")]
    State {
        /// Name of the body.
        body: String,
        /// Name of the quantity.
        what: &'static str,
        /// Rejected value.
        value: String,
    },
    /// A surface that other bodies cannot touch.
    #[error("the surface of body `{body}` cannot collide: {reason}")]
    Surface {
        /// Name of the body.
        body: String,
        /// Cause of the error.
        reason: String,
    },
    /// A joint that cannot be.
    #[error("joint {joint} {reason}")]
    Joint {
        /// Its place in the list.
        joint: usize,
        /// Cause of the error.
        reason: String,
    },
}
