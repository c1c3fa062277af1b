//! `barchan refine`: adds grains to existing guides.

use std::path::PathBuf;

use barchan::geometry::text::{counted, short};
use barchan::io::CacheError;
use barchan::refining::{RefineOptions, RefiningError, refine};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::scene::SceneArguments;
use crate::use_threads;

/// Add grains to a cache of guides, or to particle files of another program.
#[derive(Args)]
pub struct Arguments {
    /// A cache, or a folder of .vtp, .ply or .csv files: one per frame, ordered by the numbers in their names
    dir: PathBuf,

    /// Radius of the grains [m] [default: the scene's, or a third of the guides']
    #[arg(long, value_name = "R")]
    radius: Option<f64>,

    /// Cache to write [default: DIR-grains for files, DIR itself for a cache]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Radius of guides whose files have no column `radius` [m]
    #[arg(long, value_name = "R")]
    guide_radius: Option<f64>,

    /// Files per second
    #[arg(long, value_name = "N", default_value_t = 60.0)]
    frame_rate: f64,

    /// Replace the output cache, or the grains of a cache
    #[arg(long)]
    force: bool,

    /// Scene of the guides: its fixed and scripted bodies, first material, periodic axes, [refine]
    #[arg(long, value_name = "SCENE")]
    scene: Option<String>,

    /// Change a value of that scene, as in `barchan run`
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scene")]
    set: Vec<String>,

    /// Height of a level ground [m]
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    floor: Option<f64>,

    /// Mesh files of fixed bodies
    #[arg(long, value_name = "MESH", num_args = 1.., action = clap::ArgAction::Append)]
    bodies: Vec<PathBuf>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    // Grains take many substeps per frame at low frame rates.
    if !(0.1..=1e6).contains(&arguments.frame_rate) {
        return Err(Failure::input("--frame-rate must be from 0.1 to 1000000"));
    }
    if let Some(radius) = arguments.guide_radius.filter(|r| !(1e-9..=1e6).contains(r)) {
        return Err(Failure::input(format!(
            "--guide-radius must be from 1e-9 to 1e6 m, got {}",
            short(radius)
        )));
    }
    if let Some(height) = arguments.floor.filter(|z| !(-1e9..=1e9).contains(z)) {
        return Err(Failure::input(format!(
            "--floor must be from -1e9 to 1e9 m, got {}",
            short(height)
        )));
    }
    let scene = arguments.scene.as_ref().map(|scene| SceneArguments {
        scene: scene.clone(),
        set: arguments.set.clone(),
    });
    let options = RefineOptions {
        dir: arguments.dir.clone(),
        radius: arguments.radius,
        output: arguments.output.clone(),
        guide_radius: arguments.guide_radius,
        frame_rate: arguments.frame_rate,
        force: arguments.force,
        scene: scene.map(|scene| scene.document()).transpose()?,
        floor: arguments.floor,
        bodies: arguments.bodies.clone(),
    };
    let progress = Progress::new("refining");
    let done = refine(&options, &mut |done, of| progress.show_frames(done as u64, of as u64));
    drop(progress);
    let done = done.map_err(|error| match error {
        RefiningError::Cache(CacheError::Write(_) | CacheError::Stopped) => Failure::run(error.to_string()),
        error => Failure::input(error.to_string()),
    })?;
    for warning in &done.warnings {
        tell!("warning: {warning}");
    }
    if arguments.json {
        let row = json!({
            "dir": done.dir, "frames": done.frames, "grains": done.grains, "grain_ms": done.grain_ms,
        });
        say!("{row}");
    } else {
        say!(
            "{} in {} in {}",
            counted(done.grains, "grain"),
            counted(done.frames, "frame"),
            done.dir.display()
        );
    }
    Ok(())
}
