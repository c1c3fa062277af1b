//! glTF 2.0, as JSON with its buffers inside or beside it, or as one GLB file.
//!
//! A parser of our own over serde_json: gltf 1.4.1 overflows on a GLB header that claims fewer than 12 bytes, and it
//! validates the whole document, so that an invalid material rejects a valid mesh.
//!
//! Reads only the surface at rest: no skins, no morph targets, no animation.

mod accessor;
mod buffers;
mod document;

use std::path::Path;

use glam::{DMat4, DVec3};

use super::super::{MeshError, Place, TriMesh};
use super::MeshFormat;
use accessor::{indices, positions};
use buffers::{Buffers, split_glb};
use document::{Document, Mesh, Node, Primitive};

/// Largest number of vertices of a small file: nodes can show one mesh many times, but not without limit. Larger files
/// may have as many vertices as bytes.
const MAX_VERTICES: usize = 1 << 24;
const MAX_PRIMITIVES: usize = 1 << 22;

pub(super) fn parse(bytes: &[u8], base: Option<&Path>) -> Result<TriMesh, MeshError> {
    let (json, chunk) = split_glb(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| not_json(&e))?;
    if document.asset.is_none() && document.meshes.is_empty() {
        return Err(MeshError::NotThisFormat {
            format: MeshFormat::Gltf,
            reason: "JSON with neither \"asset\" nor \"meshes\"".to_owned(),
        });
    }
    if let Some(extension) = document.extensions_required.iter().find(|e| !harmless(e)) {
        return Err(unsupported(format!("the extension {extension}")));
    }
    let buffers = Buffers::resolve(&document, chunk, base)?;
    let placed = place_meshes(&document)?;
    check_size(&document, &placed, buffers.len(), MAX_VERTICES.max(bytes.len()))?;
    let mut mesh = TriMesh::default();
    for (shown, transform) in placed {
        for primitive in &shown.primitives {
            add(primitive, transform, &document, &buffers, &mut mesh)?;
        }
    }
    Ok(mesh)
}

/// Returns true for extensions of materials, textures and lights, which do not change the surface, and for quantized
/// positions, which are supported.
fn harmless(extension: &str) -> bool {
    ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"]
        .iter()
        .any(|prefix| extension.starts_with(prefix))
        || extension == "KHR_mesh_quantization"
}

/// Returns every mesh with its transform to the world: of the default scene, or of all scenes if none is the default,
/// or of all root nodes if there are no scenes.
fn place_meshes(document: &Document) -> Result<Vec<(&Mesh, DMat4)>, MeshError> {
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

    let mut placed = Vec::new();
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
                placed.push((lookup(&document.meshes, mesh, "mesh")?, transform));
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
    Ok(placed)
}

/// Checks the total size of the result before anything is allocated for it. Accessors that claim more than all the
/// `bytes` of the buffers are not counted further: they are reported when they are read.
fn check_size(document: &Document, placed: &[(&Mesh, DMat4)], bytes: usize, limit: usize) -> Result<(), MeshError> {
    let too_many = |what, limit| Err(MeshError::TooMany { what, limit });
    let (mut primitives, mut vertices, mut indices) = (0, 0usize, 0usize);
    let count = |accessor: Option<&usize>| {
        let accessor = accessor.and_then(|&a| document.accessors.get(a));
        accessor.map_or(0, |a| a.count.min(bytes))
    };
    for (mesh, _) in placed {
        primitives += mesh.primitives.len();
        if primitives > MAX_PRIMITIVES {
            return too_many("primitives", MAX_PRIMITIVES);
        }
        for primitive in &mesh.primitives {
            vertices = vertices.saturating_add(count(primitive.attributes.get("POSITION")));
            indices = indices.saturating_add(count(primitive.indices.as_ref()));
        }
    }
    match (vertices > limit, indices > 3 * limit) {
        (true, _) => too_many("vertices", limit),
        (_, true) => too_many("triangles", limit),
        _ => Ok(()),
    }
}

fn add(
    primitive: &Primitive,
    transform: DMat4,
    document: &Document,
    buffers: &Buffers<'_>,
    mesh: &mut TriMesh,
) -> Result<(), MeshError> {
    if let Some(extension) = primitive.extensions.keys().find(|e| e.contains("draco")) {
        return Err(unsupported(format!("the extension {extension}")));
    }
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    let (Some(&position), TRIANGLES..=FAN) = (primitive.attributes.get("POSITION"), mode) else {
        return Ok(());
    };
    let first = mesh.vertices.len();
    let points = positions(document, buffers, position)?;
    let count = points.len();
    mesh.vertices
        .extend(points.into_iter().map(|p| transform.transform_point3(p)));

    let numbers = match primitive.indices {
        Some(accessor) => indices(document, buffers, accessor)?,
        None => (0..count as u32).collect(),
    };
    if let Some(at) = numbers.iter().position(|&v| v as usize >= count) {
        return Err(MeshError::IndexOutOfRange {
            triangle: mesh.triangles.len() + triangle_of(mode, at),
            line: None,
            index: i64::from(numbers[at]),
            vertices: count,
            first: 0,
        });
    }
    // A mirroring transform turns every triangle inside out.
    let mirrored = transform.determinant() < 0.0;
    let place = |v: u32| first as u32 + v;
    mesh.triangles
        .extend(triangles(mode, &numbers).map(|[a, b, c]| if mirrored { [b, a, c] } else { [a, b, c] }.map(place)));
    Ok(())
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

/// Returns the first triangle that uses entry `at` of the vertex indices.
fn triangle_of(mode: u32, at: usize) -> usize {
    match mode {
        STRIP | FAN => at.saturating_sub(2),
        _ => at / 3,
    }
}

/// glTF's y is up and its z toward the viewer; ours is z up: (x, y, z) → (x, −z, y).
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
