//! `barchan refine`: grains for guides that are there.

use std::path::PathBuf;

use barchan::io::CacheError;
use barchan::refining::{RefineOptions, RefiningError, refine};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::use_threads;

/// Make grains for a cache that has guides only, or for files of another program.
#[derive(Args)]
pub struct Arguments {
    /// A cache, or a folder of .vtp, .ply or .csv files, a file a frame, in the order of their names
    dir: PathBuf,

    /// Radius of the grains [m]; the scene's, or a third of the guides' if not given
    #[arg(long, value_name = "R")]
    radius: Option<f64>,

    /// The cache that is made of files; DIR-grains if not given
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Radius of guides whose files say none [m]
    #[arg(long, value_name = "R")]
    guide_radius: Option<f64>,

    /// Files in a second
    #[arg(long, value_name = "N", default_value_t = 60.0)]
    frame_rate: f64,

    /// Replace the cache that is at the output
    #[arg(long)]
    force: bool,

    /// Threads to use; all cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print what was done as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    // Grains take many steps a frame where frames are rare.
    if !(0.1..=1e6).contains(&arguments.frame_rate) {
        return Err(Failure::input("--frame-rate must be from 0.1 to 1000000"));
    }
    let options = RefineOptions {
        dir: arguments.dir.clone(),
        radius: arguments.radius,
        output: arguments.output.clone(),
        guide_radius: arguments.guide_radius,
        frame_rate: arguments.frame_rate,
        force: arguments.force,
    };
    let progress = Progress::new("refining");
    let done = refine(&options, &mut |done, of| progress.tell(done as f64 / of.max(1) as f64));
    drop(progress);
    let done = done.map_err(|error| match error {
        RefiningError::Cache(CacheError::Write(_) | CacheError::Stopped) => Failure::run(error.to_string()),
        error => Failure::input(error.to_string()),
    })?;
    if arguments.json {
        let row = json!({
            "dir": done.dir, "frames": done.frames, "grains": done.grains, "grain_ms": done.grain_ms,
        });
        say!("{row}");
    } else {
        say!(
            "{} grains in {} frames in {}",
            done.grains,
            done.frames,
            done.dir.display()
        );
    }
    Ok(())
}
