//! States of bodies as columns.

use barchan_world::BodyState;
use glam::DVec3;

use super::POSITION;
use crate::{Column, Points, Values};

/// States of bodies, column by column.
pub(super) struct Poses {
    name: Vec<String>,
    position: Vec<DVec3>,
    rotation: Vec<[f64; 4]>,
    vectors: [(&'static str, Vec<DVec3>); 4],
    scalars: [(&'static str, Vec<f64>); 2],
}

impl Poses {
    pub fn of(bodies: Vec<BodyState>) -> Self {
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
    pub fn columns(&self) -> Vec<Column<'_>> {
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
        let column = |(name, values)| Column { name, values };
        own.into_iter().chain(vectors).chain(scalars).map(column).collect()
    }

    /// Returns the bodies as points, with `keys` before their own columns.
    pub fn points<'a>(&'a self, keys: &[(&'a str, Values<'a>)]) -> Points<'a> {
        let keys = keys.iter().map(|&(name, values)| Column { name, values });
        let own = self.columns().into_iter().filter(|column| column.name != POSITION);
        Points {
            positions: &self.position,
            columns: keys.chain(own).collect(),
        }
    }
}
