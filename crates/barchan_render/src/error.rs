//! What can be wrong with a picture.

use glam::Vec3;
use thiserror::Error;

/// A mistake in the input, or a file that could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No pixels, or more of them than memory would hold.
    #[error("an image has 1 to {limit} pixels a side, got {width} x {height}")]
    Size {
        /// Width asked for [px].
        width: u32,
        /// Height asked for [px].
        height: u32,
        /// Most pixels a side [px].
        limit: u32,
    },
    /// Surfaces are numbered with 32 bits.
    #[error("at most {limit} spheres and triangles together, got {count}")]
    TooMany {
        /// Spheres and triangles [-].
        count: usize,
        /// Most of them [-].
        limit: usize,
    },
    /// One value a sphere is needed.
    #[error("{spheres} spheres, but {count} {what}")]
    Count {
        /// Radii, colors or ids.
        what: &'static str,
        /// Number of spheres [-].
        spheres: usize,
        /// Number of values [-].
        count: usize,
    },
    /// Grains of no kind.
    #[error("grains need the colour of at least one kind")]
    NoColor,
    /// A triangle names a vertex that the mesh does not have.
    #[error("triangle {triangle} of mesh {mesh} names vertex {vertex}, but there are {vertices}")]
    Vertex {
        /// Index of the mesh [-].
        mesh: usize,
        /// Index of its triangle [-].
        triangle: usize,
        /// The vertex it names [-].
        vertex: u32,
        /// Number of vertices [-].
        vertices: usize,
    },
    /// The camera looks at itself, or a number of it is not finite.
    #[error("the camera needs two distinct finite points, got position {position} and target {target}")]
    Camera {
        /// Where it stands [m].
        position: Vec3,
        /// Where it looks [m].
        target: Vec3,
    },
    /// The field of view is not an angle that a flat image can show.
    #[error("the vertical field of view must lie between 0 and pi rad, got {fov}")]
    FieldOfView {
        /// Angle asked for [rad].
        fov: f32,
    },
    /// The sun is nowhere.
    #[error("the direction to the sun must be finite and not zero, got {direction}")]
    Sun {
        /// Direction asked for [-].
        direction: Vec3,
    },
    /// The graphics adapter could not draw it.
    #[error(transparent)]
    Gpu(#[from] barchan_gpu::GpuError),
    /// The file could not be opened.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The image could not be encoded or written.
    #[error("cannot write the image: {0}")]
    Png(#[from] png::EncodingError),
}
