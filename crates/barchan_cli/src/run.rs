//! `barchan run`: a scene becomes a cache.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use barchan::SimulationError;
use barchan::io::{CacheError, EXPORTERS, export, has_checkpoint};
use barchan::running::{Go, RunError, RunOptions, default_dir, run as simulate};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::cache::export_failure;
use crate::disk;
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

    /// Number of the frame at time 0; 0 if not given
    #[arg(long, value_name = "N")]
    start_frame: Option<u64>,

    /// Threads to use; all cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Continue from the checkpoint in the folder; without one, start from the beginning
    #[arg(long)]
    resume: bool,

    /// Replace the cache that is in the folder
    #[arg(long, conflicts_with = "resume")]
    force: bool,

    /// Write these kinds of files beside the cache when it is done
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.name)))]
    export: Vec<String>,

    /// Print what was done as one JSON object
    #[arg(long)]
    json: bool,
}

/// Exit code of a run that was stopped before it had anything to go on with.
const NOTHING_DONE: i32 = 1;

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let (scene, source) = arguments.scene.scene()?;
    let options = RunOptions {
        dir: arguments.output.clone().unwrap_or_else(|| default_dir(&scene)),
        frames: arguments.frames,
        start_frame: arguments.start_frame,
        resume: arguments.resume,
        force: arguments.force,
        scene: source,
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let has_frames = Arc::new(AtomicBool::new(false));
    let (flag, is_running) = (interrupted.clone(), has_frames.clone());
    let on_interrupt = move || {
        // Before the first frame there is nothing to finish, and settling may take long.
        if !is_running.load(Ordering::Relaxed) {
            tell!("stopped before the first frame was done");
            std::process::exit(NOTHING_DONE);
        }
        flag.store(true, Ordering::Relaxed);
    };
    ctrlc::set_handler(on_interrupt).map_err(|reason| Failure::run(format!("cannot listen for Ctrl-C: {reason}")))?;
    let progress = Progress::new("simulating");
    if options.resume && !has_checkpoint(&options.dir) {
        progress.say(&format!(
            "no checkpoint in {}: starting from the beginning",
            options.dir.display()
        ));
    }
    if scene.settle() > 0.0 && !options.resume {
        progress.say(&format!("sand settles for {} s before time 0", scene.settle()));
    }
    let mut is_first = true;
    let report = simulate(&scene, &options, &mut |now| {
        if std::mem::take(&mut is_first) {
            disk::report(&progress, &scene, &options.dir, &now);
        }
        has_frames.store(true, Ordering::Relaxed);
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
        export(&options.dir, kind, &to, &mut |_, _| ()).map_err(export_failure)?;
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
            "bytes": report.bytes,
        });
        say!("{row}");
    } else {
        say!("{} of {} frames in {dir}", report.frame, report.frames);
        say!(
            "  simulation {:.1} s, output {:.1} s beside it, {:.1} MB",
            report.simulation,
            report.output.busy.as_secs_f64(),
            report.bytes as f64 * 1e-6
        );
    }
    if report.frame < report.frames {
        tell!(
            "stopped; go on with: {}",
            resuming(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
        );
    }
    Ok(())
}

/// The command line that goes on with what `arguments` began.
fn resuming(arguments: impl Iterator<Item = String>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let mut words: Vec<String> = arguments.map(quoted).collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Cache(CacheError::Write(_) | CacheError::Stopped) => Failure::run(error.to_string()),
        RunError::Simulation(error) => simulation_failure(error),
        error => Failure::input(error.to_string()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_resumed_by_the_same_words_quoted_where_a_shell_would_split_them() {
        let words = ["barchan", "run", "my scene.toml", "--set", "name=it's", "--frames", "9"];
        let resumed = resuming(words.into_iter().map(str::to_owned));
        assert_eq!(
            resumed,
            r"barchan run 'my scene.toml' --set 'name=it'\''s' --frames 9 --resume"
        );
        let again = ["barchan", "run", "a.toml", "--resume"];
        assert_eq!(
            resuming(again.into_iter().map(str::to_owned)),
            "barchan run a.toml --resume"
        );
    }
}
