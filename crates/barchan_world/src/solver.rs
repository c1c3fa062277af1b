//! Interfaces of solvers, which move guides and bodies, and of refiners, which move grains.

use glam::Vec3;
use thiserror::Error;

use crate::{Archive, ArchiveError, Column, Contact, Table, World};

/// Report of a solver on a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdvanceReport {
    /// Time steps taken [-].
    pub steps: u32,
    /// Largest overlap of two guides, or of a guide and a body, at the end, as a fraction of a radius [-].
    pub max_overlap: f32,
    /// Further statistics of this solver, by name.
    pub extras: Vec<(&'static str, f64)>,
    /// Seconds spent in each stage, by name.
    pub stages: Vec<(&'static str, f64)>,
}

/// Why a solver could not go on.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum AdvanceError {
    /// A state that means nothing.
    #[error("at {time:.4} s guide {guide} {what}; {advice}")]
    Unstable {
        /// When [s].
        time: f64,
        /// Id of the guide.
        guide: u32,
        /// Description of the error.
        what: String,
        /// Setting to change.
        advice: String,
    },
    /// A scene that the solver cannot simulate.
    #[error("{what}; {advice}")]
    Scene {
        /// Description of the error.
        what: String,
        /// Setting to change.
        advice: String,
    },
    /// A body that flew apart.
    #[error("at {time:.4} s body `{body}` {what}; {advice}")]
    Body {
        /// When [s].
        time: f64,
        /// Name of the body.
        body: String,
        /// Description of the error.
        what: String,
        /// Setting to change.
        advice: String,
    },
}

/// Moves guides and bodies.
pub trait Solver: Send {
    /// Returns the name in scene files.
    fn name(&self) -> &'static str;

    /// Moves the world on by `duration` [s], in steps of its own. Guides may be sorted; ids identify them.
    ///
    /// Guides that lie outside periodic ranges are first brought back by [`World::shift_into_ranges`], once. Those that leave a range
    /// during the frame are left outside, so that positions show how far they went.
    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError>;

    /// Columns of its own worth showing, a value a guide in the world's order.
    fn columns(&self) -> Vec<(&'static str, Column)> {
        Vec::new()
    }

    /// Makes it keep the contacts at the end of each frame; returns false if it cannot.
    fn record_contacts(&mut self) -> bool {
        false
    }

    /// Returns the contacts at the end of the last frame, if they are kept and there was one.
    fn contacts(&self, _world: &World) -> Option<Vec<Contact>> {
        None
    }

    /// Stores what it needs to go on bit for bit, besides the world.
    fn save(&self, archive: &mut Archive);

    /// Takes back what [`save`](Self::save) stored.
    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError>;
}

/// Report of a refiner on a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefineReport {
    /// Grain steps taken [-].
    pub steps: u32,
    /// Seconds spent in each stage, by name.
    pub stages: Vec<(&'static str, f64)>,
}

/// Moves grains with the guides.
pub trait Refiner: Send {
    /// Number of grains.
    fn len(&self) -> usize;

    /// Returns true if there are no grains.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the grains on by `duration` [s], after the world has been moved on by it. `velocities` are what its guides moved
    /// by over that time, divided by it [m/s], in the world's order.
    fn advance(&mut self, world: &World, velocities: &[Vec3], duration: f64) -> RefineReport;

    /// The grains, to be written or shown.
    fn table(&self, world: &World) -> Table;

    /// Stores what it needs to go on bit for bit, besides the world.
    fn save(&self, archive: &mut Archive);

    /// Takes back what [`save`](Self::save) stored, for the same world.
    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError>;
}
