//! Scene files: the text that describes shapes, with the place in every error.
//!
//! Texts are TOML, read from spanned values and not through derived deserialisation, so that one run reports every mistake
//! in a text, each with its line and column. [`reader`] is that layer; [`shapes`] is the notation of shapes on top of it.
//!
//! ```
//! use barchan_scene::{Document, parse_shape};
//!
//! let document = Document::new("shape", "{ sphere = { raduis = 1 } }");
//! let problems = parse_shape(&document).unwrap_err().to_string();
//! assert!(problems.contains("--> shape:1:14"));
//! assert!(problems.contains("did you mean `radius`?"));
//! ```

mod build;
mod built_in;
mod check;
mod diagnostic;
mod document;
pub mod field;
mod fields;
mod overrides;
mod points;
pub mod reader;
mod room;
mod scene;
mod schema;
mod settings;
pub mod shapes;
mod tables;

pub use build::SceneError;
pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use document::{Document, Place};
pub use scene::{
    BodyPlan, Camera, CameraKey, ContactProperties, Fill, FillSource, JointPlace, JointPlan, JointType, Output, Refine,
    Scene, parse_scene,
};
pub use schema::schema;
pub use settings::{PBD, SOLVERS, Setting, Settings};
pub use shapes::{ParsedShape, PlacedShape, parse_shape, shape_help};
pub use tables::SCENE;
