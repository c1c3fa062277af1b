//! The state of a simulation at one instant, and the seams between those who change it.
//!
//! No files, no threads, no hidden seed, and no clock but the [`Stopwatch`] that tells how long stages take: a [`World`] is what there is; a [`Solver`] moves its guides and bodies
//! over the time of a frame; a [`Refiner`] moves grains after them; a [`Frame`] is what leaves. [`spec`] describes solvers to those who do not know them.
//!
//! Lengths are meters, masses kilograms, times seconds, angles radians; z is up.

mod archive;
mod body;
mod boundary;
mod columns;
mod crowd;
mod frame;
mod guides;
mod images;
mod keys;
mod ledger;
mod material;
mod solver;
mod source;
pub mod spec;
mod spline;
mod stopwatch;
mod world;

pub use archive::{Archive, ArchiveError, FARTHEST};
pub use body::{Bodies, Body, BodyId, Joint, JointKind, Motion, Pose, Twist, Wrench};
pub use boundary::Boundary;
pub use columns::{ColumnRef, Element, gather};
pub use frame::{BodyState, Column, Frame, Stats, Table};
pub use guides::{Guide, Guides, displace};
pub use keys::{Ease, Key, Keys, Turn};
pub use ledger::{Ledger, Mass};
pub use material::{ContactProperties, Friction, Material, MaterialId, Materials, Meeting, geometric_mean};
pub use solver::{AdvanceError, AdvanceReport, RefineReport, Refiner, Solver};
pub use source::{Emitter, Sink};
pub use stopwatch::Stopwatch;
pub use world::{Periodic, SETTLED_FRACTION, World};
