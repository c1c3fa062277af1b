//! A picture of a cached frame.

use std::fs;
use std::path::{Path, PathBuf};

use barchan_geometry::mesh::{self, MeshError};
use barchan_geometry::{Aabb, TriMesh};
use barchan_io::{Cache, CacheError};
use barchan_render::{Camera, Colors, Image, Mesh, Picture, Radii, SAND, Spheres, render};
use barchan_scene::{Document, parse_scene};
use barchan_world::{BodyState, Column};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Vec3};
use thiserror::Error;

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookError {
    /// The cache is at fault.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The mesh of a body is at fault.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The picture is at fault.
    #[error(transparent)]
    Render(#[from] barchan_render::Error),
    /// The cache keeps no particles.
    #[error("frame {frame} has no column `{column}`")]
    NoColumn {
        /// The frame.
        frame: u64,
        /// What it lacks.
        column: &'static str,
    },
}

/// Colours of bodies, linear RGB, by turns.
const BODY_COLORS: [[f32; 3]; 5] = [
    [0.80, 0.45, 0.05],
    [0.10, 0.16, 0.25],
    [0.35, 0.07, 0.05],
    [0.12, 0.25, 0.14],
    [0.30, 0.30, 0.32],
];

/// Where the surface of a body lies in a cache.
pub(crate) fn mesh_path(dir: &Path, body: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    dir.join("meshes")
        .join(format!("{}.ply", body.chars().map(plain).collect::<String>()))
}

/// Draws frame `number` of a cache: grains as sand, or guides where there are none or `guides` are asked for; bodies as solids.
pub fn look(dir: &Path, number: u64, width: u32, height: u32, guides: bool) -> Result<Image, LookError> {
    let cache = Cache::open(dir)?;
    let has_grains = cache.frames().iter().any(|f| f.frame == number && f.grains.is_some());
    let guides = match has_grains && !guides {
        true => cache.read_grains(number)?,
        false => cache.read_guides(number)?,
    };
    let missing = |column| LookError::NoColumn { frame: number, column };
    let Some(Column::Vec3(positions)) = guides.column("position") else {
        return Err(missing("position"));
    };
    let Some(Column::F32(radii)) = guides.column("radius") else {
        return Err(missing("radius"));
    };
    let ids = match guides.column("id") {
        Some(Column::U32(ids)) => Some(ids.as_slice()),
        _ => None,
    };
    let bodies: Vec<(BodyState, TriMesh)> = match cache.read_bodies(number) {
        Ok(states) => states
            .into_iter()
            .filter(|state| fs::exists(mesh_path(dir, &state.name)).unwrap_or(false))
            .map(|state| Ok((state.clone(), mesh::load(&mesh_path(dir, &state.name))?.mesh)))
            .collect::<Result<_, MeshError>>()?,
        Err(CacheError::NoFrame { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    // Pictures are single precision: everything is drawn relative to the middle of what there is.
    let all = Aabb::of_points(positions.iter().map(|p| p.as_dvec3()));
    let origin = if all.is_empty() { DVec3::ZERO } else { all.center() };
    let spheres: Vec<Vec3> = positions.iter().map(|p| (p.as_dvec3() - origin).as_vec3()).collect();
    let vertices: Vec<Vec<Vec3>> = bodies
        .iter()
        .map(|b| b.1.vertices.iter().map(|v| v.as_vec3()).collect())
        .collect();
    let mut picture = Picture::new(Spheres {
        positions: &spheres,
        radii: Radii::Each(radii),
        colors: Colors::Grains { base: SAND, ids },
    });
    for (k, ((state, mesh), vertices)) in bodies.iter().zip(&vertices).enumerate() {
        picture.meshes.push(Mesh {
            vertices,
            triangles: &mesh.triangles,
            pose: pose(state, origin),
            color: BODY_COLORS[k % BODY_COLORS.len()],
            opacity: if state.name.contains("glass") { 0.2 } else { 1.0 },
        });
    }
    let time = cache
        .frames()
        .iter()
        .find(|f| f.frame == number)
        .map_or(0.0, |f| f.time);
    let aspect = width as f32 / height.max(1) as f32;
    picture.camera = scene_camera(&cache, time, origin).unwrap_or_else(|| Camera::framing(&picture.bounds(), aspect));
    picture.ground = Some(picture.bounds().min.z as f32);
    Ok(render(&picture, width, height)?)
}

fn pose(state: &BodyState, origin: DVec3) -> Affine3A {
    let pose = DAffine3::from_rotation_translation(DQuat::from_array(state.rotation), state.position - origin);
    Affine3A::from_mat4(glam::DMat4::from(pose).as_mat4())
}

/// The first camera of the scene that the cache was made from, if it has one.
fn scene_camera(cache: &Cache, time: f64, origin: DVec3) -> Option<Camera> {
    let text = cache.manifest().run.scene.get("text")?.as_str()?;
    let (scene, _) = parse_scene(&Document::new("scene", text)).ok()?;
    let camera = scene.cameras.first()?;
    let after = camera.keys.partition_point(|key| key.time <= time);
    let last = camera.keys[after.saturating_sub(1)];
    let next = camera.keys.get(after).copied().unwrap_or(last);
    let span = next.time - last.time;
    let s = if span > 0.0 {
        ((time - last.time) / span).clamp(0.0, 1.0)
    } else {
        0.0
    };
    Some(Camera {
        position: (last.position.lerp(next.position, s) - origin).as_vec3(),
        target: (last.target.lerp(next.target, s) - origin).as_vec3(),
        up: camera.up.as_vec3(),
        vertical_fov: (last.fov + s * (next.fov - last.fov)) as f32,
    })
}
