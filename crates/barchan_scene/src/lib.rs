//! Scene files: from a text to a checked [`Scene`] to a [`World`](barchan_world::World), with the location in every
//! error.
//!
//! Texts are TOML, read from spanned values and not through derived deserialization, so that one run reports every
//! mistake in a text, each with its line and column. [`reader`] is that layer; [`shapes`] is the notation of shapes on
//! top of it; [`TableSpec`](barchan_world::spec::TableSpec) declares tables as data, from which reading, checking and
//! the JSON schema follow; [`SCENE`] lists every key, with its unit and default. The files of the folder `scenes`
//! ([`BUILT_IN`]) are examples.
//!
//! Solvers are given as [`SolverSpec`](barchan_world::spec::SolverSpec)s: nothing here names one, or a setting of one.
//! The crate `barchan` has [`parse_scene_with`] and [`schema_with`] for its own table of solvers.

mod build;
mod built_in;
mod check;
mod diagnostic;
mod document;
mod fields;
mod overrides;
mod points;
pub mod reader;
mod room;
mod scene;
mod schema;
pub mod shapes;
mod start;
mod tables;
mod urdf;
mod written;

pub use build::{BuildStep, BuildWatch, SceneError};
pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use document::{Document, Place};
pub use scene::{
    BodyPlan, Camera, CameraKey, Control, Fill, FillSource, JointPlace, JointPlan, JointType, Lever, Movement, Output,
    Refine, Scene, parse_scene_with,
};
pub use schema::schema_with;
pub use shapes::{ParsedShape, PlacedShape, parse_shape, shape_help};
pub use start::{Inherited, InheritedGroup, InheritedGuide, Start};
pub use tables::{LOOKS, SCENE};
