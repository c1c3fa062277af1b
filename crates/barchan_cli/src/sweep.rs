//! `barchan sweep`: runs a scene for every combination of values.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use barchan::file_name;
use barchan::geometry::text::counted;
use barchan::running::Go;
use barchan::scene::Scene;
use barchan::sweep::{Plan, Sweep, SweepError, Vary};
use clap::Args;
use serde_json::Value;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::scene::SceneArguments;
use crate::{run, use_threads};

/// Run a scene for every combination of values, into one table.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// A key, as for --set, and its values; may be given several times
    #[arg(long, value_name = "KEY=A,B,C", required = true)]
    vary: Vec<String>,

    /// Folder of the runs and the table; a sweep that was broken off there continues [default: sweeps/NAME]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames of each run after the first [default: the duration of the scene]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=Scene::MOST_FRAMES))]
    frames: Option<u64>,

    /// Parallel runs, each in a process of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,

    /// Only run K, from 0 on: for job arrays
    #[arg(long, value_name = "K", conflicts_with = "jobs")]
    task: Option<usize>,

    /// Number of threads [default: all cores, divided among the jobs]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object per row of the table
    #[arg(long)]
    json: bool,
}

/// Attempts at a run whose process is killed.
const ATTEMPTS: u32 = 3;

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let document = arguments.scene.document()?;
    let stem = Path::new(&arguments.scene.scene).file_stem().unwrap_or_default();
    let default = || Path::new("sweeps").join(file_name(&stem.to_string_lossy()));
    let dir = arguments.output.clone().unwrap_or_else(default);
    let vary: Result<Vec<Vary>, SweepError> = arguments.vary.iter().map(|one| one.parse()).collect();
    let plan = vary.and_then(|vary| Plan::new(document, vary, arguments.frames));
    let plan = plan.map_err(failure)?;
    match arguments.task {
        Some(number) => {
            use_threads(arguments.threads)?;
            let sweep = Sweep::begin(&dir, plan).map_err(failure)?;
            run_here(&sweep, &[number])?;
            sweep.write_table().map_err(failure)?;
            print(&sweep, &[number], arguments.json);
            Ok(())
        }
        None => run_all(arguments, &dir, plan),
    }
}

fn run_all(arguments: &Arguments, dir: &Path, plan: Plan) -> Result<(), Failure> {
    let progress = Progress::new("reading");
    progress.begin(&format!("reading {}", counted(plan.len(), "scene")));
    plan.check().map_err(failure)?;
    drop(progress);
    let sweep = Sweep::begin(dir, plan).map_err(failure)?;
    let [first, second] = sweep.batches();
    let done = match arguments.jobs {
        1 => {
            use_threads(arguments.threads)?;
            run_here(&sweep, &[first, second].concat())
        }
        _ => run_in_processes(arguments, &sweep, &[first, second]),
    };
    // Rows of finished runs are worth having even if others failed.
    sweep.write_table().map_err(failure)?;
    let all: Vec<usize> = (0..sweep.plan().len()).collect();
    print(&sweep, &all, arguments.json);
    done
}

fn print(sweep: &Sweep, runs: &[usize], json: bool) {
    let rows: Vec<_> = runs.iter().filter_map(|&k| sweep.row(k)).collect();
    if json {
        for row in rows {
            say!("{}", Value::Object(row));
        }
    } else {
        let table = sweep.dir().join("table.csv");
        say!(
            "{} of {} in {}",
            rows.len(),
            counted(runs.len(), "run"),
            table.display()
        );
    }
}

/// Does runs one after another in this process. A failed run does not keep others from being done.
fn run_here(sweep: &Sweep, runs: &[usize]) -> Result<(), Failure> {
    let progress = Progress::new("sweeping");
    let interrupt = Interrupt::listen(&progress)?;
    let mut failures = Failures::default();
    for (done, &number) in runs.iter().enumerate() {
        let has_title = number < sweep.plan().len();
        if has_title {
            progress.show_part(&sweep.plan().title(number), done, runs.len());
        }
        let ran = sweep.run(number, &|phase| progress.show_phase(phase), &mut |now| {
            interrupt.begin_frames();
            progress.show_frame(&now);
            match interrupt.is_requested() {
                true => Go::Stop,
                false => Go::On,
            }
        });
        match ran {
            Ok(_) => {}
            Err(error @ (SweepError::Stopped { .. } | SweepError::NoRun { .. })) => return Err(failure(error)),
            Err(error) => {
                progress.say(&format!("error: {error}"));
                failures.add(failure(error));
            }
        }
    }
    failures.result()
}

/// Does runs in processes of their own, batch after batch. A run whose process is killed is repeated: it continues from
/// its last checkpoint.
fn run_in_processes(arguments: &Arguments, sweep: &Sweep, batches: &[Vec<usize>]) -> Result<(), Failure> {
    let program =
        std::env::current_exe().map_err(|reason| Failure::run(format!("cannot find this program: {reason}")))?;
    let jobs = usize::from(arguments.jobs);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.unwrap_or((cores / jobs).max(1));
    let all: usize = batches.iter().map(Vec::len).sum();
    let progress = Progress::new("sweeping");
    let interrupt = Interrupt::listen(&progress)?;
    // Each process finishes its frame by itself.
    interrupt.begin_frames();
    let (begun, failures) = (Mutex::new(0), Mutex::new(Failures::default()));
    for batch in batches {
        let queue = Mutex::new(VecDeque::from(batch.clone()));
        let next = || {
            let number = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            number.filter(|_| !interrupt.is_requested())
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(batch.len()) {
                scope.spawn(|| {
                    while let Some(number) = next() {
                        let title = sweep.plan().title(number);
                        {
                            let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
                            progress.show_part(&title, *begun, all);
                            *begun += 1;
                        }
                        if let Err(reason) = run_in_process(arguments, &program, sweep, number, threads, &progress) {
                            progress.say(reason.to_string().trim_end());
                            failures.lock().unwrap_or_else(PoisonError::into_inner).add(reason);
                        }
                    }
                });
            }
        });
    }
    if interrupt.is_requested() {
        return Err(Failure::run("stopped; the same command continues the sweep"));
    }
    failures.into_inner().unwrap_or_else(PoisonError::into_inner).result()
}

fn run_in_process(
    arguments: &Arguments,
    program: &Path,
    sweep: &Sweep,
    number: usize,
    threads: usize,
    progress: &Progress,
) -> Result<(), Failure> {
    let title = sweep.plan().title(number);
    let mut command = Command::new(program);
    command.arg("sweep").arg(&arguments.scene.scene);
    for set in &arguments.scene.set {
        command.arg(format!("--set={set}"));
    }
    for vary in &arguments.vary {
        command.arg(format!("--vary={vary}"));
    }
    if let Some(frames) = arguments.frames {
        command.arg(format!("--frames={frames}"));
    }
    command.arg("-o").arg(sweep.dir());
    command.args([format!("--task={number}"), format!("--threads={threads}")]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    for attempt in 1..=ATTEMPTS {
        let output = command.output();
        let output = output.map_err(|reason| Failure::run(format!("{title}: cannot start: {reason}")))?;
        let said = String::from_utf8_lossy(&output.stderr);
        // Progress comes before the error.
        let said = &said[said.find("error:").unwrap_or(0)..];
        match output.status.code() {
            Some(0) => return Ok(()),
            Some(2) => return Err(Failure::input(said)),
            Some(_) => return Err(Failure::run(said)),
            None if attempt < ATTEMPTS => progress.say(&format!("{title}: its process was killed; trying again")),
            None => {}
        }
    }
    Err(Failure::run(format!(
        "{title}: its process was killed {ATTEMPTS} times"
    )))
}

/// Failed runs: their number, and the worst kind.
#[derive(Default)]
struct Failures {
    count: usize,
    is_input: bool,
}

impl Failures {
    fn add(&mut self, failure: Failure) {
        self.count += 1;
        self.is_input |= failure.is_input();
    }

    fn result(self) -> Result<(), Failure> {
        let message = format!("{} failed; the others are in the table", counted(self.count, "run"));
        match (self.count, self.is_input) {
            (0, _) => Ok(()),
            (_, true) => Err(Failure::input(message)),
            (_, false) => Err(Failure::run(message)),
        }
    }
}

fn failure(error: SweepError) -> Failure {
    match error {
        SweepError::Run { run, error } => run::failure(*error).within(&run),
        SweepError::Stopped { .. } | SweepError::Write(_) => Failure::run(error.to_string()),
        error => Failure::input(error.to_string()),
    }
}
