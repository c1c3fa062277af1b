//! Surfaces of sand by frame, as files of meshes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use barchan_geometry::TriMesh;
use barchan_geometry::mesh::write_ply;

use super::shots::{Axes, Up};
use super::usd::AnimatedSurface;
use super::{ExportError, files};
use crate::write_atomically;

/// Kinds of files that a [`MeshSequence`] writes.
pub const MESH_KINDS: [&str; 3] = ["obj", "ply", "usd"];

/// Writes one mesh per frame: `OUT/000042.obj`, `OUT/000042.ply`, or all of them in `OUT/surface.usdc`.
pub struct MeshSequence {
    out: PathBuf,
    axes: Axes,
    rate: f64,
    color: [f32; 3],
    kind: Kind,
}

enum Kind {
    Obj,
    Ply,
    Usd(Box<AnimatedSurface>),
}

impl MeshSequence {
    /// Starts a sequence of `kind` in the folder `out`, at `rate` frames per second, of linear `color`.
    pub fn create(
        kind: &str,
        out: &Path,
        (scale, up): (f64, Up),
        rate: f64,
        color: [f32; 3],
    ) -> Result<Self, ExportError> {
        files::make_folder(out)?;
        let kind = match kind {
            "obj" => Kind::Obj,
            "ply" => Kind::Ply,
            "usd" => Kind::Usd(Box::new(AnimatedSurface::create(&out.join("surface.usdc"))?)),
            _ => return Err(ExportError::UnknownKind { found: kind.to_owned() }),
        };
        Ok(Self {
            out: out.to_owned(),
            axes: Axes { scale, up },
            rate,
            color,
            kind,
        })
    }

    /// Writes the mesh of a frame [m].
    pub fn push(&mut self, frame: u64, mut mesh: TriMesh) -> Result<(), ExportError> {
        mesh.vertices.iter_mut().for_each(|v| *v = self.axes.point(*v));
        let file = |extension: &str| self.out.join(format!("{frame:06}.{extension}"));
        match &mut self.kind {
            Kind::Obj => write_atomically(&file("obj"), |out| write_obj(out, &mesh))?,
            Kind::Ply => write_atomically(&file("ply"), |out| write_ply(&mesh, out))?,
            Kind::Usd(surface) => surface.push(frame, &mesh)?,
        }
        Ok(())
    }

    /// Finishes the sequence, which has at least one frame.
    pub fn finish(self) -> Result<(), ExportError> {
        match self.kind {
            Kind::Usd(surface) => Ok(surface.finish(self.axes, self.rate, self.color)?),
            Kind::Obj | Kind::Ply => Ok(()),
        }
    }
}

/// Writes a mesh as Wavefront OBJ, in the digits that single precision has.
fn write_obj(out: &mut impl Write, mesh: &TriMesh) -> io::Result<()> {
    writeln!(out, "# barchan")?;
    for v in &mesh.vertices {
        writeln!(out, "v {} {} {}", v.x as f32, v.y as f32, v.z as f32)?;
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|corner| corner + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}
