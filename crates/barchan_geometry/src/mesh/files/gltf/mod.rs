//! glTF 2.0, as JSON with its buffers inside or beside it, or as one GLB file.
//!
//! Read by hand over serde_json: gltf 1.4.1 panics on a GLB header that claims fewer than 12 bytes, slices buffers
//! unchecked, follows a cycle of nodes for ever, and refuses files for faults of materials we never look at.
//!
//! Only the surface at rest is taken: no skins, no morph targets, no animation.

mod accessor;
mod buffers;
mod document;

use std::path::Path;

use glam::{DMat4, DVec3};

use super::super::{MeshError, Place, TriMesh};
use super::MeshFormat;
use accessor::{indices, positions};
use buffers::{Buffers, split_glb};
use document::{Document, Node, Primitive};

/// Nodes can show one mesh many times, so a small file can honestly be a large mesh, but not without end.
const MAX_INSTANCED: usize = 1 << 24;

pub(super) fn parse(bytes: &[u8], base: Option<&Path>) -> Result<TriMesh, MeshError> {
    let (json, chunk) = split_glb(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| not_json(&e))?;
    if let Some(extension) = document.extensions_required.iter().find(|e| !harmless(e)) {
        return Err(unsupported(format!("the extension {extension}")));
    }
    let buffers = Buffers::resolve(&document, chunk, base)?;
    let mut reader = Reader {
        limit: MAX_INSTANCED.max(bytes.len()),
        mesh: TriMesh::default(),
        parts: 0,
        document: &document,
        buffers,
    };
    reader.walk()?;
    Ok(reader.mesh)
}

/// Extensions of materials, textures and lights, which do not change the surface; and quantised positions, which are read.
fn harmless(extension: &str) -> bool {
    ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"]
        .iter()
        .any(|prefix| extension.starts_with(prefix))
        || extension == "KHR_mesh_quantization"
}

struct Reader<'a> {
    document: &'a Document,
    buffers: Buffers<'a>,
    mesh: TriMesh,
    /// How many primitives were visited.
    parts: usize,
    /// How many vertices, triangles or primitives may come out.
    limit: usize,
}

impl Reader<'_> {
    /// Every mesh of the default scene, or of all scenes where none is the default, or of all nodes that are no one's
    /// child where there are no scenes.
    fn walk(&mut self) -> Result<(), MeshError> {
        let document = self.document;
        let roots: Vec<usize> = match document.scene {
            Some(scene) => lookup(&document.scenes, scene, "scene")?.nodes.clone(),
            None if !document.scenes.is_empty() => document.scenes.iter().flat_map(|s| s.nodes.clone()).collect(),
            None => {
                let mut is_child = vec![false; document.nodes.len()];
                for &child in document.nodes.iter().flat_map(|n| &n.children) {
                    if let Some(known) = is_child.get_mut(child) {
                        *known = true;
                    }
                }
                (0..document.nodes.len()).filter(|&n| !is_child[n]).collect()
            }
        };

        // A node has one parent; scenes may share roots.
        let mut seen = vec![false; document.nodes.len()];
        let mut stack = Vec::new();
        for root in roots {
            lookup(&document.nodes, root, "node")?;
            if !std::mem::replace(&mut seen[root], true) {
                stack.push((root, Z_UP));
            }
            while let Some((number, parent)) = stack.pop() {
                let node = &document.nodes[number];
                let transform = parent * local_transform(node);
                if let Some(mesh) = node.mesh {
                    for primitive in &lookup(&document.meshes, mesh, "mesh")?.primitives {
                        self.add(primitive, transform)?;
                    }
                }
                for &child in node.children.iter().rev() {
                    lookup(&document.nodes, child, "node")?;
                    if std::mem::replace(&mut seen[child], true) {
                        return Err(invalid(format!("node {child} has two parents or is its own ancestor")));
                    }
                    stack.push((child, transform));
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, primitive: &Primitive, transform: DMat4) -> Result<(), MeshError> {
        self.parts += 1;
        self.check_size("primitives", self.parts)?;
        if let Some(extension) = primitive.extensions.keys().find(|e| e.contains("draco")) {
            return Err(unsupported(format!("the extension {extension}")));
        }
        let mode = primitive.mode.unwrap_or(TRIANGLES);
        let (Some(&position), TRIANGLES..=FAN) = (primitive.attributes.get("POSITION"), mode) else {
            return Ok(());
        };
        let first = self.mesh.vertices.len();
        let points = positions(self.document, &self.buffers, position)?;
        self.check_size("vertices", first + points.len())?;
        let count = points.len();
        self.mesh
            .vertices
            .extend(points.into_iter().map(|p| transform.transform_point3(p)));

        let numbers = match primitive.indices {
            Some(accessor) => indices(self.document, &self.buffers, accessor)?,
            None => (0..count as u32).collect(),
        };
        let before = self.mesh.triangles.len();
        self.check_size("triangles", before + numbers.len())?;
        if let Some(at) = numbers.iter().position(|&v| v as usize >= count) {
            return Err(MeshError::IndexOutOfRange {
                triangle: before + triangle_of(mode, at),
                line: None,
                index: i64::from(numbers[at]),
                vertices: count,
                first: 0,
            });
        }
        // A mirroring transform turns every triangle inside out.
        let mirrored = transform.determinant() < 0.0;
        let place = |v: u32| first as u32 + v;
        self.mesh
            .triangles
            .extend(triangles(mode, &numbers).map(|[a, b, c]| if mirrored { [b, a, c] } else { [a, b, c] }.map(place)));
        Ok(())
    }

    fn check_size(&self, what: &'static str, count: usize) -> Result<(), MeshError> {
        if count > self.limit {
            return Err(MeshError::TooMany {
                what,
                limit: self.limit,
            });
        }
        Ok(())
    }
}

const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

fn triangles(mode: u32, v: &[u32]) -> Box<dyn Iterator<Item = [u32; 3]> + '_> {
    match mode {
        STRIP => Box::new(v.windows(3).enumerate().map(|(i, w)| match i % 2 {
            0 => [w[0], w[1], w[2]],
            _ => [w[1], w[0], w[2]],
        })),
        FAN => Box::new((2..v.len()).map(|i| [v[0], v[i - 1], v[i]])),
        _ => Box::new(v.chunks_exact(3).map(|c| [c[0], c[1], c[2]])),
    }
}

/// The first triangle that uses entry `at` of the vertex numbers.
fn triangle_of(mode: u32, at: usize) -> usize {
    match mode {
        STRIP | FAN => at.saturating_sub(2),
        _ => at / 3,
    }
}

/// glTF's y is up and its z towards the viewer; ours is z up: (x, y, z) → (x, −z, y).
const Z_UP: DMat4 = DMat4::from_cols_array(&[
    1.0, 0.0, 0.0, 0.0, //
    0.0, 0.0, 1.0, 0.0, //
    0.0, -1.0, 0.0, 0.0, //
    0.0, 0.0, 0.0, 1.0,
]);

fn local_transform(node: &Node) -> DMat4 {
    match node.matrix {
        Some(columns) => DMat4::from_cols_array(&columns),
        None => DMat4::from_scale_rotation_translation(
            DVec3::from_array(node.scale.unwrap_or([1.0; 3])),
            glam::DQuat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0])),
            DVec3::from_array(node.translation.unwrap_or([0.0; 3])),
        ),
    }
}

fn lookup<'a, T>(items: &'a [T], number: usize, what: &str) -> Result<&'a T, MeshError> {
    items
        .get(number)
        .ok_or_else(|| invalid(format!("there is no {what} {number}, only {}", items.len())))
}

fn not_json(error: &serde_json::Error) -> MeshError {
    let reason = error.to_string();
    let place = Place::Line(error.line().max(1));
    match error.classify() {
        serde_json::error::Category::Eof => MeshError::truncated(place, reason),
        serde_json::error::Category::Data => MeshError::syntax(place, reason),
        _ => MeshError::NotThisFormat {
            format: MeshFormat::Gltf,
            reason,
        },
    }
}

fn invalid(reason: String) -> MeshError {
    MeshError::Invalid {
        format: MeshFormat::Gltf,
        reason,
    }
}

fn unsupported(feature: String) -> MeshError {
    MeshError::Unsupported {
        format: MeshFormat::Gltf,
        feature,
    }
}
