//! PLY: named elements (vertex, face, ...) with named properties, ascii or binary.
//!
//! A parser of our own: ply-rs-bw 4.0.1 returns rows, each a map from names to values unless its type is known at
//! compile time. [`read`] returns any element's properties as typed columns, so point files can use it too.

mod columns;
mod read;

use std::io::{self, Write};

use glam::DVec3;

pub use columns::{Column, Element, Lists, Ply, Property, Values};
pub use read::read;

use super::super::{MeshError, Place, TriMesh};
use super::MeshFormat;

/// Reads the element `vertex` with the faces of the elements `face` and `tristrips`; ignores anything else.
pub(super) fn parse_mesh(bytes: &[u8]) -> Result<TriMesh, MeshError> {
    let ply = read(bytes)?;
    let absent = |what: &str| MeshError::NotThisFormat {
        format: MeshFormat::Ply,
        reason: format!("there is no {what}"),
    };
    let vertex = ply.element("vertex").ok_or_else(|| absent("element \"vertex\""))?;
    let axis = |name: &str| {
        vertex
            .scalars(name)
            .ok_or_else(|| absent(&format!("number {name:?} in the element \"vertex\"")))
    };
    let [x, y, z] = [axis("x")?, axis("y")?, axis("z")?];
    let mut mesh = TriMesh {
        vertices: (0..vertex.count)
            .map(|i| DVec3::new(x.get(i), y.get(i), z.get(i)))
            .collect(),
        triangles: Vec::new(),
    };
    if let Some(face) = ply.element("face") {
        polygons(
            indices(face).ok_or_else(|| absent("list \"vertex_indices\" in the element \"face\""))?,
            &mut mesh,
        )?;
    }
    if let Some(lists) = ply.element("tristrips").and_then(indices) {
        strips(lists, &mut mesh)?;
    }
    Ok(mesh)
}

fn indices(element: &Element) -> Option<&Lists> {
    element
        .lists("vertex_indices")
        .or_else(|| element.lists("vertex_index"))
}

fn polygons(faces: &Lists, mesh: &mut TriMesh) -> Result<(), MeshError> {
    for face in 0..faces.len() {
        let row = faces.row(face);
        if row.len() < 3 {
            let reason = format!("a face needs at least 3 vertices, got {}", row.len());
            return Err(MeshError::syntax(Place::Face(face), reason));
        }
        let corner = |i: usize| vertex_number(faces.values.get(i), mesh.triangles.len(), mesh.vertices.len());
        let (first, mut last) = (corner(row.start)?, corner(row.start + 1)?);
        for i in row.start + 2..row.end {
            let next = vertex_number(faces.values.get(i), mesh.triangles.len(), mesh.vertices.len())?;
            mesh.triangles.push([first, last, next]);
            last = next;
        }
    }
    Ok(())
}

/// Converts triangle strips, in which every other triangle is flipped; −1 begins a new strip.
fn strips(lists: &Lists, mesh: &mut TriMesh) -> Result<(), MeshError> {
    for list in 0..lists.len() {
        let mut strip: Vec<u32> = Vec::new();
        for i in lists.row(list) {
            if lists.values.get(i) == -1.0 {
                strip.clear();
                continue;
            }
            strip.push(vertex_number(
                lists.values.get(i),
                mesh.triangles.len(),
                mesh.vertices.len(),
            )?);
            if let [.., a, b, c] = strip[..] {
                mesh.triangles
                    .push(if strip.len() % 2 == 1 { [a, b, c] } else { [b, a, c] });
            }
        }
    }
    Ok(())
}

fn vertex_number(value: f64, triangle: usize, vertices: usize) -> Result<u32, MeshError> {
    if value.fract() != 0.0 {
        let reason = format!("{value} is not a vertex number");
        return Err(MeshError::syntax(Place::Face(triangle), reason));
    }
    let index = value as i64;
    u32::try_from(index)
        .ok()
        .filter(|&v| (v as usize) < vertices)
        .ok_or(MeshError::IndexOutOfRange {
            triangle,
            line: None,
            index,
            vertices,
            first: 0,
        })
}

/// Writes `mesh` as binary little-endian PLY, positions as `double`.
pub fn write_ply(mesh: &TriMesh, mut out: impl Write) -> io::Result<()> {
    // The same four bytes; some readers support only signed vertex indices.
    let number = if i32::try_from(mesh.vertices.len()).is_ok() {
        "int"
    } else {
        "uint"
    };
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n\
         property double z\nelement face {}\nproperty list uchar {number} vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )?;
    for coordinate in mesh.vertices.iter().flat_map(DVec3::to_array) {
        out.write_all(&coordinate.to_le_bytes())?;
    }
    for triangle in &mesh.triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}
