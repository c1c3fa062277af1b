//! Scene files: from a text to a checked [`Scene`] to a [`World`](barchan_world::World), with the place in every error.
//!
//! Texts are TOML, read from spanned values and not through derived deserialisation, so that one run reports every mistake
//! in a text, each with its line and column. [`reader`] is that layer; [`shapes`] is the notation of shapes on top of it;
//! [`field`] declares tables as data, from which reading, checking and the JSON [`schema`] follow; [`SCENE`] lists every
//! key there is, with its unit and default. The files of the folder `scenes` ([`BUILT_IN`]) show them at work.
//!
//! ```
//! use barchan_scene::{Document, parse_scene};
//!
//! let text = r#"
//! duration = 1
//! [materials.sand]
//! density = 1600
//! [[fill]]
//! material = "sand"
//! radius = 0.05
//! packing = "lattice"
//! shape = { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 0.25] }
//! [[body]]
//! name = "ground"
//! shape = { half_space = { normal = [0, 0, 1] } }
//! "#;
//! let (scene, warnings) = parse_scene(&Document::new("scene.toml", text).with("fill.0.radius=0.04")).unwrap();
//! let world = scene.build().unwrap();
//! assert!(warnings.is_empty() && world.guides.len() > 100);
//! assert!((world.ledger.filled.kilograms() - 1600.0 * 0.125).abs() < 1.0);
//!
//! let wrong = Document::new("scene.toml", text.replace("radius", "raduis"));
//! let problems = parse_scene(&wrong).unwrap_err().to_string();
//! assert!(problems.contains("--> scene.toml:7:1") && problems.contains("did you mean `radius`?"));
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
mod presets;
mod quantities;
pub mod reader;
mod room;
mod scene;
mod schema;
mod settings;
pub mod shapes;
mod tables;
mod written;

pub use build::{BuildStep, BuildWatch, SceneError};
pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use document::{Document, Place};
pub use scene::{
    BodyPlan, Camera, CameraKey, ContactProperties, Control, Fill, FillSource, JointPlace, JointPlan, JointType, Lever,
    Movement, Output, Refine, Scene, parse_scene,
};
pub use schema::schema;
pub use settings::{DEM, PBD, SOLVERS, Setting, Settings};
pub use shapes::{ParsedShape, PlacedShape, parse_shape, shape_help};
pub use tables::SCENE;
