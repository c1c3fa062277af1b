//! Shared by commands on scenes: finds, modifies and checks them.

use std::path::Path;

use barchan::scene::reader::near_miss;
use barchan::scene::{BUILT_IN, Document, Scene, built_in, parse_scene};
use barchan::{SOLVERS, doubts};
use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::progress::Progress;

/// A scene on the command line.
#[derive(Args)]
pub struct SceneArguments {
    /// A scene file, or the name of a built-in scene (`barchan scenes` lists them)
    #[arg(value_name = "SCENE")]
    pub scene: String,

    /// Change a value of the scene
    #[arg(long = "set", value_name = "KEY=VALUE", help = set_help(), long_help = set_long_help())]
    pub set: Vec<String>,
}

fn set_help() -> String {
    let names: Vec<&str> = SOLVERS.iter().map(|solver| solver.name).collect();
    let names = names.join("|");
    format!("Change a value of the scene: solver.kind={names}, materials.sand.angle_of_repose=30, fill.0.radius=0.01")
}

/// Lists the settings of every solver, too.
fn set_long_help() -> String {
    let mut help = set_help();
    for solver in SOLVERS {
        help += &format!("\n\nsolver.kind={solver}: {}", solver.about);
        for field in solver.settings.fields {
            let default = field
                .need
                .value()
                .map_or(String::new(), |value| format!(" (default {value})"));
            help += &format!("\n  solver.{solver}.{}: {}{default}", field.key, field.help);
        }
    }
    help
}

/// Suggests the built-in scene that was probably meant by `path`, and the command that lists all of them.
fn guess(path: &Path) -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|scene| scene.name).collect();
    let word = path.file_stem().unwrap_or_default().to_string_lossy();
    let meant = near_miss(&word, &names).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    format!("{meant}`barchan scenes` lists the built-in scenes")
}

impl SceneArguments {
    /// Returns the scene's text with its overrides.
    pub fn document(&self) -> Result<Document, Failure> {
        let path = Path::new(&self.scene);
        // A folder of that name may be the scene's own cache.
        let found = match built_in(&self.scene) {
            Some(document) if !path.is_file() => document,
            _ => Document::read(path).map_err(|reason| match path.try_exists() {
                Ok(false) => Failure::input(format!(
                    "found neither a file nor a built-in scene {}; {}",
                    self.scene,
                    guess(path)
                )),
                _ => Failure::input(format!("cannot read {}: {reason}", self.scene)),
            })?,
        };
        Ok(self.set.iter().fold(found, Document::with))
    }

    /// Returns the checked scene; prints warnings to standard error.
    pub fn scene(&self) -> Result<(Scene, Value), Failure> {
        let document = self.document()?;
        let progress = Progress::new("reading");
        progress.begin(&format!("reading {}", document.name));
        let parsed = parse_scene(&document);
        drop(progress);
        let (scene, warnings) = parsed.map_err(|errors| Failure::input(errors.to_string()))?;
        for warning in warnings.into_iter().chain(doubts(&scene)) {
            tell!("{}", warning.render(&document));
        }
        let source = json!({ "name": scene.name, "text": document.text, "set": document.overrides });
        Ok((scene, source))
    }
}
