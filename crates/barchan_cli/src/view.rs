//! `barchan view`: the window.

use std::path::Path;

use barchan::io::Cache;
use barchan::render::Engine;
use barchan_viewer::{Source, ViewerError, has_display, open};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::failure::Failure;
use crate::scene::SceneArguments;
use crate::use_threads;

/// Open a window on a scene or a cache.
#[derive(Args)]
pub struct Arguments {
    /// A scene, simulated live; or the folder of a cache, played
    #[arg(value_name = "SCENE|DIR")]
    what: String,

    /// Change a value of the scene, as in `barchan run`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Renderer: the CPU, a GPU, or (auto) a hardware GPU if there is one
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = PossibleValuesParser::new(Engine::names()))]
    engine: String,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let engine = Engine::of_name(&arguments.engine).unwrap_or_default();
    show(&arguments.what, &arguments.set, engine)
}

/// Opens a window on the scene or cache `what`, and returns when it is closed.
pub fn show(what: &str, set: &[String], engine: Engine) -> Result<(), Failure> {
    // Checked before a scene is built, which may take a while.
    if !has_display() {
        return Err(failure(&ViewerError::NoDisplay));
    }
    let path = Path::new(what);
    let source = if path.is_dir() {
        // An invalid cache is reported here, with an exit code for scripts.
        Cache::open(path).map_err(|error| Failure::input(error.to_string()))?;
        Source::cache(path)
    } else {
        let scene = SceneArguments {
            scene: what.to_owned(),
            set: set.to_vec(),
        };
        Source::scene(scene.scene()?.0)
    };
    open(&format!("barchan: {what}"), source, engine).map_err(|error| failure(&error))
}

fn failure(error: &ViewerError) -> Failure {
    Failure::run(error.to_string())
}
