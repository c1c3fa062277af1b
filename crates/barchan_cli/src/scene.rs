//! Shared by commands on scenes: finds, modifies and checks them.

use barchan::scene::{Document, Scene, find, parse_scene, source};
use barchan::{SOLVERS, doubts};
use clap::Args;
use serde_json::Value;

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

impl SceneArguments {
    /// Returns the scene's text with its overrides.
    pub fn document(&self) -> Result<Document, Failure> {
        let found = find(&self.scene).map_err(|error| Failure::input(error.to_string()))?;
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
        let source = source(&scene, &document);
        Ok((scene, source))
    }
}
