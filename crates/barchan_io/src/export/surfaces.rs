//! Surfaces of bodies in a cache.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

use barchan_geometry::{TriMesh, mesh};
use barchan_world::BodyState;
use glam::{DMat4, DVec3};
use serde::Deserialize;

use super::shots::transform;
use super::{Export, ExportError};
use crate::Part;

/// Surfaces by the names of bodies, each in its body's frame, with the axes of the export.
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

/// Surfaces of a frame's bodies where they are.
pub(super) struct Posed {
    /// All surfaces, concatenated.
    pub mesh: TriMesh,
    /// Row of each triangle's body.
    pub owners: Vec<u32>,
    /// Rows and positions of bodies without a surface.
    pub lone: Vec<(u32, DVec3)>,
}

/// A body over the exported frames.
pub(super) struct Track<'a> {
    pub name: String,
    pub mesh: &'a TriMesh,
    /// Transform in each frame that has bodies; `None` while the body is absent.
    pub transforms: Vec<Option<DMat4>>,
}

impl BodySurfaces {
    /// Reads the surfaces in the cache; none if it has no `stage.json` or bodies are not exported.
    pub fn load(export: &Export) -> Result<Self, ExportError> {
        let failed = |path: &Path, reason: String| ExportError::Surface {
            path: path.to_owned(),
            reason,
        };
        let mut meshes = BTreeMap::new();
        if !export.has(Part::Bodies) {
            return Ok(Self { meshes });
        }
        let dir = export.cache.dir();
        let path = dir.join("stage.json");
        let stage = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&path, error.to_string()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => SurfaceFiles { bodies: Vec::new() },
            Err(error) => return Err(failed(&path, error.to_string())),
        };
        for body in stage.bodies {
            let Some(name) = body.mesh else { continue };
            let mut parts = Path::new(&name).components();
            if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
                return Err(failed(&path, format!("`{name}` is not the name of a file in meshes")));
            }
            let file = dir.join("meshes").join(&name);
            let mut mesh = mesh::load(&file)
                .map_err(|error| failed(&file, error.to_string()))?
                .mesh;
            mesh.vertices.iter_mut().for_each(|v| *v = export.axes.point(*v));
            meshes.insert(body.name, mesh);
        }
        Ok(Self { meshes })
    }

    /// Returns true if no body has a surface.
    pub fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// Returns the surfaces of `bodies` where they are.
    pub fn posed(&self, bodies: &[BodyState]) -> Posed {
        let (mut mesh, mut owners, mut lone) = (TriMesh::default(), Vec::new(), Vec::new());
        for (row, body) in (0..).zip(bodies) {
            let Some(surface) = self.meshes.get(&body.name) else {
                lone.push((row, body.position));
                continue;
            };
            let pose = transform(body);
            let first = mesh.vertices.len() as u32;
            mesh.vertices
                .extend(surface.vertices.iter().map(|&v| pose.transform_point3(v)));
            let corners = |triangle: &[u32; 3]| triangle.map(|corner| first + corner);
            mesh.triangles.extend(surface.triangles.iter().map(corners));
            owners.resize(mesh.triangles.len(), row);
        }
        Posed { mesh, owners, lone }
    }

    /// Returns each body that has a surface and is present in one of `frames`.
    pub fn tracks(&self, frames: &[Vec<BodyState>]) -> Vec<Track<'_>> {
        let track = |(name, mesh): (&String, _)| {
            let find = |bodies: &Vec<BodyState>| bodies.iter().find(|body| body.name == *name).map(transform);
            Track {
                name: name.clone(),
                mesh,
                transforms: frames.iter().map(find).collect(),
            }
        };
        let tracks = self.meshes.iter().map(track);
        tracks
            .filter(|track| track.transforms.iter().any(Option::is_some))
            .collect()
    }
}

impl Track<'_> {
    /// Returns the transform in frame `k`; while the body is absent, that of the next or else of the previous frame that
    /// has it.
    pub fn transform(&self, k: usize) -> DMat4 {
        let later = self.transforms[k..].iter().flatten().next();
        let found = later.or_else(|| self.transforms[..k].iter().rev().flatten().next());
        *found.expect("a frame with the body")
    }

    /// Returns true if the body moves.
    pub fn is_moving(&self) -> bool {
        (1..self.transforms.len()).any(|k| self.transform(k) != self.transform(0))
    }

    /// Returns true if the body is absent in some frame.
    pub fn comes_and_goes(&self) -> bool {
        self.transforms.iter().any(Option::is_none)
    }
}
