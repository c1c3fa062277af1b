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

use std::path::{Path, PathBuf};

use barchan_scene::reader::near_miss;
use barchan_world::spec::SolverSpec;
use thiserror::Error;

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

/// Reason why a scene is not found.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is neither a file nor a built-in scene of that name.
    #[error("found neither a file nor a built-in scene {source_name}; {help}")]
    Unknown {
        /// Path or name.
        source_name: String,
        /// A similar name.
        help: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: std::io::Error,
    },
}

/// Finds a scene by the path of its file, or by the name of a built-in scene.
pub fn find(source: &str) -> Result<Document, FindError> {
    let path = Path::new(source);
    // A folder of that name may be the scene's own cache.
    match built_in(source) {
        Some(document) if !path.is_file() => Ok(document),
        _ => Document::read(path).map_err(|reason| match path.try_exists() {
            Ok(false) => FindError::Unknown {
                source_name: source.to_owned(),
                help: guess(path),
            },
            _ => FindError::Read {
                path: path.to_owned(),
                reason,
            },
        }),
    }
}

/// Suggests the built-in scene that was probably meant by `path`, and the command that lists all of them.
fn guess(path: &Path) -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|scene| scene.name).collect();
    let word = path.file_stem().unwrap_or_default().to_string_lossy();
    let meant = near_miss(&word, &names).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    format!("{meant}`barchan scenes` lists the built-in scenes")
}

/// Returns a scene's text and overrides, for manifests.
pub fn source(scene: &Scene, document: &Document) -> serde_json::Value {
    serde_json::json!({ "name": scene.name, "text": document.text, "set": document.overrides })
}

/// Returns the JSON Schema (draft 2020-12) of scene files.
pub fn schema() -> serde_json::Value {
    schema_with(SOLVERS)
}
