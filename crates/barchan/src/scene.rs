//! Scene files: everything of `barchan_scene`, for the solvers of [`SOLVERS`].
//!
//! ```
//! use barchan::scene::{Document, parse_scene};
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

use barchan_world::spec::SolverSpec;

use crate::inherited;
use crate::registry::SOLVERS;

pub use barchan_scene::*;
pub use barchan_world::ContactProperties;
pub use barchan_world::spec::{Setting, Settings};

/// Reads a scene with its overrides. Returns warnings about likely mistakes, or every error.
///
/// [`parse_scene_with`] does the same for other solvers than those of [`SOLVERS`].
pub fn parse_scene(document: &Document) -> Result<(Scene, Vec<Diagnostic>), Diagnostics> {
    parse_scene_with(document, SOLVERS)
}

/// Like [`parse_scene`], for any `solvers`; the first is that of scenes that choose none.
///
/// # Panics
/// If there are no solvers.
pub fn parse_scene_with(
    document: &Document,
    solvers: &[&'static SolverSpec],
) -> Result<(Scene, Vec<Diagnostic>), Diagnostics> {
    let (mut scene, warnings) = barchan_scene::parse_scene_with(document, solvers)?;
    inherited::resolve(&mut scene)?;
    Ok((scene, warnings))
}

/// Returns the JSON Schema (draft 2020-12) of scene files.
pub fn schema() -> serde_json::Value {
    schema_with(SOLVERS)
}
