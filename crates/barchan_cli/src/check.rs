//! `barchan check`, `barchan scenes`, `barchan schema`: about scenes, nothing run.

use barchan::check_settings;
use barchan::geometry::text::counted;
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
    let (items, refused, good) = match parse_scene(&document) {
        Ok((scene, warnings)) => {
            let refused = check_settings(&scene).err();
            let good = refused.is_none();
            (warnings, refused, good)
        }
        Err(errors) => (errors.items, None, false),
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
    if let Some(reason) = &refused {
        match arguments.json {
            true => say!(
                "{}",
                json!({
                    "severity": "error",
                    "file": document.name,
                    "line": null,
                    "column": null,
                    "message": reason.to_string(),
                    "help": null,
                })
            ),
            false => tell!("error: {}: {reason}\n", document.name),
        }
    }
    let found = items.iter().filter(|i| i.severity == Severity::Error).count();
    let errors = found + usize::from(refused.is_some());
    let warnings = items.len() - found;
    if !arguments.json && good {
        say!("{}: good, {}", document.name, counted(warnings, "warning"));
    }
    match good {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "{}: {}, {}",
            document.name,
            counted(errors, "error"),
            counted(warnings, "warning")
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
    let width = BUILT_IN.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    for scene in BUILT_IN {
        match arguments.json {
            true => say!("{}", json!({ "name": scene.name, "about": scene.about })),
            false => say!("{:width$}  {}", scene.name, scene.about),
        }
    }
}

pub fn print_schema() {
    say!("{:#}", schema());
}
