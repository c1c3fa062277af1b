//! `barchan compare`: one scene by several methods.

mod method;
mod page;
mod row;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use barchan::io::{Cache, write_atomically};
use barchan::render::{Image, panels};
use barchan::running::{Go, RunError, RunOptions, run_watched as simulate};
use barchan::scene::{Document, Scene, parse_scene};
use barchan::{Look, Stage, doubts, read_frame, try_start};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::render::options::LookArguments;
use crate::render::{Reel, failure as look_failure, write_png};
use crate::run::failure as run_failure;
use crate::scene::SceneArguments;
use crate::use_threads;
use method::Method;
use row::Row;

/// Largest number of methods: their panels must remain visible.
const MAX_METHODS: usize = 9;
/// Largest number of panels in a row.
const MAX_COLUMNS: usize = 3;

/// Simulate a scene by several methods, and compare them in pictures and numbers.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// Methods: solvers, or solvers with a preset, such as pbd,pbd:sommer,sph:ihmsen,dem:bell
    #[arg(long, value_name = "METHOD", value_delimiter = ',', required = true)]
    methods: Vec<String>,

    /// Folder of the caches, one per method, and of compare.png, compare.mp4 and compare.html [default: comparisons/NAME]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames after the first [default: the duration of the scene]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=Scene::MOST_FRAMES))]
    frames: Option<u64>,

    /// Replace caches in the folder that were made from another scene
    #[arg(long)]
    force: bool,

    /// Draw no movie
    #[arg(long)]
    no_movie: bool,

    #[command(flatten)]
    look: LookArguments,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object per method
    #[arg(long)]
    json: bool,
}

/// A method, its scene, and the folder of its cache.
struct Run {
    method: Method,
    scene: Scene,
    document: Document,
    dir: PathBuf,
    /// Reason why the simulation broke off, if it did.
    broken: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let look = arguments.look.look()?;
    let document = arguments.scene.document()?;
    let mut runs = plan(arguments, &document)?;
    let folder = folder(arguments, &runs[0].scene);
    let progress = Progress::new("simulating");
    let interrupt = Interrupt::listen(&progress)?;
    let count = runs.len();
    for (done, run) in runs.iter_mut().enumerate() {
        progress.show_part(&run.method.name(), done, count);
        progress.change_pace();
        run.simulate(arguments, &progress, &interrupt)?;
        if interrupt.is_requested() {
            drop(progress);
            tell!("stopped; the same command continues");
            return Ok(());
        }
    }
    // A method that breaks off while its sand settles has nothing to show.
    let (runs, lost): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.dir.join("manifest.json").exists());
    for run in &lost {
        tell!(
            "{}: {}",
            run.method.name(),
            run.broken.as_deref().unwrap_or("no frames")
        );
    }
    if runs.is_empty() {
        return Err(Failure::run("no method has a frame to show"));
    }
    let rows: Vec<Row> = runs.iter().map(Row::of).collect::<Result<_, _>>()?;
    draw(arguments, &runs, look, &folder, &progress, &interrupt)?;
    drop(progress);
    let page = page::page(&runs, &rows, &document, !arguments.no_movie);
    write_atomically(&folder.join("compare.html"), |out| out.write_all(page.as_bytes()))
        .map_err(|error| Failure::run(error.to_string()))?;
    match arguments.json {
        true => rows.iter().for_each(|row| say!("{}", row.json())),
        false => {
            say!("{}", row::table(&rows));
            say!("page: {}", folder.join("compare.html").display());
        }
    }
    let broken = lost.len() + runs.iter().filter(|run| run.broken.is_some()).count();
    match broken {
        0 => Ok(()),
        _ => Err(Failure::run(format!("{broken} of {count} methods broke off"))),
    }
}

/// Reads the scene for each method, and rejects what a run would reject.
fn plan(arguments: &Arguments, document: &Document) -> Result<Vec<Run>, Failure> {
    let methods: Vec<Method> = arguments
        .methods
        .iter()
        .map(|text| Method::of(text))
        .collect::<Result<_, _>>()?;
    if methods.len() > MAX_METHODS {
        return Err(Failure::input(format!(
            "--methods: at most {MAX_METHODS}, got {}",
            methods.len()
        )));
    }
    let mut runs: Vec<Run> = Vec::new();
    for method in methods {
        if runs.iter().any(|run| run.method == method) {
            return Err(Failure::input(format!("--methods: {} is there twice", method.name())));
        }
        let document = method.overrides().into_iter().fold(document.clone(), Document::with);
        let (scene, warnings) = parse_scene(&document).map_err(|errors| Failure::input(errors.to_string()))?;
        for warning in warnings.into_iter().chain(doubts(&scene)) {
            tell!("{}: {}", method.name(), warning.render(&document));
        }
        try_start(&scene).map_err(|error| Failure::input(format!("{}: {error}", method.name())))?;
        let dir = folder(arguments, &scene).join(method.folder());
        runs.push(Run {
            method,
            scene,
            document,
            dir,
            broken: None,
        });
    }
    Ok(runs)
}

fn folder(arguments: &Arguments, scene: &Scene) -> PathBuf {
    let usual = || Path::new("comparisons").join(barchan::file_name(&scene.name));
    arguments.output.clone().unwrap_or_else(usual)
}

impl Run {
    /// Simulates into the cache, from its checkpoint on if there is one. A simulation that breaks off keeps its frames.
    fn simulate(&mut self, arguments: &Arguments, progress: &Progress, interrupt: &Interrupt) -> Result<(), Failure> {
        let options = RunOptions {
            dir: self.dir.clone(),
            frames: arguments.frames,
            start_frame: None,
            resume: !arguments.force,
            force: arguments.force,
            scene: json!({ "name": self.scene.name, "text": self.document.text, "set": self.document.overrides }),
        };
        let phases = |phase| progress.show_phase(phase);
        let report = simulate(&self.scene, &options, &phases, &mut |now| {
            interrupt.begin_frames();
            progress.show_frame(&now);
            match interrupt.is_requested() {
                true => Go::Stop,
                false => Go::On,
            }
        });
        match report {
            Ok(_) => (),
            Err(RunError::Simulation(barchan::SimulationError::Advance(error))) => {
                self.broken = Some(error.to_string());
            }
            Err(error) => return Err(run_failure(error)),
        }
        Ok(())
    }

    fn cache(&self) -> Result<Cache, Failure> {
        Cache::open(&self.dir).map_err(|error| Failure::run(error.to_string()))
    }
}

/// Draws the last frames as `compare.png` and all frames as `compare.mp4`, a panel per method.
fn draw(
    arguments: &Arguments,
    runs: &[Run],
    mut look: Look,
    folder: &Path,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let caches: Vec<Cache> = runs.iter().map(Run::cache).collect::<Result<_, _>>()?;
    let stages: Vec<Stage> = runs
        .iter()
        .map(|run| Stage::load(&run.dir).map_err(|error| Failure::run(error.to_string())))
        .collect::<Result<_, _>>()?;
    let names: Vec<String> = runs.iter().map(|run| run.method.name()).collect();
    let longest = caches
        .iter()
        .map(|cache| cache.frames().len())
        .max()
        .unwrap_or_default();
    let mut renderer = arguments.look.renderer()?;
    // A cache that broke off shows its last frame from then on.
    let frame_of = |cache: &Cache, k: usize, look: &Look| {
        let at = k.min(cache.frames().len().saturating_sub(1));
        read_frame(cache, cache.frames()[at].frame, look.show).map_err(look_failure)
    };
    for (stage, cache) in stages.iter().zip(&caches) {
        for k in [0, longest - 1] {
            stage
                .include(&frame_of(cache, k, &look)?, &mut look)
                .map_err(look_failure)?;
        }
    }
    let mut picture = |k: usize| -> Result<Image, Failure> {
        let mut images = Vec::new();
        for (stage, cache) in stages.iter().zip(&caches) {
            let frame = frame_of(cache, k, &look)?;
            images.push(stage.draw(&frame, &look, &mut renderer).map_err(look_failure)?);
        }
        let named: Vec<(&str, &Image)> = names.iter().map(String::as_str).zip(&images).collect();
        Ok(panels(&named, MAX_COLUMNS))
    };
    let last = picture(longest - 1)?;
    write_png(&folder.join("compare.png"), &last)?;
    if arguments.no_movie {
        return Ok(());
    }
    let size = [last.width, last.height];
    let rate = runs[0].scene.frame_rate;
    let mut reel = Reel::create(&folder.join("compare.mp4"), size, rate, None, 1.0)?;
    progress.change_pace();
    for k in 0..longest {
        progress.show_frames(k as u64, longest as u64);
        if interrupt.is_requested() {
            break;
        }
        if reel.wants(k as f64 / rate) {
            reel.push(k as u64, &picture(k)?)?;
        }
    }
    reel.finish().map(drop)
}
