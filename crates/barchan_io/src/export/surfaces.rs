//! Surfaces of bodies in a cache.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

use barchan_geometry::{TriMesh, mesh};
use barchan_world::{BodyState, Pose};
use glam::DQuat;
use serde::Deserialize;

use super::{ExportError, Poses};
use crate::vtp::{self, Surfaces};
use crate::{WriteError, write_atomically};

/// Surfaces by the names of bodies, each in its body's frame.
pub(super) struct BodySurfaces {
    meshes: BTreeMap<String, TriMesh>,
}

/// The part of `stage.json` that names the files of surfaces.
#[derive(Deserialize)]
struct SurfaceFiles {
    #[serde(default)]
    bodies: Vec<StageBody>,
}

#[derive(Deserialize)]
struct StageBody {
    name: String,
    mesh: Option<String>,
}

impl BodySurfaces {
    /// Reads the surfaces in the cache `dir`; none if it has no `stage.json`.
    pub fn load(dir: &Path) -> Result<Self, ExportError> {
        let failed = |path: &Path, reason: String| ExportError::Surface {
            path: path.to_owned(),
            reason,
        };
        let path = dir.join("stage.json");
        let stage = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&path, error.to_string()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => SurfaceFiles { bodies: Vec::new() },
            Err(error) => return Err(failed(&path, error.to_string())),
        };
        let mut meshes = BTreeMap::new();
        for body in stage.bodies {
            let Some(name) = body.mesh else { continue };
            let mut parts = Path::new(&name).components();
            if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
                return Err(failed(&path, format!("`{name}` is not the name of a file in meshes")));
            }
            let file = dir.join("meshes").join(&name);
            let loaded = mesh::load(&file).map_err(|error| failed(&file, error.to_string()))?;
            meshes.insert(body.name, loaded.mesh);
        }
        Ok(Self { meshes })
    }

    /// Writes the surfaces of `bodies`, posed, as VTK poly data. A body without a surface, such as the ground, is a point.
    pub fn write(&self, path: &Path, bodies: Vec<BodyState>) -> Result<(), WriteError> {
        let (mut mesh, mut owners, mut lone) = (TriMesh::default(), Vec::new(), Vec::new());
        for (row, body) in (0..).zip(&bodies) {
            let Some(surface) = self.meshes.get(&body.name) else {
                lone.push((row, body.position));
                continue;
            };
            let pose = Pose {
                position: body.position,
                rotation: DQuat::from_array(body.rotation),
            };
            let first = mesh.vertices.len() as u32;
            mesh.vertices.extend(surface.vertices.iter().map(|&v| pose.point(v)));
            let corners = |triangle: &[u32; 3]| triangle.map(|corner| first + corner);
            mesh.triangles.extend(surface.triangles.iter().map(corners));
            owners.resize(mesh.triangles.len(), row);
        }
        let poses = Poses::of(bodies);
        let surfaces = Surfaces {
            mesh,
            owners,
            lone,
            rows: &poses.columns(),
        };
        write_atomically(path, |out| vtp::write_surfaces(out, &surfaces))
    }
}
