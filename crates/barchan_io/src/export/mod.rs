//! Exports a cache to files of other formats.
//!
//! Rows are in the order of `id`: a particle keeps its row while no particle before it appears or disappears. Formats
//! that animate (USD, Alembic) hold all frames in one file; the others have one file per frame,
//! `OUT/guides/000042.EXTENSION`. Times are frame numbers, so that frame 42 of the cache is frame 42 of a program.

mod alembic;
mod bgeo;
mod csv;
mod files;
mod gltf;
mod mesh_sequence;
mod ply;
mod poses;
mod shots;
mod surfaces;
mod usd;
mod vdb;
mod vtk;

use std::path::{Path, PathBuf};

use barchan_world::Table;
use thiserror::Error;

pub use mesh_sequence::{MESH_KINDS, MeshSequence};
pub use shots::{ExportOptions, Palette, Up};

use self::shots::Axes;
use crate::{Cache, CacheError, FrameEntry, Part, PointFileError, WriteError};

/// An export format.
pub struct Exporter {
    /// Name on the command line.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Axis that points upwards by the format's convention.
    up: Up,
    write: fn(&mut Export) -> Result<(), ExportError>,
}

/// Every export format.
pub const EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "usd",
        about: "USD crate for Blender, Houdini, Omniverse: one animated .usdc file with points and bodies",
        up: Up::Z,
        write: usd::export,
    },
    Exporter {
        name: "alembic",
        about: "Alembic: one animated .abc file with points and bodies, y up",
        up: Up::Y,
        write: alembic::export,
    },
    Exporter {
        name: "bgeo",
        about: "Houdini 18 and later: one .bgeo.sc file per frame",
        up: Up::Z,
        write: bgeo::export,
    },
    Exporter {
        name: "vdb",
        about: "OpenVDB: density and velocity of the particles on a sparse grid, one .vdb file per frame",
        up: Up::Z,
        write: vdb::export,
    },
    Exporter {
        name: "gltf",
        about: "glTF: one .glb file of points per frame, one animated .glb file of bodies, y up",
        up: Up::Y,
        write: gltf::export,
    },
    Exporter {
        name: "vtk",
        about: "VTK XML for ParaView and OVITO: one .vtp file per frame, and a .pvd file with the times",
        up: Up::Z,
        write: vtk::export,
    },
    Exporter {
        name: "ply",
        about: "Stanford PLY, binary: one file per frame",
        up: Up::Z,
        write: ply::export,
    },
    Exporter {
        name: "csv",
        about: "text with a header line: one file per frame; bodies as one table",
        up: Up::Z,
        write: csv::export,
    },
];

impl Exporter {
    /// Returns the exporter of that name.
    pub fn of_name(name: &str) -> Result<&'static Self, ExportError> {
        EXPORTERS
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| ExportError::UnknownKind { found: name.to_owned() })
    }
}

/// Reason why a cache cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no such format.
    #[error("there is no export to `{found}`; allowed: {}", names())]
    UnknownKind {
        /// Requested name.
        found: String,
    },
    /// The options select nothing.
    #[error("there is nothing to export: the cache has frames {present}")]
    Nothing {
        /// First and last frame.
        present: String,
    },
    /// A number is out of range.
    #[error("the {what} must be positive and finite, got {found}")]
    Number {
        /// Name of the option.
        what: &'static str,
        /// The number.
        found: f64,
    },
    /// A format cannot hold a file of that length.
    #[error("{} would be {bytes} bytes long, and the format ends at 4 GiB: export with --only, or as usd", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// The voxels are too small for the extent.
    #[error(
        "the particles of frame {frame} reach farther than 2^30 voxels of {voxel} from the origin: take larger voxels"
    )]
    Voxel {
        /// Frame number.
        frame: u64,
        /// Edge of a voxel.
        voxel: f64,
    },
    /// A table has no positions.
    #[error("the {part} of frame {frame} have no column `position`")]
    NoPosition {
        /// `guides` or `grains`.
        part: &'static str,
        /// Frame number.
        frame: u64,
    },
    /// The cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The surface of a body cannot be read.
    #[error("{}: {reason}", path.display())]
    Surface {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The system cannot write.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file could not be written.
    #[error(transparent)]
    Points(#[from] PointFileError),
}

fn names() -> String {
    let all: Vec<&str> = EXPORTERS.iter().map(|e| e.name).collect();
    all.join(", ")
}

/// The column that every table has.
const POSITION: &str = "position";

/// Input and output of an exporter.
struct Export<'a> {
    cache: &'a Cache,
    out: &'a Path,
    options: &'a ExportOptions<'a>,
    axes: Axes,
    /// Selected frames.
    frames: Vec<FrameEntry>,
    /// Columns of guides, without rows.
    guide_columns: Table,
    progress: &'a mut dyn FnMut(usize, usize),
}

/// Exports the cache in `cache_dir` to files of `kind` in `out_dir`. `progress` receives the number of finished frames
/// and the total.
pub fn export(
    cache_dir: &Path,
    kind: &str,
    out_dir: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ExportError> {
    let exporter = Exporter::of_name(kind)?;
    for (what, number) in [("scale", Some(options.scale)), ("edge of a voxel", options.voxel)] {
        if let Some(found) = number.filter(|&x| !(x > 0.0 && x.is_finite())) {
            return Err(ExportError::Number { what, found });
        }
    }
    let cache = Cache::open(cache_dir)?;
    let all = cache.frames();
    let selected = all.iter().filter(|entry| options.frames.contains(&entry.frame));
    let frames: Vec<FrameEntry> = selected.step_by(options.every.max(1)).cloned().collect();
    if frames.is_empty() {
        let ends = all.first().zip(all.last());
        return Err(ExportError::Nothing {
            present: ends.map_or("none".to_owned(), |(a, b)| format!("{} to {}", a.frame, b.frame)),
        });
    }
    files::make_folder(out_dir)?;
    (exporter.write)(&mut Export {
        cache: &cache,
        out: out_dir,
        options,
        axes: Axes {
            scale: options.scale,
            up: options.up.unwrap_or(exporter.up),
        },
        guide_columns: match options.only {
            None | Some(Part::Guides) => shots::guide_columns(&cache, &frames)?,
            Some(_) => Table::default(),
        },
        frames,
        progress,
    })
}

/// Returns the bytes of numbers in the order of this machine, which all supported ones share with these formats.
fn bytes<T: bytemuck::NoUninit>(numbers: &[T]) -> &[u8] {
    const { assert!(cfg!(target_endian = "little")) };
    bytemuck::cast_slice(numbers)
}

/// Returns `name` as an identifier: ASCII letters, digits and `_`, not beginning with a digit; different from those in
/// `taken`.
fn identifier(name: &str, taken: &[String]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut plain: String = name.chars().map(plain).collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    let numbered = (2..).map(|k| format!("{plain}_{k}"));
    let mut names = [plain.clone()].into_iter().chain(numbered);
    names.find(|name| !taken.contains(name)).expect("endless numbers")
}

/// Converts linear light to sRGB, IEC 61966-2-1.
fn srgb(linear: f32) -> u8 {
    let encoded = match linear <= 0.003_130_8 {
        true => 12.92 * linear,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    (255.0 * encoded.clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_plain_and_different() {
        let mut taken = Vec::new();
        for (name, expected) in [
            ("scoop, \"left\"", "scoop___left_"),
            ("2nd", "_2nd"),
            ("a b", "a_b"),
            ("a-b", "a_b_2"),
            ("", "_"),
        ] {
            taken.push(identifier(name, &taken));
            assert_eq!(taken.last().unwrap(), expected);
        }
    }

    #[test]
    fn half_of_the_light_is_a_bright_gray() {
        assert_eq!([0.0, 0.001, 0.5, 1.0, 7.0].map(srgb), [0, 3, 188, 255, 255]);
    }
}
