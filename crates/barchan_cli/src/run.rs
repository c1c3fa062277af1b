//! `barchan run`: a scene becomes a cache.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use barchan::SimulationError;
use barchan::io::{CacheError, EXPORTERS, export};
use barchan::running::{Go, RunError, RunOptions, default_dir, run as simulate};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::scene::SceneArguments;
use crate::use_threads;

/// Simulate a scene into a cache.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// The cache's folder; caches/NAME if not given
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames after the first; as long as the scene lasts if not given
    #[arg(long, value_name = "N")]
    frames: Option<u64>,

    /// Number of the frame at time 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    start_frame: u64,

    /// Threads to use; all cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Go on from the checkpoint in the folder
    #[arg(long)]
    resume: bool,

    /// Write these kinds of files beside the cache when it is done
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.name)))]
    export: Vec<String>,

    /// Print what was done as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let (scene, source) = arguments.scene.scene()?;
    let options = RunOptions {
        dir: arguments.output.clone().unwrap_or_else(|| default_dir(&scene)),
        frames: arguments.frames,
        start_frame: arguments.start_frame,
        resume: arguments.resume,
        scene: source,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|reason| Failure::run(format!("cannot listen for Ctrl-C: {reason}")))?;
    let progress = Progress::new("simulating");
    let report = simulate(&scene, &options, &mut |now| {
        progress.tell_frame(&now);
        match interrupted.load(Ordering::Relaxed) {
            true => Go::Stop,
            false => Go::On,
        }
    });
    drop(progress);
    let report = report.map_err(failure)?;
    for kind in &arguments.export {
        let to = options.dir.join(kind);
        export(&options.dir, kind, &to, &mut |_, _| ()).map_err(|e| Failure::run(e.to_string()))?;
    }
    let dir = options.dir.display();
    if arguments.json {
        let row = json!({
            "scene": scene.name,
            "dir": options.dir,
            "frames": report.frame,
            "finished": report.frame >= report.frames,
            "simulation_seconds": report.simulation,
            "output_seconds": report.output.busy.as_secs_f64(),
            "output_waited_seconds": report.output.waited.as_secs_f64(),
            "bytes": report.output.bytes,
        });
        say!("{row}");
    } else {
        say!("{} of {} frames in {dir}", report.frame, report.frames);
        say!(
            "  simulation {:.1} s, output {:.1} s beside it, {:.1} MB",
            report.simulation,
            report.output.busy.as_secs_f64(),
            report.output.bytes as f64 * 1e-6
        );
    }
    if report.frame < report.frames {
        eprintln!(
            "stopped; go on with: barchan run {} -o {dir} --resume",
            arguments.scene.scene
        );
    }
    Ok(())
}

fn failure(error: RunError) -> Failure {
    match &error {
        RunError::Cache(CacheError::Write(_) | CacheError::Stopped) => Failure::run(error.to_string()),
        RunError::Cache(_) | RunError::OtherScene { .. } => Failure::input(error.to_string()),
        _ => match error {
            RunError::Simulation(error) => simulation_failure(error),
            error => Failure::run(error.to_string()),
        },
    }
}

/// Whose fault it is that a simulation could not be made or go on.
pub fn simulation_failure(error: SimulationError) -> Failure {
    match error {
        SimulationError::Scene(_) | SimulationError::Solver(_) | SimulationError::Refine(_) => {
            Failure::input(error.to_string())
        }
        _ => Failure::run(error.to_string()),
    }
}
