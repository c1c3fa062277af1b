//! Frames as exporters see them: selected, with rows in the order of `id`, scaled and turned to the requested axes.

use std::ops::RangeInclusive;

use barchan_world::{BodyState, Column, JointState, Table};
use glam::{DMat4, DQuat, DVec3, Vec3};

use super::{Export, ExportError, POSITION};
use crate::{Cache, CacheError, FrameEntry, Part};

/// Axis that points upwards in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up {
    /// (x, y, z) becomes (x, z, -y).
    Y,
    /// Positions as in the cache.
    Z,
}

/// Colors of the pictures, as linear RGB [-].
pub trait Palette {
    /// Returns the colors of the rows of `table`: guides or grains of a frame of `cache`.
    fn particles(&self, cache: &Cache, frame: &FrameEntry, table: &Table) -> Result<Vec<Vec3>, CacheError>;

    /// Returns the color of a body.
    fn body(&self, name: &str) -> [f32; 3];
}

/// Options of an export.
#[derive(Clone)]
pub struct ExportOptions<'a> {
    /// Numbers of the frames to export.
    pub frames: RangeInclusive<u64>,
    /// Exports every n-th of those frames; 0 counts as 1.
    pub every: usize,
    /// The only part to export; by default all.
    pub only: Option<Part>,
    /// Factor of all lengths and velocities [-].
    pub scale: f64,
    /// Axis that points upwards; by default the convention of the format.
    pub up: Option<Up>,
    /// USD: particles are instances of a sphere instead of points.
    pub instances: bool,
    /// OpenVDB: edge of a voxel in the cache's unit [m]; by default four mean radii.
    pub voxel: Option<f64>,
    /// Colors; without them, particles have no column `color`.
    pub palette: Option<&'a dyn Palette>,
}

impl Default for ExportOptions<'_> {
    fn default() -> Self {
        Self {
            frames: 0..=u64::MAX,
            every: 1,
            only: None,
            scale: 1.0,
            up: None,
            instances: false,
            voxel: None,
            palette: None,
        }
    }
}

/// Change from the cache's axes and unit to those of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub scale: f64,
    pub up: Up,
}

impl Axes {
    /// Turns a direction.
    pub fn direction(&self, v: DVec3) -> DVec3 {
        match self.up {
            Up::Y => DVec3::new(v.x, v.z, -v.y),
            Up::Z => v,
        }
    }

    /// Turns and scales a position or a velocity.
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.scale * self.direction(p)
    }

    fn direction_f32(&self, v: Vec3) -> Vec3 {
        match self.up {
            Up::Y => Vec3::new(v.x, v.z, -v.y),
            Up::Z => v,
        }
    }

    /// Returns the rotation of a body whose mesh is turned too: R q R⁻¹.
    fn rotation(&self, [x, y, z, w]: [f64; 4]) -> [f64; 4] {
        let [x, y, z] = self.direction(DVec3::new(x, y, z)).to_array();
        [x, y, z, w]
    }

    fn table(&self, table: &mut Table) {
        let factor = self.scale as f32;
        for (name, column) in &mut table.columns {
            let is_length = matches!(name.as_str(), POSITION | "velocity" | "radius");
            let factor = if is_length { factor } else { 1.0 };
            match column {
                Column::Vec3(values) => values.iter_mut().for_each(|v| *v = factor * self.direction_f32(*v)),
                Column::F32(values) if is_length => values.iter_mut().for_each(|v| *v *= factor),
                _ => {}
            }
        }
    }

    fn body(&self, body: BodyState) -> BodyState {
        BodyState {
            name: body.name,
            position: self.point(body.position),
            rotation: self.rotation(body.rotation),
            linear_velocity: self.point(body.linear_velocity),
            angular_velocity: self.direction(body.angular_velocity),
            force: self.direction(body.force),
            torque: self.direction(body.torque),
            max_force: body.max_force,
            max_torque: body.max_torque,
        }
    }

    /// Displacements stay: they are lengths or angles.
    fn joint(&self, joint: JointState) -> JointState {
        JointState {
            position: self.point(joint.position),
            force: self.direction(joint.force),
            torque: self.direction(joint.torque),
            ..joint
        }
    }
}

/// Returns the transform from a body's frame.
pub(super) fn transform(body: &BodyState) -> DMat4 {
    DMat4::from_rotation_translation(DQuat::from_array(body.rotation).normalize(), body.position)
}

/// Guides or grains of a frame.
pub(super) struct Cloud {
    /// Centers.
    pub positions: Vec<Vec3>,
    /// Numbers of the particles; row numbers if the cache has none.
    pub ids: Vec<u32>,
    /// Displacement per second, if the cache has it.
    pub velocities: Option<Vec<Vec3>>,
    /// Radii, if the cache has them.
    pub radii: Option<Vec<f32>>,
    /// Linear RGB, if colors are exported.
    pub colors: Option<Vec<Vec3>>,
    /// Other columns: material, those of the solver.
    pub extras: Vec<(String, Column)>,
}

impl Cloud {
    fn of(table: Table, colors: Option<Vec<Vec3>>, part: Part, frame: u64) -> Result<Self, ExportError> {
        let rows = table.len() as u32;
        let (mut positions, mut ids, mut velocities, mut radii) = (None, None, None, None);
        let mut extras = Vec::new();
        for (name, column) in table.columns {
            match (name.as_str(), column) {
                (POSITION, Column::Vec3(values)) => positions = Some(values),
                ("id", Column::U32(values)) => ids = Some(values),
                ("velocity", Column::Vec3(values)) => velocities = Some(values),
                ("radius", Column::F32(values)) => radii = Some(values),
                (_, column) => extras.push((name, column)),
            }
        }
        Ok(Self {
            colors,
            positions: positions.ok_or(ExportError::NoPosition {
                part: part.name(),
                frame,
            })?,
            ids: ids.unwrap_or_else(|| (0..rows).collect()),
            velocities,
            radii,
            extras,
        })
    }

    /// Returns the corners of the box around all spheres, or of the centers if there are no radii; `None` without
    /// particles.
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        let largest = self
            .radii
            .as_ref()
            .map_or(0.0, |radii| radii.iter().copied().fold(0.0, f32::max));
        let low = self.positions.iter().copied().reduce(Vec3::min)?;
        let high = self.positions.iter().copied().reduce(Vec3::max)?;
        Some([low - largest, high + largest])
    }
}

impl Export<'_> {
    /// Returns true if `part` is to be exported and some selected frame has it.
    pub(super) fn has(&self, part: Part) -> bool {
        self.options.only.is_none_or(|only| only == part) && self.frames.iter().any(|entry| entry.rows(part).is_some())
    }

    /// Returns true if `part` is to be exported and frame `entry` has it.
    pub(super) fn has_in(&self, part: Part, entry: &FrameEntry) -> bool {
        self.options.only.is_none_or(|only| only == part) && entry.rows(part).is_some()
    }

    /// Reads guides or grains of a frame; `None` if they are not to be exported or not in the cache.
    pub(super) fn cloud(&self, part: Part, entry: &FrameEntry) -> Result<Option<Cloud>, ExportError> {
        if !self.has_in(part, entry) {
            return Ok(None);
        }
        let table = match part {
            Part::Grains => self.cache.read_grains(entry.frame)?,
            _ => self.cache.read_guides(entry.frame)?,
        };
        let mut table = sorted_by_id(table);
        let palette = self.options.palette;
        let colors = palette
            .map(|palette| palette.particles(self.cache, entry, &table))
            .transpose()?;
        if part == Part::Guides {
            complete(&mut table, &self.guide_columns);
        }
        self.axes.table(&mut table);
        Cloud::of(table, colors, part, entry.frame).map(Some)
    }

    /// Reads the bodies of a frame; `None` if they are not to be exported or not in the cache.
    pub(super) fn bodies(&self, entry: &FrameEntry) -> Result<Option<Vec<BodyState>>, ExportError> {
        if !self.has_in(Part::Bodies, entry) {
            return Ok(None);
        }
        let bodies = self.cache.read_bodies(entry.frame)?;
        Ok(Some(bodies.into_iter().map(|body| self.axes.body(body)).collect()))
    }

    /// Reads the joints of a frame; none if they are not to be exported or not in the cache.
    pub(super) fn joints(&self, entry: &FrameEntry) -> Result<Vec<JointState>, ExportError> {
        if !self.has_in(Part::Joints, entry) {
            return Ok(Vec::new());
        }
        let joints = self.cache.read_joints(entry.frame)?;
        Ok(joints.into_iter().map(|joint| self.axes.joint(joint)).collect())
    }

    /// Reports frame `done` of all selected ones as finished.
    pub(super) fn finished(&mut self, done: usize) {
        (self.progress)(done, self.frames.len());
    }
}

/// Gives a table the columns of `all`, which has no rows: solvers add theirs in the first step, so frame 0 lacks them. A
/// missing number is NaN, a missing integer 0.
fn complete(table: &mut Table, all: &Table) {
    let rows = table.len();
    table.columns.retain(|(name, _)| all.column(name).is_some());
    for (name, kind) in &all.columns {
        if table.column(name).is_none() {
            let column = match kind {
                Column::U8(_) => Column::U8(vec![0; rows]),
                Column::U32(_) => Column::U32(vec![0; rows]),
                Column::F32(_) => Column::F32(vec![f32::NAN; rows]),
                Column::Vec3(_) => Column::Vec3(vec![Vec3::NAN; rows]),
            };
            table.push(name, column);
        }
    }
}

/// Returns the columns of the last frame with guides, without their rows.
pub(super) fn guide_columns(cache: &Cache, frames: &[FrameEntry]) -> Result<Table, CacheError> {
    let Some(last) = frames.iter().rfind(|entry| entry.guides.is_some()) else {
        return Ok(Table::default());
    };
    let mut table = cache.read_guides(last.frame)?;
    for (_, column) in &mut table.columns {
        match column {
            Column::U8(values) => values.clear(),
            Column::U32(values) => values.clear(),
            Column::F32(values) => values.clear(),
            Column::Vec3(values) => values.clear(),
        }
    }
    Ok(table)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_body_carries_its_turned_points_to_the_same_place() {
        let axes = Axes { scale: 10.0, up: Up::Y };
        let body = BodyState {
            name: "scoop".to_owned(),
            position: DVec3::new(1.0, -2.0, 0.5),
            rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7).to_array(),
            linear_velocity: DVec3::X,
            angular_velocity: DVec3::Y,
            force: DVec3::Z,
            torque: DVec3::ZERO,
            max_force: 1.0,
            max_torque: 0.0,
        };
        let point = DVec3::new(0.3, 0.1, -0.4);
        let expected = axes.point(transform(&body).transform_point3(point));
        let turned = axes.body(body);
        let found = transform(&turned).transform_point3(axes.point(point));
        assert!(found.distance(expected) < 1e-12, "{found} {expected}");
        assert_eq!(turned.force, DVec3::Y);
        assert_eq!(turned.angular_velocity, DVec3::NEG_Z);
        assert_eq!(turned.linear_velocity, 10.0 * DVec3::X);
    }
}
