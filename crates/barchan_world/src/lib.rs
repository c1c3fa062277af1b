//! The state of a simulation at one time, and the interfaces of the parts that change it.
//!
//! No files, no threads, no hidden seed, and no clock but the [`Stopwatch`] that times the stages. A [`World`] is the
//! state; a [`Solver`] advances its guides and bodies by one frame; a [`Refiner`] moves grains with them; a [`Frame`]
//! is the output. [`spec`] describes solvers as data to the rest of barchan.
//!
//! Lengths are meters, masses kilograms, times seconds, angles radians; z is up.

mod archive;
mod body;
mod boundary;
mod columns;
mod contact;
mod crowd;
mod distance;
mod frame;
mod guides;
mod images;
mod keys;
mod ledger;
mod material;
mod placement;
mod solver;
mod source;
pub mod spec;
mod spline;
mod stopwatch;
mod world;

pub use archive::{Archive, ArchiveError, FARTHEST};
pub use body::{Bodies, Body, BodyId, Joint, JointKind, Motion, Pose, Twist, Wrench};
pub use boundary::Boundary;
pub use columns::{ColumnRef, Element, NEW_ROW, Renumbering, Spare, carry, gather, permute, retain};
pub use contact::{Contact, Partner};
pub use distance::{BodyDistance, Face, FaceSearch, extent};
pub use frame::{BodyState, Column, Frame, Stats, Table};
pub use guides::{Guide, Guides, displace};
pub use keys::{Ease, Key, Keys, Turn};
pub use ledger::{Ledger, Mass};
pub use material::{ContactProperties, Friction, Material, MaterialId, Materials, Meeting, geometric_mean};
pub use placement::Placement;
pub use solver::{AdvanceError, AdvanceReport, RefineReport, Refiner, Solver};
pub use source::{Emitter, Sink};
pub use stopwatch::Stopwatch;
pub use world::{Periodic, SETTLED_FRACTION, World};
