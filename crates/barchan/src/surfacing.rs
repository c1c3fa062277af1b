//! Surfaces of sand: triangle meshes around the particles of a cache, frame by frame.

use std::ops::RangeInclusive;
use std::path::Path;

use barchan_geometry::TriMesh;
use barchan_io::{Cache, CacheError, ExportError, FrameEntry, MeshSequence, Up};
use barchan_world::{Column, Table};
use glam::{DVec3, Vec3};
use splashsurf_lib::mesh::Mesh3d;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::postprocessing::par_laplacian_smoothing_inplace;
use splashsurf_lib::{Parameters, reconstruct_surface};
use thiserror::Error;

use crate::exporting::PictureColors;

/// Settings of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surfacing {
    /// Radius of the particles [m]; by default their mean radius.
    pub radius: Option<f64>,
    /// Edge of a cell of the grid on which the surface is found, in radii [-].
    pub cell: f64,
    /// Rounds of smoothing: each moves every vertex to the mean of its neighbors.
    pub smoothing: usize,
}

/// Radius of a particle's kernel, in radii of particles [-]: pores of settled sand close, and a layer of one particle stays.
const KERNEL: f64 = 4.0;
/// Density of the surface, relative to settled material [-].
const THRESHOLD: f64 = 0.6;

impl Default for Surfacing {
    fn default() -> Self {
        Self {
            radius: None,
            cell: 0.5,
            smoothing: 5,
        }
    }
}

/// Frames and files of [`mesh_cache`].
#[derive(Clone, Debug)]
pub struct MeshOptions<'a> {
    /// Kind of files: one of [`barchan_io::MESH_KINDS`].
    pub kind: &'a str,
    /// Numbers of the frames.
    pub frames: RangeInclusive<u64>,
    /// Takes every n-th of those frames; 0 counts as 1.
    pub every: usize,
    /// Takes guides even if there are grains.
    pub guides: bool,
    /// Factor of all lengths in the files [-].
    pub scale: f64,
    /// Axis that points upwards in the files.
    pub up: Up,
    /// Settings of the surface.
    pub surfacing: Surfacing,
}

/// Reason why surfaces cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SurfacingError {
    /// The cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The files cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A number is out of range.
    #[error("{what} must be {allowed}, got {found}")]
    Number {
        /// Name of the setting.
        what: &'static str,
        /// Allowed values.
        allowed: &'static str,
        /// The value.
        found: f64,
    },
    /// There are no such frames.
    #[error("the cache has no {particles} in these frames")]
    NoFrames {
        /// `grains` or `guides`.
        particles: &'static str,
    },
    /// The surface of a frame cannot be found.
    #[error("frame {frame}: {reason}")]
    Frame {
        /// Frame number.
        frame: u64,
        /// The error.
        reason: String,
    },
}

/// Returns the surface around spheres at `positions` [m], by splashsurf [Loeschner23]: marching cubes of the density of
/// an SPH kernel, then Laplacian smoothing. The same bits for any number of threads.
pub fn surface(positions: &[Vec3], radius: f64, settings: &Surfacing) -> Result<TriMesh, String> {
    let Some(low) = positions.iter().copied().reduce(Vec3::min) else {
        return Ok(TriMesh::default());
    };
    let high = positions.iter().copied().fold(low, Vec3::max);
    // Single precision: coordinates are small near the middle.
    let origin = 0.5 * (low + high);
    let points: Vec<Vector3<f32>> = positions
        .iter()
        .map(|&p| Vector3::from((p - origin).to_array()))
        .collect();
    let mut parameters = Parameters::new_relative(radius as f32, KERNEL as f32, settings.cell as f32);
    parameters.iso_surface_threshold = THRESHOLD as f32;
    // Fused multiply-add would give other bits on other processors.
    parameters.enable_simd = false;
    let found = reconstruct_surface::<i64, f32>(&points, &parameters).map_err(|error| error.to_string())?;
    let mut mesh = found.mesh;
    let neighbors = mesh.vertex_vertex_connectivity();
    let weights = vec![1.0; mesh.vertices.len()];
    par_laplacian_smoothing_inplace(&mut mesh, &neighbors, settings.smoothing, 1.0, &weights);
    let origin = origin.as_dvec3();
    let vertex = |v: &Vector3<f32>| DVec3::new(v.x.into(), v.y.into(), v.z.into()) + origin;
    Ok(TriMesh {
        vertices: mesh.vertices.iter().map(vertex).collect(),
        triangles: mesh.triangles.iter().map(|t| t.map(|corner| corner as u32)).collect(),
    })
}

/// Writes the surface of each frame of the cache in `dir` to files in `out`; returns the number of frames. `progress`
/// receives the number of finished frames and the total.
pub fn mesh_cache(
    dir: &Path,
    out: &Path,
    options: &MeshOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<usize, SurfacingError> {
    let allowed = "positive and finite";
    for (what, found) in [
        ("the radius", options.surfacing.radius.unwrap_or(1.0)),
        ("the scale", options.scale),
    ] {
        if !(found > 0.0 && found.is_finite()) {
            return Err(SurfacingError::Number { what, allowed, found });
        }
    }
    let cell = options.surfacing.cell;
    if !(0.1..=2.0).contains(&cell) {
        return Err(SurfacingError::Number {
            what: "the cell",
            allowed: "0.1 to 2 radii",
            found: cell,
        });
    }
    let cache = Cache::open(dir)?;
    let has_grains = !options.guides && cache.frames().iter().any(|entry| entry.grains.is_some());
    let has_rows = |entry: &&FrameEntry| match has_grains {
        true => entry.grains.is_some(),
        false => entry.guides.is_some(),
    };
    let frames: Vec<u64> = (cache.frames().iter())
        .filter(has_rows)
        .filter(|entry| options.frames.contains(&entry.frame))
        .step_by(options.every.max(1))
        .map(|entry| entry.frame)
        .collect();
    let particles = if has_grains { "grains" } else { "guides" };
    if frames.is_empty() {
        return Err(SurfacingError::NoFrames { particles });
    }
    let color = PictureColors::load(dir)?.first_material();
    let rate = cache.manifest().run.frame_rate;
    let mut files = MeshSequence::create(options.kind, out, (options.scale, options.up), rate, color)?;
    // One radius for all frames, or the surface would breathe.
    let mut radius = options.surfacing.radius;
    for (done, &frame) in frames.iter().enumerate() {
        let table = match has_grains {
            true => cache.read_grains(frame)?,
            false => cache.read_guides(frame)?,
        };
        let failed = |reason: String| SurfacingError::Frame { frame, reason };
        let Some(Column::Vec3(positions)) = table.column("position") else {
            return Err(failed(format!("the {particles} have no positions")));
        };
        let mesh = match radius.or_else(|| mean_radius(&table)) {
            Some(known) => {
                radius = Some(known);
                surface(positions, known, &options.surfacing).map_err(failed)?
            }
            None if positions.is_empty() => TriMesh::default(),
            None => {
                return Err(failed(
                    "the particles have no radius: give one with --radius".to_owned(),
                ));
            }
        };
        files.push(frame, mesh)?;
        progress(done + 1, frames.len());
    }
    files.finish()?;
    Ok(frames.len())
}

fn mean_radius(table: &Table) -> Option<f64> {
    match table.column("radius") {
        Some(Column::F32(radii)) if !radii.is_empty() => {
            let sum: f64 = radii.iter().map(|&radius| f64::from(radius)).sum();
            Some(sum / radii.len() as f64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spheres of radius 0.05 on a lattice within a ball of radius 1, about as dense as settled sand.
    fn ball() -> Vec<Vec3> {
        let side = -12..=12i32;
        let places = side.clone().flat_map(|x| {
            let side = side.clone();
            side.clone()
                .flat_map(move |y| side.clone().map(move |z| Vec3::new(x as f32, y as f32, z as f32)))
        });
        places.map(|p| 0.095 * p).filter(|p| p.length() < 0.95).collect()
    }

    #[test]
    fn the_surface_of_a_ball_is_a_closed_sphere() {
        let mesh = surface(&ball(), 0.05, &Surfacing::default()).unwrap();
        let radii: Vec<f64> = mesh.vertices.iter().map(|v| v.length()).collect();
        let (low, high) = radii
            .iter()
            .fold((f64::MAX, 0.0f64), |(low, high), &r| (low.min(r), high.max(r)));
        assert!(low > 0.85 && high < 1.05, "{low} to {high}");
        // Each edge belongs to two triangles that run along it in opposite directions.
        let mut edges = std::collections::HashMap::new();
        for t in &mesh.triangles {
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
            }
        }
        assert!(
            edges
                .iter()
                .all(|(&(a, b), &count)| count == 1 && edges.get(&(b, a)) == Some(&1))
        );
        // Its triangles face outwards: the volume is that of the ball.
        let volume: f64 = (mesh.triangles.iter())
            .map(|t| t.map(|k| mesh.vertices[k as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        let expected = 4.0 / 3.0 * std::f64::consts::PI;
        assert!((0.8..1.05).contains(&(volume / expected)), "{volume}");
    }

    #[test]
    fn surfaces_are_the_same_bits_for_any_number_of_threads() {
        let positions = ball();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| surface(&positions, 0.05, &Surfacing::default()).unwrap())
        };
        let one = with(1);
        for threads in [2, 3, 4] {
            assert!(with(threads) == one, "{threads} threads");
        }
    }

    #[test]
    fn no_particles_have_no_surface() {
        let mesh = surface(&[], 0.05, &Surfacing::default()).unwrap();
        assert!(mesh.triangles.is_empty() && mesh.vertices.is_empty());
    }
}
