//! Mesh files: reads OBJ, STL, PLY and glTF; writes OBJ, STL and PLY.
//!
//! The readers trust no size that a file declares: allocations are bounded by the bytes present.

mod gltf;
mod obj;
pub mod ply;
mod stl;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

pub use obj::write_obj;
pub use ply::write_ply;
pub use stl::write_stl;

use super::clean::{LoadedMesh, clean};
use super::{MeshError, TriMesh};

/// A format of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// STL, binary or text.
    Stl,
    /// PLY, ascii or binary.
    Ply,
    /// glTF, as JSON (.gltf) or in one binary file (.glb). Its y axis is up, so it is rotated: (x, y, z) → (x, −z, y).
    Gltf,
}

impl MeshFormat {
    /// Extensions of mesh files, in lower case.
    pub const EXTENSIONS: [(&str, Self); 5] = [
        ("obj", Self::Obj),
        ("stl", Self::Stl),
        ("ply", Self::Ply),
        ("gltf", Self::Gltf),
        ("glb", Self::Gltf),
    ];

    /// Returns the format of the extension of `path`, case-insensitive.
    pub fn from_path(path: &Path) -> Result<Self, MeshError> {
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
        let is_meant = |known: &str| extension.as_ref().is_some_and(|e| e.eq_ignore_ascii_case(known));
        match Self::EXTENSIONS.iter().find(|(known, _)| is_meant(known)) {
            Some(&(_, format)) => Ok(format),
            None => Err(MeshError::UnknownExtension {
                path: path.to_owned(),
                extension,
            }),
        }
    }
}

impl fmt::Display for MeshFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Obj => "OBJ",
            Self::Stl => "STL",
            Self::Ply => "PLY",
            Self::Gltf => "glTF",
        })
    }
}

/// Reads the triangles in `bytes` unchanged: finite, with valid vertex indices, but not welded or cleaned. Polygons are
/// triangulated as fans, so concave ones may overlap themselves. `base` is the folder of the files that a glTF file
/// refers to.
pub fn parse(bytes: &[u8], format: MeshFormat, base: Option<&Path>) -> Result<TriMesh, MeshError> {
    if bytes.is_empty() {
        return Err(MeshError::Empty);
    }
    let mesh = match format {
        MeshFormat::Obj => obj::parse(bytes),
        MeshFormat::Stl => stl::parse(bytes),
        MeshFormat::Ply => ply::parse_mesh(bytes),
        MeshFormat::Gltf => gltf::parse(bytes, base),
    }?;
    mesh.check()?;
    Ok(mesh)
}

/// Reads the mesh file at `path`, welds vertices at the same position, and cleans it; the report lists the defects.
pub fn load(path: &Path) -> Result<LoadedMesh, MeshError> {
    let format = match MeshFormat::from_path(path) {
        Err(_) if path.is_dir() => return Err(MeshError::Folder { path: path.to_owned() }),
        format => format?,
    };
    let bytes = read(path)?;
    parse(&bytes, format, path.parent())
        .and_then(|raw| clean(&raw))
        .map_err(|error| error.in_file(path))
}

/// Reads the bytes of a regular file; a device or a pipe could be endless.
fn read(path: &Path) -> Result<Vec<u8>, MeshError> {
    let failed = |source| MeshError::Read {
        path: path.to_owned(),
        source,
    };
    let kind = fs::metadata(path).map_err(failed)?;
    if kind.is_dir() {
        return Err(MeshError::Folder { path: path.to_owned() });
    }
    if !kind.is_file() {
        return Err(failed(std::io::Error::other("not a plain file")));
    }
    fs::read(path).map_err(failed)
}
