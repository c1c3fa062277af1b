//! `barchan run`: simulates a scene into a cache.

use std::path::{Path, PathBuf};

use barchan::export;
use barchan::geometry::text::counted;
use barchan::io::{CacheError, EXPORTERS, ExportOptions, has_checkpoint};
use barchan::running::{Go, RunError, RunOptions, default_dir, run_watched as simulate};
use barchan::scene::Scene;
use barchan::world::spec::Weight;
use barchan::{BuildTimes, SimulationError, forecast, mass_note};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::disk;
use crate::export::export_failure;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::scene::SceneArguments;
use crate::shell::{quoted, quoted_path};
use crate::use_threads;

/// Simulate a scene into a cache.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// Folder of the cache [default: caches/NAME]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames after the first [default: the duration of the scene]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=Scene::MOST_FRAMES))]
    frames: Option<u64>,

    /// Number of the frame at time 0 [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_START_FRAME))]
    start_frame: Option<u64>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Continue from the checkpoint in the folder; without one, start from the beginning
    #[arg(long)]
    resume: bool,

    /// Replace the cache in the folder
    #[arg(long, conflicts_with = "resume")]
    force: bool,

    /// Export to these formats when the cache is complete
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.name)))]
    export: Vec<String>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Largest number of the first frame.
const MAX_START_FRAME: u64 = 1_000_000_000;

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
    let progress = Progress::new("simulating");
    let interrupt = Interrupt::listen(&progress)?;
    let begins_again = options.resume && !has_checkpoint(&options.dir);
    let phases = |phase| progress.show_phase(phase);
    let has_particles = scene.facts().weight == Weight::Particle;
    let masses = has_particles.then(|| forecast(&scene).ok()?.masses).flatten();
    let mut is_first = true;
    let report = simulate(&scene, &options, &phases, &mut |now| {
        if std::mem::take(&mut is_first) {
            if begins_again {
                let dir = options.dir.display();
                progress.say(&format!("no checkpoint in {dir}: starting from the beginning"));
            }
            disk::report(&progress, &scene, &options.dir, &now);
            if let Some(note) = masses.and_then(|[_, bulk]| mass_note(now.filled, bulk)) {
                progress.say(&note);
            }
        }
        interrupt.begin_frames();
        progress.show_frame(&now);
        match interrupt.is_requested() {
            true => Go::Stop,
            false => Go::On,
        }
    });
    drop(progress);
    let report = report.map_err(failure)?;
    for warning in &report.warnings {
        tell!("warning: {warning}");
    }
    for kind in &arguments.export {
        let to = options.dir.join(kind);
        export(&options.dir, kind, &to, &ExportOptions::default(), &mut |_, _| ()).map_err(export_failure)?;
    }
    let dir = options.dir.display();
    if arguments.json {
        let row = json!({
            "scene": scene.name,
            "dir": options.dir,
            "frames": report.frame,
            "finished": report.frame >= report.frames,
            "build_seconds": report.build.total,
            "packing_seconds": report.build.packing,
            "bodies_seconds": report.build.bodies,
            "settling_seconds": report.build.settling,
            "seeding_seconds": report.build.seeding,
            "simulation_seconds": report.simulation,
            "output_seconds": report.output.busy.as_secs_f64(),
            "output_waited_seconds": report.output.waited.as_secs_f64(),
            "bytes": report.bytes,
        });
        say!("{row}");
    } else {
        say!("{} of {} in {dir}", report.frame, counted(report.frames, "frame"));
        say!("  build {}", build_text(&report.build));
        say!(
            "  simulation {:.1} s, output {:.1} s in parallel, {:.1} MB",
            report.simulation,
            report.output.busy.as_secs_f64(),
            report.bytes as f64 * 1e-6
        );
    }
    if report.frame < report.frames {
        tell!(
            "stopped; continue with: {}",
            resuming(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
        );
    } else if !arguments.json {
        say!("{}", next_commands(&options.dir));
    }
    Ok(())
}

/// Lists the build time by phase, without phases that took no time.
fn build_text(build: &BuildTimes) -> String {
    let parts = [
        ("packing", build.packing),
        ("bodies", build.bodies),
        ("settling", build.settling),
        ("seeding", build.seeding),
    ];
    let shown = parts.iter().filter(|(_, seconds)| *seconds >= 0.05);
    let shown: Vec<String> = shown.map(|(what, seconds)| format!("{what} {seconds:.1}")).collect();
    match shown.is_empty() {
        true => format!("{:.1} s", build.total),
        false => format!("{:.1} s ({})", build.total, shown.join(", ")),
    }
}

/// Returns commands that show the result of a run.
fn next_commands(dir: &Path) -> String {
    let dir = quoted_path(dir);
    format!("next:\n  barchan render {dir}\n  barchan view {dir}\n  barchan export {dir} --to vtk")
}

/// Returns the command line that continues a run with `arguments`.
fn resuming(arguments: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = arguments.map(|word| quoted(&word)).collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

/// Maps the error of a run to its exit code.
pub fn failure(error: RunError) -> Failure {
    match error {
        RunError::Cache(CacheError::Write(_) | CacheError::Stopped) => Failure::run(error.to_string()),
        RunError::Simulation(error) => simulation_failure(error),
        error => Failure::input(error.to_string()),
    }
}

/// Maps a simulation error to its exit code.
pub fn simulation_failure(error: SimulationError) -> Failure {
    match error {
        SimulationError::Scene(_)
        | SimulationError::Forecast(_)
        | SimulationError::Solver(_)
        | SimulationError::Refine(_) => Failure::input(error.to_string()),
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

    #[test]
    fn the_next_commands_can_be_pasted() {
        let next = next_commands(Path::new("my caches/a"));
        assert!(next.contains("barchan render 'my caches/a'\n"), "{next}");
        assert!(next.contains("barchan view 'my caches/a'\n"), "{next}");
        assert!(next.ends_with("barchan export 'my caches/a' --to vtk"), "{next}");
    }

    #[test]
    fn the_build_time_names_its_larger_parts() {
        let build = BuildTimes {
            packing: 3.0,
            bodies: 0.01,
            settling: 4.12,
            seeding: 0.5,
            total: 7.7,
        };
        assert_eq!(build_text(&build), "7.7 s (packing 3.0, settling 4.1, seeding 0.5)");
        assert_eq!(build_text(&BuildTimes::default()), "0.0 s");
    }
}
