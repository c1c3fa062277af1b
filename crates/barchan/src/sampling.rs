//! Samples mesh files and shape texts with particles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use barchan_geometry::isosurface::{IsosurfaceError, isosurface};
use barchan_geometry::mesh::{self, LoadedSolid, MeshError, MeshFormat};
use barchan_geometry::sample::surface::{SurfaceError, SurfaceSample, SurfaceSettings, sample_surface};
use barchan_geometry::sample::{Particles, SampleError, VolumeSettings, min_distance, sample_volume};
use barchan_geometry::{Shape, TriMesh, mass};
use barchan_scene::{Diagnostics, Document, parse_shape};
use thiserror::Error;

pub use barchan_geometry::sample::VolumeSettings as Fill;
pub use barchan_geometry::sample::surface::SurfaceSettings as Cover;

/// Relative error accepted in the volume of a shape that has no closed form [-].
const VOLUME_TOLERANCE: f64 = 1e-3;

/// Voxels along a shape's longest side in the first, coarse surface [-].
const COARSE_VOXELS: f64 = 64.0;
/// Largest number of voxels along a shape's longest side [-]: about six million triangles.
const MAX_VOXELS: f64 = 1024.0;

/// Reason why something cannot be sampled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// The mesh file is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The shape's text is invalid.
    #[error("{0}")]
    Shape(Diagnostics),
    /// A shape file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// The system's message.
        reason: std::io::Error,
    },
    /// The volume cannot be sampled.
    #[error(transparent)]
    Volume(#[from] SampleError),
    /// The surface cannot be sampled.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The surface of a shape cannot be computed.
    #[error(transparent)]
    Isosurface(#[from] IsosurfaceError),
}

/// A solid to sample.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Its distance field.
    pub shape: Arc<dyn Shape>,
    /// Its triangles and their defects, if it came from a mesh file.
    pub mesh: Option<LoadedSolid>,
    /// Its file, if it came from one.
    pub path: Option<PathBuf>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Solid {
    /// Opens a mesh file, a shape's file (`.toml`), or a shape's text such as `{ sphere = { radius = 1 } }`.
    pub fn open(source: &str) -> Result<Self, SamplingError> {
        let path = Path::new(source);
        // A file name may hold any character; a text has braces or an equals sign.
        if source.trim_start().starts_with('{') || source.contains('=') && !path.exists() {
            return Self::from_text(&Document::new("shape", source));
        }
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
            let document = Document::read(path).map_err(|reason| SamplingError::Read {
                path: source.to_owned(),
                reason,
            })?;
            return Self::from_text(&document);
        }
        Self::from_mesh_file(path)
    }

    fn from_text(document: &Document) -> Result<Self, SamplingError> {
        let parsed = parse_shape(document).map_err(SamplingError::Shape)?;
        Ok(Self {
            shape: parsed.shape,
            mesh: None,
            path: None,
            warnings: parsed.warnings.iter().map(|w| w.render(document)).collect(),
        })
    }

    fn from_mesh_file(path: &Path) -> Result<Self, SamplingError> {
        MeshFormat::from_path(path)?;
        let loaded = mesh::load(path)?.into_solid();
        Ok(Self {
            shape: Arc::new(loaded.solid.clone()),
            warnings: loaded.report.warnings(),
            mesh: Some(loaded),
            path: Some(path.to_owned()),
        })
    }

    /// Fails unless there is an inside to fill: always for shapes, and for meshes that enclose a volume.
    pub fn require_volume(&self) -> Result<(), SamplingError> {
        let checked = self.mesh.as_ref().map_or(Ok(()), |mesh| mesh.report.require_volume());
        Ok(checked.map_err(|error| match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        })?)
    }

    /// Returns the enclosed volume [m³]: exact for closed meshes, otherwise within a thousandth.
    pub fn volume(&self) -> Option<f64> {
        match self.mesh.as_ref().and_then(|mesh| mesh.properties) {
            Some(properties) => Some(properties.volume),
            None => mass::of_shape(&*self.shape, VOLUME_TOLERANCE).ok().map(|m| m.volume),
        }
    }
}

/// Particles inside a solid, with their measures.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The particles.
    pub particles: Particles,
    /// Volume of the solid [m³].
    pub volume: Option<f64>,
    /// Volume of the particles relative to the solid's [-].
    pub packing: Option<f64>,
    /// Smallest distance of two centers relative to the sum of their radii [-].
    pub min_distance: Option<f64>,
    /// Time for sampling, without reading and measuring.
    pub time: Duration,
}

/// Fills a solid with particles and measures them. `progress` receives the completed share, 0 to 1.
pub fn fill(
    solid: &Solid,
    settings: &VolumeSettings,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Filled, SamplingError> {
    solid.require_volume()?;
    let start = Instant::now();
    let particles = sample_volume(&*solid.shape, settings, progress)?;
    let time = start.elapsed();
    let volume = solid.volume();
    Ok(Filled {
        packing: volume.map(|volume| particles.volume() / volume),
        volume,
        min_distance: min_distance(&particles.positions, &particles.radii),
        particles,
        time,
    })
}

/// Particles on a solid's surface, with their measures.
#[derive(Clone, Debug)]
pub struct Covered {
    /// The particles.
    pub sample: SurfaceSample,
    /// Their radius [m].
    pub radius: f64,
    /// Smallest distance of two centers relative to the diameter [-].
    pub min_distance: Option<f64>,
    /// Time for sampling, without reading and measuring.
    pub time: Duration,
}

/// Returns triangles to draw candidates from: as fine as the particles, but no finer than a [`MAX_VOXELS`]th of the shape.
/// A coarse surface first checks that the particles fit into memory.
fn surface_of(shape: &dyn Shape, settings: &SurfaceSettings) -> Result<TriMesh, SamplingError> {
    let size = shape.bounds().size().max_element();
    let mesh = |voxel: f64| isosurface(shape, voxel, 0.0, settings.memory_limit as usize);
    let coarse = mesh(settings.radius.max(size / COARSE_VOXELS))?;
    settings.check(&coarse)?;
    if settings.radius >= size / COARSE_VOXELS {
        return Ok(coarse);
    }
    Ok(mesh(settings.radius.max(size / MAX_VOXELS))?)
}

/// Covers a solid's surface with particles and measures them. `progress` receives the completed share, 0 to 1.
pub fn cover(
    solid: &Solid,
    settings: &SurfaceSettings,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Covered, SamplingError> {
    let start = Instant::now();
    let own;
    let surface = match &solid.mesh {
        Some(loaded) => loaded.solid.mesh(),
        None => {
            own = surface_of(&*solid.shape, settings)?;
            &own
        }
    };
    let sample = sample_surface(surface, &*solid.shape, settings, progress)?;
    let time = start.elapsed();
    let radii = vec![settings.radius; sample.positions.len()];
    Ok(Covered {
        min_distance: min_distance(&sample.positions, &radii),
        sample,
        radius: settings.radius,
        time,
    })
}
