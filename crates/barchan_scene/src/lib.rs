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

mod diagnostic;
mod document;
mod mesh_file;
pub mod reader;
pub mod shapes;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use document::Document;
pub use shapes::{ParsedShape, parse_shape, shape_help};
