//! Exports a cache to files of other formats.
//!
//! Guides and grains become one file per frame, `OUT/guides/000042.EXTENSION`, with rows in the order of `id`: a
//! particle keeps its row while no particle before it appears or disappears. Bodies become one table, `OUT/bodies.csv`,
//! with one row per body and frame; formats with faces also contain their surfaces.

mod csv;
mod ply;
mod surfaces;
mod vtk;

use std::fs;
use std::path::{Path, PathBuf};

use barchan_world::{BodyState, Column, JointState, Table};
use glam::DVec3;
use thiserror::Error;

use crate::{Cache, CacheError, Part, PointFileError, Points, Values, WriteError, write_points};

/// An export format.
pub struct Exporter {
    /// Name on the command line.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    write: fn(&mut Export) -> Result<(), ExportError>,
}

/// Every export format.
pub const EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "vtk",
        about: "VTK XML for ParaView: one .vtp file per frame, and a .pvd file with the times; bodies as surfaces",
        write: vtk::export,
    },
    Exporter {
        name: "ply",
        about: "Stanford PLY, binary: one file per frame; bodies as one table",
        write: ply::export,
    },
    Exporter {
        name: "csv",
        about: "text with a header line: one file per frame; bodies as one table",
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

/// Exports the cache in `cache_dir` to files of `kind` in `out_dir`. `progress` receives the number of finished frames
/// and the total.
pub fn export(
    cache_dir: &Path,
    kind: &str,
    out_dir: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ExportError> {
    let exporter = Exporter::of_name(kind)?;
    let cache = Cache::open(cache_dir)?;
    make_folder(out_dir)?;
    (exporter.write)(&mut Export {
        cache: &cache,
        out: out_dir,
        progress,
    })
}

fn make_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|reason| WriteError {
        path: path.to_owned(),
        reason,
    })
}

/// The column that every table has.
const POSITION: &str = "position";

/// Input and output of an exporter.
struct Export<'a> {
    cache: &'a Cache,
    out: &'a Path,
    progress: &'a mut dyn FnMut(usize, usize),
}

/// Writes the bodies of a frame to a file.
type WriteBodies<'a> = dyn Fn(&Path, Vec<BodyState>) -> Result<(), WriteError> + 'a;

/// A file that was written.
struct Written {
    part: Part,
    time: f64,
    /// Path relative to the folder.
    file: String,
}

impl Export<'_> {
    /// Writes guides and grains of each frame as point files with this extension, and bodies by `write_bodies`.
    fn frames(&mut self, extension: &str, write_bodies: Option<&WriteBodies>) -> Result<Vec<Written>, ExportError> {
        let frames = self.cache.frames();
        let mut written = Vec::new();
        for (done, entry) in frames.iter().enumerate() {
            for part in Part::ALL {
                let is_written = match part {
                    Part::Guides | Part::Grains => true,
                    Part::Bodies => write_bodies.is_some(),
                    // All frames are one table.
                    Part::Joints => false,
                };
                if !is_written || entry.rows(part).is_none() {
                    continue;
                }
                let file = format!("{}/{:06}.{extension}", part.name(), entry.frame);
                let path = self.out.join(&file);
                make_folder(&self.out.join(part.name()))?;
                match (part, write_bodies) {
                    (Part::Bodies, Some(write)) => write(&path, self.cache.read_bodies(entry.frame)?)?,
                    (Part::Grains, _) => write_table(&path, part, entry.frame, self.cache.read_grains(entry.frame)?)?,
                    _ => write_table(&path, part, entry.frame, self.cache.read_guides(entry.frame)?)?,
                }
                written.push(Written {
                    part,
                    time: entry.time,
                    file,
                });
            }
            (self.progress)(done + 1, frames.len());
        }
        Ok(written)
    }

    /// Writes the bodies of all frames as one table, if there are any, and the joints as another.
    fn body_table(&self) -> Result<(), ExportError> {
        self.joint_table()?;
        let (mut all, mut frames, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.cache.frames().iter().filter(|entry| entry.bodies.is_some()) {
            all.extend(self.cache.read_bodies(entry.frame)?);
            frames.resize(all.len(), entry.frame as f64);
            times.resize(all.len(), entry.time);
        }
        if all.is_empty() {
            return Ok(());
        }
        let poses = Poses::of(all);
        let keys = [("frame", Values::Scalar(&frames)), ("time", Values::Scalar(&times))];
        write_points(&self.out.join("bodies.csv"), &poses.points(&keys))?;
        Ok(())
    }

    /// Writes the joints of all frames as one table, if there are any.
    fn joint_table(&self) -> Result<(), ExportError> {
        let (mut all, mut frames, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.cache.frames().iter().filter(|entry| entry.joints.is_some()) {
            all.extend(self.cache.read_joints(entry.frame)?);
            frames.resize(all.len(), entry.frame as f64);
            times.resize(all.len(), entry.time);
        }
        if all.is_empty() {
            return Ok(());
        }
        let scalars = |value: fn(&JointState) -> f64| all.iter().map(value).collect::<Vec<_>>();
        let vectors = |value: fn(&JointState) -> DVec3| all.iter().map(value).collect::<Vec<_>>();
        let names: Vec<String> = all.iter().map(|joint| joint.name.clone()).collect();
        let (displacement, speed) = (scalars(|j| j.displacement), scalars(|j| j.speed));
        let (force, torque, motor) = (vectors(|j| j.force), vectors(|j| j.torque), scalars(|j| j.motor));
        let points = Points {
            positions: &vectors(|j| j.position),
            columns: Vec::new(),
        };
        let points = points
            .with("frame", Values::Scalar(&frames))
            .with("time", Values::Scalar(&times))
            .with("name", Values::Text(&names))
            .with("displacement", Values::Scalar(&displacement))
            .with("speed", Values::Scalar(&speed))
            .with("force", Values::Vector(&force))
            .with("torque", Values::Vector(&torque))
            .with("motor", Values::Scalar(&motor));
        write_points(&self.out.join("joints.csv"), &points)?;
        Ok(())
    }
}

fn write_table(path: &Path, part: Part, frame: u64, table: Table) -> Result<(), ExportError> {
    let table = sorted_by_id(table);
    let Some(Column::Vec3(positions)) = table.column(POSITION) else {
        return Err(ExportError::NoPosition {
            part: part.name(),
            frame,
        });
    };
    let positions: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
    let mut points = Points {
        positions: &positions,
        columns: Vec::new(),
    };
    for (name, column) in table.columns.iter().filter(|c| c.0 != POSITION) {
        points = points.with(
            name,
            match column {
                Column::U8(values) => Values::U8(values),
                Column::U32(values) => Values::U32(values),
                Column::F32(values) => Values::F32(values),
                Column::Vec3(values) => Values::Vec3(values),
            },
        );
    }
    Ok(write_points(path, &points)?)
}

/// States of bodies, column by column.
struct Poses {
    name: Vec<String>,
    position: Vec<DVec3>,
    rotation: Vec<[f64; 4]>,
    vectors: [(&'static str, Vec<DVec3>); 4],
    scalars: [(&'static str, Vec<f64>); 2],
}

impl Poses {
    fn of(bodies: Vec<BodyState>) -> Self {
        let column = |value: fn(&BodyState) -> DVec3| bodies.iter().map(value).collect();
        Self {
            position: column(|b| b.position),
            rotation: bodies.iter().map(|b| b.rotation).collect(),
            vectors: [
                ("linear_velocity", column(|b| b.linear_velocity)),
                ("angular_velocity", column(|b| b.angular_velocity)),
                ("force", column(|b| b.force)),
                ("torque", column(|b| b.torque)),
            ],
            scalars: [
                ("max_force", bodies.iter().map(|b| b.max_force).collect()),
                ("max_torque", bodies.iter().map(|b| b.max_torque).collect()),
            ],
            name: bodies.into_iter().map(|b| b.name).collect(),
        }
    }

    /// Returns all values as columns.
    fn columns(&self) -> Vec<crate::Column<'_>> {
        let own = [
            ("name", Values::Text(&self.name)),
            (POSITION, Values::Vector(&self.position)),
            ("rotation", Values::Rotation(&self.rotation)),
        ];
        let vectors = self
            .vectors
            .iter()
            .map(|(name, values)| (*name, Values::Vector(values)));
        let scalars = self
            .scalars
            .iter()
            .map(|(name, values)| (*name, Values::Scalar(values)));
        let column = |(name, values)| crate::Column { name, values };
        own.into_iter().chain(vectors).chain(scalars).map(column).collect()
    }

    /// Returns the bodies as points, with `keys` before their own columns.
    fn points<'a>(&'a self, keys: &[(&'a str, Values<'a>)]) -> Points<'a> {
        let keys = keys.iter().map(|&(name, values)| crate::Column { name, values });
        let own = self.columns().into_iter().filter(|column| column.name != POSITION);
        Points {
            positions: &self.position,
            columns: keys.chain(own).collect(),
        }
    }
}

/// Sorts the rows by id; returns a table without ids unchanged.
fn sorted_by_id(table: Table) -> Table {
    let Some(Column::U32(ids)) = table.column("id") else {
        return table;
    };
    if ids.is_sorted() {
        return table;
    }
    let mut order: Vec<(u32, u32)> = ids.iter().copied().zip(0..).collect();
    order.sort_unstable();
    fn picked<T: Copy>(values: &[T], order: &[(u32, u32)]) -> Vec<T> {
        order.iter().map(|&(_, row)| values[row as usize]).collect()
    }
    let sorted = |(name, column): (String, Column)| {
        let column = match column {
            Column::U8(values) => Column::U8(picked(&values, &order)),
            Column::U32(values) => Column::U32(picked(&values, &order)),
            Column::F32(values) => Column::F32(picked(&values, &order)),
            Column::Vec3(values) => Column::Vec3(picked(&values, &order)),
        };
        (name, column)
    };
    Table {
        columns: table.columns.into_iter().map(sorted).collect(),
    }
}
