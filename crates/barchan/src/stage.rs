//! Scene data for pictures besides frames: surfaces and colors of bodies, the ground, cameras. Kept beside a cache, so
//! that it can be drawn without its scene.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use barchan_geometry::mesh::{self, MeshError, write_ply};
use barchan_geometry::{Aabb, TriMesh};
use barchan_io::{WriteError, write_atomically};
use barchan_scene::{Camera, CameraKey, Scene};
use barchan_world::{Body, Ease, World};
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clumps::{self, ClumpPlan};
use crate::grain_look::{self, MaterialPlan};
use crate::names::file_name;
use crate::wires::{self, Edge};

/// Reason why a stage cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StageError {
    /// `stage.json` is invalid.
    #[error("cannot read {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The mesh of a body is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Everything visible besides the particles.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    pub(crate) plan: Plan,
    /// BodySurface of each body of the plan; `None` for an unbounded one, such as the ground.
    pub(crate) surfaces: Vec<Option<BodySurface>>,
    pub(crate) cameras: Vec<Camera>,
}

/// BodySurface of a body in its own frame.
#[derive(Clone, Debug)]
pub(crate) struct BodySurface {
    pub mesh: Arc<TriMesh>,
    /// Vertices of the mesh in single precision [m].
    pub vertices: Vec<Vec3>,
    /// Computed on first use.
    edges: OnceLock<Vec<Edge>>,
}

/// Contents of `stage.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Height of the ground [m], if there is one.
    pub ground: Option<f64>,
    /// Bounds of the scene at time 0: smallest and largest corner [m].
    pub bounds: Option<[[f64; 3]; 2]>,
    /// sRGB colors of the materials, by index.
    pub materials: Vec<Option<[u8; 3]>>,
    /// Looks of the materials, by index; all of sand in caches that lack them.
    #[serde(default)]
    pub looks: Vec<MaterialPlan>,
    pub bodies: Vec<BodyPlan>,
    /// Guides that are drawn as several spheres.
    #[serde(default)]
    pub clumps: Vec<ClumpPlan>,
    /// Names of the materials, by index.
    #[serde(default)]
    pub names: Vec<String>,
    /// Ids of guides that never move.
    #[serde(default)]
    pub fixed: Vec<Range<u32>>,
    cameras: Vec<CameraPlan>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BodyPlan {
    pub name: String,
    /// sRGB color.
    pub color: Option<[u8; 3]>,
    pub opacity: f64,
    /// File of its surface, if it has one.
    mesh: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CameraPlan {
    name: String,
    up: [f64; 3],
    keys: Vec<KeyPlan>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct KeyPlan {
    time: f64,
    position: [f64; 3],
    target: [f64; 3],
    fov: f64,
    smooth: bool,
}

impl BodySurface {
    fn new(mesh: Arc<TriMesh>) -> Self {
        Self {
            vertices: mesh.vertices.iter().map(|v| v.as_vec3()).collect(),
            mesh,
            edges: OnceLock::new(),
        }
    }

    /// Returns the edges of its triangles.
    pub fn edges(&self) -> &[Edge] {
        self.edges.get_or_init(|| wires::edges(&self.mesh, &self.vertices))
    }
}

impl Stage {
    /// Creates the stage of a scene whose world was just built.
    pub fn new(scene: &Scene, world: &World) -> Self {
        let has_end = |body: &Body| body.shape.bounds().is_finite();
        let bodies = world.bodies.iter().enumerate().map(|(k, body)| BodyPlan {
            name: body.name.clone(),
            color: scene.bodies.get(k).and_then(|plan| plan.color),
            opacity: scene.bodies.get(k).map_or(1.0, |plan| plan.opacity),
            mesh: has_end(body).then(|| mesh_name(k, &body.name)),
        });
        let surface = |body: &Body| has_end(body).then(|| BodySurface::new(body.surface.clone()));
        let ground = ground(world);
        let bounds = bounds(scene, world, ground);
        Self {
            plan: Plan {
                ground,
                bounds: (!bounds.is_empty()).then(|| [bounds.min.to_array(), bounds.max.to_array()]),
                materials: scene.colors.clone(),
                looks: grain_look::plans(scene),
                bodies: bodies.collect(),
                clumps: (clumps::of_scene(scene, world).into_iter())
                    .map(|(ids, clump)| ClumpPlan::new(ids, &clump))
                    .collect(),
                names: scene
                    .materials
                    .all
                    .iter()
                    .map(|material| material.name.clone())
                    .collect(),
                fixed: fixed(world),
                cameras: scene.cameras.iter().map(CameraPlan::of).collect(),
            },
            surfaces: world.bodies.iter().map(surface).collect(),
            cameras: scene.cameras.clone(),
        }
    }

    /// Writes the stage beside the frames of a cache.
    pub fn save(&self, dir: &Path) -> Result<(), WriteError> {
        let meshes = dir.join("meshes");
        std::fs::create_dir_all(&meshes).map_err(|reason| WriteError {
            path: meshes.clone(),
            reason,
        })?;
        for (body, surface) in self.plan.bodies.iter().zip(&self.surfaces) {
            if let (Some(name), Some(surface)) = (&body.mesh, surface) {
                write_atomically(&meshes.join(name), |out| write_ply(&surface.mesh, out))?;
            }
        }
        write_atomically(&dir.join("stage.json"), |out| {
            serde_json::to_writer_pretty(out, &self.plan).map_err(std::io::Error::from)
        })
    }

    /// Reads the stage beside a cache; returns an empty one if there is none.
    pub fn load(dir: &Path) -> Result<Self, StageError> {
        let path = dir.join("stage.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                let reason = error.to_string();
                return Err(StageError::File { path, reason });
            }
        };
        let plan: Plan = serde_json::from_str(&text).map_err(|error| StageError::File {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let names = plan.bodies.iter().filter_map(|body| body.mesh.as_ref());
        if let Some(name) = names.into_iter().find(|name| !is_plain_name(name)) {
            let reason = format!("the mesh {name:?} is not the name of a file in meshes");
            return Err(StageError::File { path, reason });
        }
        if let Some(look) = grain_look::unknown(&plan.looks) {
            let reason = format!("there is no look {look:?} of a material");
            return Err(StageError::File { path, reason });
        }
        let surface = |body: &BodyPlan| {
            let file = body.mesh.as_ref().map(|name| dir.join("meshes").join(name));
            file.map(|file| Ok(BodySurface::new(Arc::new(mesh::load(&file)?.mesh))))
                .transpose()
        };
        let surfaces = plan.bodies.iter().map(surface).collect::<Result<_, MeshError>>()?;
        let cameras = plan.cameras.iter().filter_map(CameraPlan::camera).collect();
        Ok(Self {
            plan,
            surfaces,
            cameras,
        })
    }

    /// Returns true if a material can be wet: pictures of grains then need the guides too, which carry the wetness.
    pub fn is_wet(&self) -> bool {
        grain_look::any_wet(&self.plan.looks)
    }

    /// Returns the names of the cameras.
    pub fn camera_names(&self) -> impl Iterator<Item = &str> {
        self.cameras.iter().map(|camera| camera.name.as_str())
    }
}

impl CameraPlan {
    fn of(camera: &Camera) -> Self {
        let key = |key: &CameraKey| KeyPlan {
            time: key.time,
            position: key.position.to_array(),
            target: key.target.to_array(),
            fov: key.fov,
            smooth: key.ease == Ease::Smooth,
        };
        Self {
            name: camera.name.clone(),
            up: camera.up.to_array(),
            keys: camera.keys.iter().map(key).collect(),
        }
    }

    fn camera(&self) -> Option<Camera> {
        let key = |key: &KeyPlan| CameraKey {
            time: key.time,
            position: key.position.into(),
            target: key.target.into(),
            fov: key.fov,
            ease: if key.smooth { Ease::Smooth } else { Ease::Linear },
        };
        (!self.keys.is_empty()).then(|| Camera {
            name: self.name.clone(),
            up: self.up.into(),
            keys: self.keys.iter().map(key).collect(),
        })
    }
}

/// Returns the ids of the guides that never move.
fn fixed(world: &World) -> Vec<Range<u32>> {
    let ends = world.fill_ends.iter().copied();
    let ids = [0].into_iter().chain(ends.clone()).zip(ends);
    let fills = ids.zip(&world.fixed_fills).filter(|(_, is_fixed)| **is_fixed);
    fills.map(|((start, end), _)| start..end).collect()
}

/// Returns the file name for the surface of body `index`: ASCII letters, digits, `-`, `_` and `.` only.
fn mesh_name(index: usize, body: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = body.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{index:03}_{}.ply", file_name(&plain))
}

/// Returns true if `name` stays in the folder that it is looked up in.
fn is_plain_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

/// Returns the height of the highest level, unbounded body, or else the lowest point of the others.
fn ground(world: &World) -> Option<f64> {
    let heights = world.bodies.iter().filter_map(|body| {
        let bounds = body.shape.bounds();
        let level = (body.pose.rotation * DVec3::Z).z > 1.0 - 1e-9;
        (level && bounds.max.z.is_finite() && !bounds.is_finite()).then_some(body.pose.position.z + bounds.max.z)
    });
    heights.reduce(f64::max).or_else(|| {
        let bodies = bodies_bounds(world);
        (!bodies.is_empty()).then_some(bodies.min.z)
    })
}

fn bodies_bounds(world: &World) -> Aabb {
    let shown = world
        .bodies
        .iter()
        .filter(|body| body.shape.bounds().is_finite() && body.is_present(0.0));
    let points = shown.flat_map(|body| body.surface.vertices.iter().map(|&v| body.pose.point(v)));
    Aabb::of_points(points)
}

/// Returns the bounds of guides, bodies and emitters.
fn bounds(scene: &Scene, world: &World, ground: Option<f64>) -> Aabb {
    let guides = (0..world.guides.len()).flat_map(|i| {
        let (center, radius) = (world.place(i), DVec3::splat(f64::from(world.guides.radius[i])));
        [center - radius, center + radius]
    });
    let guides = Aabb::of_points(guides);
    let emitters = scene.emitters.iter().map(|emitter| emitter.shape.bounds());
    let finite = emitters.filter(Aabb::is_finite);
    let mut bounds = finite.fold(guides.union(&bodies_bounds(world)), |all, one| all.union(&one));
    if let Some(ground) = ground.filter(|_| !bounds.is_empty()) {
        bounds.min.z = bounds.min.z.min(ground);
    }
    bounds
}
