//! State of another run that a scene begins with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use barchan_geometry::Aabb;
use barchan_geometry::clump::Clump;
use barchan_world::{BodyState, Column, MaterialId, Motion, Pose, Table, Twist, World};
use glam::{DQuat, DVec3, Vec3};

use crate::build::{MOST_GUIDES, SceneError};
use crate::scene::Scene;

/// Frame of another run that a scene begins with.
#[derive(Clone, Debug)]
pub struct Start {
    /// Folder of the run's cache.
    pub cache: PathBuf,
    /// Number of the frame; the last one if not given.
    pub frame: Option<u64>,
    /// Contents of the frame. This crate reads no caches: the crate `barchan` sets them.
    pub contents: Option<Arc<Inherited>>,
}

/// Contents of a frame of another run, with the materials of the scene that begins with it.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// Its guides.
    pub guides: Vec<InheritedGuide>,
    /// Groups of guides, by ascending ids; together they have all guides.
    pub groups: Vec<InheritedGroup>,
    /// Columns of the solver, a row per guide.
    pub columns: Table,
    /// Its grains, if it has any.
    pub grains: Option<Table>,
    /// Its bodies.
    pub bodies: Vec<BodyState>,
}

/// A guide of another run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InheritedGuide {
    /// Id in that run.
    pub id: u32,
    /// Position [m].
    pub position: DVec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// Mass [kg].
    pub mass: f32,
    /// Number of the material in this scene.
    pub material: MaterialId,
}

/// Guides of another run with consecutive ids.
#[derive(Clone, Debug)]
pub struct InheritedGroup {
    /// Id after the last one, in that run.
    pub end: u32,
    /// Set if they never move.
    pub is_fixed: bool,
    /// Clump that each of them is.
    pub clump: Option<Arc<Clump>>,
}

impl Inherited {
    /// Returns the smallest and the largest radius [m] of the guides of each material.
    pub(crate) fn radii(&self) -> impl Iterator<Item = ([f64; 2], MaterialId)> + use<> {
        let mut ranges = BTreeMap::<MaterialId, [f64; 2]>::new();
        for guide in &self.guides {
            let radius = f64::from(guide.radius);
            let range = ranges.entry(guide.material).or_insert([radius; 2]);
            *range = [range[0].min(radius), range[1].max(radius)];
        }
        ranges.into_iter().map(|(material, range)| (range, material))
    }

    /// Returns the columns of the solver with the ids that the guides have in `world`.
    pub fn columns_by_id(&self, world: &World) -> Table {
        let first = world.fill_ends.len().checked_sub(self.groups.len() + 1);
        let first = first.map_or(0, |last| world.fill_ends[last]);
        let mut table = Table::default();
        let ids = self.guides.iter().map(|guide| first + guide.id);
        table.push("id", Column::U32(ids.collect()));
        for (name, column) in &self.columns.columns {
            table.push(name, column.clone());
        }
        table
    }

    pub(crate) fn bounds(&self) -> Aabb {
        Aabb::of_points(self.guides.iter().map(|guide| guide.position))
    }
}

impl Scene {
    /// Returns the contents of the frame that the scene begins with.
    pub fn inherited(&self) -> Option<&Inherited> {
        self.start.as_ref()?.contents.as_deref()
    }

    /// Adds the guides of the frame that the scene begins with, after those of the fills. Their ids keep their order
    /// and gaps.
    pub(crate) fn add_inherited(&self, world: &mut World) -> Result<(), SceneError> {
        let Some(inherited) = self.inherited() else {
            return Ok(());
        };
        let first = world.next_id;
        let end = inherited.groups.last().map_or(0, |group| group.end);
        if first as usize + end as usize >= MOST_GUIDES {
            return Err(SceneError::TooMany {
                place: self.place(&["start"]),
                count: first as usize + end as usize,
            });
        }
        for guide in &inherited.guides {
            world.next_id = first + guide.id;
            let velocity = guide.velocity.as_dvec3();
            world.add_guide(
                guide.position,
                velocity,
                guide.radius.into(),
                guide.mass,
                guide.material,
            );
        }
        world.next_id = first + end;
        let ends = inherited.groups.iter().map(|group| first + group.end);
        world.fill_ends.extend(ends);
        Ok(())
    }

    /// Puts bodies that guides or a driver move where they are in the frame that the scene begins with.
    pub(crate) fn place_inherited(&self, world: &mut World) {
        let Some(inherited) = self.inherited() else { return };
        for body in &mut world.bodies {
            let state = inherited.bodies.iter().find(|state| state.name == body.name);
            let (Some(state), Motion::Dynamic | Motion::Driven) = (state, &body.motion) else {
                continue;
            };
            body.pose = Pose {
                position: state.position,
                rotation: DQuat::from_array(state.rotation),
            };
            body.twist = Twist {
                linear: state.linear_velocity,
                angular: state.angular_velocity,
            };
        }
    }
}
