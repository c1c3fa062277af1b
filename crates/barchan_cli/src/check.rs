//! `barchan check`, `barchan scenes`, `barchan schema`: about scenes, nothing run.

use barchan::scene::{BUILT_IN, Place, Severity, parse_scene, schema};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::scene::SceneArguments;

/// Find what is wrong with a scene, without running it.
#[derive(Args)]
pub struct CheckArguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// Print one JSON object a problem
    #[arg(long)]
    json: bool,
}

pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let document = arguments.scene.document()?;
    let (items, good) = match parse_scene(&document) {
        Ok((_, warnings)) => (warnings, true),
        Err(errors) => (errors.items, false),
    };
    for item in &items {
        if !arguments.json {
            tell!("{}\n", item.render(&document));
            continue;
        }
        let (line, column) = match document.place(item.span.start) {
            Place::Text { line, column } => (Some(line), Some(column)),
            Place::Override(_) => (None, None),
        };
        let severity = if item.severity == Severity::Error {
            "error"
        } else {
            "warning"
        };
        let row = json!({
            "severity": severity,
            "file": document.name,
            "line": line,
            "column": column,
            "message": item.message,
            "help": item.help,
        });
        say!("{row}");
    }
    let errors = items.iter().filter(|i| i.severity == Severity::Error).count();
    let warnings = items.len() - errors;
    if !arguments.json && good {
        say!("{}: good, {warnings} warnings", document.name);
    }
    match good {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "{}: {errors} errors, {warnings} warnings",
            document.name
        ))),
    }
}

/// List the built-in scenes.
#[derive(Args)]
pub struct ScenesArguments {
    /// Print one JSON object a scene
    #[arg(long)]
    json: bool,
}

pub fn scenes(arguments: &ScenesArguments) {
    for scene in BUILT_IN {
        match arguments.json {
            true => say!("{}", json!({ "name": scene.name, "about": scene.about })),
            false => say!("{:<14} {}", scene.name, scene.about),
        }
    }
}

pub fn print_schema() {
    say!("{:#}", schema());
}
