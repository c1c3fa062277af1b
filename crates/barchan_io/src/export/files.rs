//! One file per frame and part: what formats without animation share.

use std::fs;
use std::path::{Path, PathBuf};

use barchan_world::{BodyState, Column, JointState};
use glam::DVec3;

use super::poses::Poses;
use super::shots::Cloud;
use super::{Export, ExportError, srgb};
use crate::{FrameEntry, Part, Points, Values, WriteError, write_points};

pub(super) fn make_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|reason| WriteError {
        path: path.to_owned(),
        reason,
    })
}

/// A file that was written.
pub(super) struct Written {
    pub part: Part,
    pub time: f64,
    /// Path relative to the folder.
    pub file: String,
}

/// Writes the particles of a frame to a file.
type WriteCloud<'a> = dyn Fn(&Path, Part, Cloud) -> Result<(), ExportError> + 'a;
/// Writes the bodies of a frame to a file.
type WriteBodies<'a> = dyn Fn(&Path, Vec<BodyState>) -> Result<(), ExportError> + 'a;

/// Notation of colors in a point file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// One column of three numbers, linear.
    Linear,
    /// Columns `red`, `green` and `blue` in sRGB, 0 to 255.
    Srgb,
}

impl Export<'_> {
    /// Returns the path of a frame's file, whose folder exists.
    pub(super) fn file(&self, part: Part, frame: u64, extension: &str) -> Result<(String, PathBuf), ExportError> {
        make_folder(&self.out.join(part.name()))?;
        let file = format!("{}/{frame:06}.{extension}", part.name());
        Ok((file.clone(), self.out.join(file)))
    }

    /// Writes each selected part of each frame to a file of its own.
    pub(super) fn each_frame(
        &mut self,
        extension: &str,
        write_cloud: &WriteCloud,
        write_bodies: Option<&WriteBodies>,
    ) -> Result<Vec<Written>, ExportError> {
        let mut written = Vec::new();
        for done in 0..self.frames.len() {
            let entry = self.frames[done].clone();
            let mut note = |part, file| {
                written.push(Written {
                    part,
                    time: entry.time,
                    file,
                });
            };
            for part in [Part::Guides, Part::Grains] {
                if let Some(cloud) = self.cloud(part, &entry)? {
                    let (file, path) = self.file(part, entry.frame, extension)?;
                    write_cloud(&path, part, cloud)?;
                    note(part, file);
                }
            }
            if let Some(write) = write_bodies
                && let Some(bodies) = self.bodies(&entry)?
            {
                let (file, path) = self.file(Part::Bodies, entry.frame, extension)?;
                write(&path, bodies)?;
                note(Part::Bodies, file);
            }
            self.finished(done + 1);
        }
        Ok(written)
    }

    /// Returns the bodies of each selected frame that has them.
    pub(super) fn all_bodies(&self) -> Result<Vec<(&FrameEntry, Vec<BodyState>)>, ExportError> {
        let read = |entry| Ok(self.bodies(entry)?.map(|bodies| (entry, bodies)));
        self.frames.iter().filter_map(|entry| read(entry).transpose()).collect()
    }

    /// Writes the bodies of all frames as one table and the joints as another, if there are any.
    pub(super) fn tables(&self) -> Result<(), ExportError> {
        self.body_table()?;
        self.joint_table()
    }

    fn body_table(&self) -> Result<(), ExportError> {
        let (mut all, mut frames, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, bodies) in self.all_bodies()? {
            all.extend(bodies);
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

    fn joint_table(&self) -> Result<(), ExportError> {
        let (mut all, mut frames, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &self.frames {
            all.extend(self.joints(entry)?);
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

/// Writes particles as a point file of `path`'s extension.
pub(super) fn write_cloud(path: &Path, cloud: &Cloud, notation: Notation) -> Result<(), ExportError> {
    let positions: Vec<DVec3> = cloud.positions.iter().map(|p| p.as_dvec3()).collect();
    let mut points = Points {
        positions: &positions,
        columns: Vec::new(),
    };
    points = points.with("id", Values::U32(&cloud.ids));
    if let Some(velocities) = &cloud.velocities {
        points = points.with("velocity", Values::Vec3(velocities));
    }
    if let Some(radii) = &cloud.radii {
        points = points.with("radius", Values::F32(radii));
    }
    for (name, column) in &cloud.extras {
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
    let channels: Vec<(&str, Vec<u8>)> = match &cloud.colors {
        Some(colors) if notation == Notation::Srgb => (["red", "green", "blue"].into_iter().enumerate())
            .map(|(axis, name)| (name, colors.iter().map(|color| srgb(color[axis])).collect()))
            .collect(),
        _ => Vec::new(),
    };
    if let Some(colors) = cloud.colors.as_ref().filter(|_| notation == Notation::Linear) {
        points = points.with("color", Values::Vec3(colors));
    }
    for (name, values) in &channels {
        points = points.with(name, Values::U8(values));
    }
    Ok(write_points(path, &points)?)
}
