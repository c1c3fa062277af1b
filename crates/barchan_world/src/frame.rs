//! Output of a simulation at the frame rate.

use glam::{DVec3, Vec3};

use crate::{Body, Mass, World};

/// One frame, owned, so that it can be written while the simulation goes on.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Frame number.
    pub number: u64,
    /// Time [s].
    pub time: f64,
    /// Guides, one row each.
    pub guides: Table,
    /// Grains, one row each, if there are any.
    pub grains: Option<Table>,
    /// Bodies that are present.
    pub bodies: Vec<BodyState>,
    /// Contacts of guides, one row each, if they are recorded.
    pub contacts: Option<Table>,
    /// Means over the cells of a grid, one row each, if they are recorded.
    pub fields: Option<Table>,
    /// Statistics.
    pub stats: Stats,
}

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names and values, in the order in which they are written.
    pub columns: Vec<(String, Column)>,
}

/// An owned column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Small numbers.
    U8(Vec<u8>),
    /// Numbers.
    U32(Vec<u32>),
    /// One number each.
    F32(Vec<f32>),
    /// Three numbers each.
    Vec3(Vec<Vec3>),
}

impl Column {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Vec3(values) => values.len(),
        }
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |c| c.1.len())
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.0 == name).map(|c| &c.1)
    }

    /// Appends a column.
    ///
    /// # Panics
    /// If its length differs from that of the others.
    pub fn push(&mut self, name: &str, column: Column) {
        assert!(self.columns.is_empty() || column.len() == self.len(), "column {name}");
        self.columns.push((name.to_owned(), column));
    }
}

/// Pose and load of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// Name in scene files.
    pub name: String,
    /// Position of its frame's origin [m].
    pub position: DVec3,
    /// Rotation of its frame: x, y, z, w.
    pub rotation: [f64; 4],
    /// Velocity of its center of mass [m/s].
    pub linear_velocity: DVec3,
    /// Angular velocity [rad/s].
    pub angular_velocity: DVec3,
    /// Mean force by guides over the frame [N].
    pub force: DVec3,
    /// Mean torque by guides about its center of mass over the frame [N m].
    pub torque: DVec3,
}

impl BodyState {
    /// Returns the state of `body`.
    pub fn of(body: &Body) -> Self {
        Self {
            name: body.name.clone(),
            position: body.pose.position,
            rotation: body.pose.rotation.to_array(),
            linear_velocity: body.twist.linear,
            angular_velocity: body.twist.angular,
            force: body.wrench.force,
            torque: body.wrench.torque,
        }
    }
}

/// Statistics of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Time steps since the previous frame [-].
    pub steps: u32,
    /// Number of guides [-].
    pub guides: usize,
    /// Number of grains [-].
    pub grains: usize,
    /// Mass of all guides [kg].
    pub mass: f64,
    /// Mass taken by sinks so far [kg].
    pub removed_mass: f64,
    /// Mass added by emitters so far [kg].
    pub emitted_mass: f64,
    /// True if filled + emitted - removed = present, exactly.
    pub ledger_closes: bool,
    /// Kinetic energy of the guides [J].
    pub kinetic_energy: f64,
    /// Potential energy of the guides, relative to the world's origin of coordinates [J].
    pub potential_energy: f64,
    /// Momentum of the guides [kg m/s].
    pub momentum: DVec3,
    /// Speed of the fastest guide [m/s].
    pub max_speed: f64,
    /// Largest overlap, as a fraction of a radius [-].
    pub max_overlap: f32,
    /// Wall-clock time of the solver [ms].
    pub guide_ms: f64,
    /// Wall-clock time of the grains [ms].
    pub grain_ms: f64,
    /// Further statistics of the solver.
    pub extras: Vec<(String, f64)>,
}

impl Stats {
    /// Computes the sums over the guides, moving with `velocities` [m/s].
    pub fn of_guides(world: &World, velocities: &[Vec3]) -> Self {
        let mut stats = Self {
            guides: world.guides.len(),
            removed_mass: world.ledger.removed.kilograms(),
            emitted_mass: world.ledger.emitted.kilograms(),
            ..Self::default()
        };
        let present = Mass::sum(world.guides.mass.iter().copied());
        stats.mass = present.kilograms();
        stats.ledger_closes = present == world.ledger.expected();
        for (i, velocity) in velocities.iter().enumerate() {
            let mass = f64::from(world.guides.mass[i]);
            let velocity = velocity.as_dvec3();
            stats.kinetic_energy += 0.5 * mass * velocity.length_squared();
            stats.potential_energy -= mass * world.gravity.dot(world.place(i));
            stats.momentum += mass * velocity;
            stats.max_speed = stats.max_speed.max(velocity.length());
        }
        stats
    }
}
