//! Errors of pictures.

use glam::Vec3;
use thiserror::Error;

/// Invalid input, or a file that could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels, or more than memory would hold.
    #[error("an image has 1 to {limit} pixels per side, got {width} x {height}")]
    Size {
        /// Requested width [px].
        width: u32,
        /// Requested height [px].
        height: u32,
        /// Largest number of pixels per side [px].
        limit: u32,
    },
    /// There are more surfaces than 32 bits can number.
    #[error("at most {limit} spheres and triangles together, got {count}")]
    TooMany {
        /// Spheres and triangles [-].
        count: usize,
        /// Largest number [-].
        limit: usize,
    },
    /// A column does not have one value per sphere.
    #[error("{spheres} spheres, but {count} of {what}")]
    Count {
        /// Radii, colors, ids or wetness.
        what: &'static str,
        /// Number of spheres [-].
        spheres: usize,
        /// Number of values [-].
        count: usize,
    },
    /// No material is given.
    #[error("grains need at least one material")]
    NoColor,
    /// A triangle refers to a vertex that the mesh does not have.
    #[error("triangle {triangle} of mesh {mesh} names vertex {vertex}, but there are {vertices}")]
    Vertex {
        /// Index of the mesh [-].
        mesh: usize,
        /// Index of its triangle [-].
        triangle: usize,
        /// Index of the vertex [-].
        vertex: u32,
        /// Number of vertices [-].
        vertices: usize,
    },
    /// Position and target of the camera coincide or are not finite.
    #[error("the camera needs two distinct finite points, got position {position} and target {target}")]
    Camera {
        /// Position [m].
        position: Vec3,
        /// Target [m].
        target: Vec3,
    },
    /// The field of view is not between 0 and 180 degrees.
    #[error("the vertical field of view must lie between 0 and pi rad, got {fov}")]
    FieldOfView {
        /// Requested angle [rad].
        fov: f32,
    },
    /// The direction to the sun is invalid.
    #[error("the direction to the sun must be finite and not zero, got {direction}")]
    Sun {
        /// Requested direction [-].
        direction: Vec3,
    },
    /// The GPU failed.
    #[error(transparent)]
    Gpu(#[from] barchan_gpu::GpuError),
    /// The file could not be opened.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// The image could not be encoded or written.
    #[error("cannot write the image: {0}")]
    Png(#[from] png::EncodingError),
    /// The layers could not be written.
    #[error("cannot write the layers: {0}")]
    Exr(std::io::Error),
}
