//! The `barchan` program.

/// Prints a line to standard output. A closed reader, such as `head`, is ignored; any other write error makes the
/// program fail at its end.
macro_rules! say {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        crate::failure::note(writeln!(std::io::stdout(), $($line)*));
    }};
}

/// Prints a line to standard error; a closed stream is ignored.
macro_rules! tell {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($line)*);
    }};
}

mod bench;
mod cache;
mod check;
mod compare;
mod demo;
mod disk;
mod export;
mod failure;
mod interrupt;
mod memory;
mod mesh;
mod progress;
mod refine;
mod render;
mod run;
mod sample;
mod scene;
mod shell;
mod sweep;
mod validate;
mod view;

use std::process::ExitCode;

use barchan::simd::Level;
use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Simulates granular material (sand, gravel, cereal) in high resolution. Without a command: simulates and draws
/// an hourglass.
#[derive(Parser)]
#[command(name = "barchan", version, max_term_width = 110, after_help = failure::EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a scene into a cache
    Run(run::Arguments),
    /// Draw a cache or a scene as a picture, pictures or a movie
    Render(render::Arguments),
    /// Open a window: simulate a scene live, or play a cache
    View(view::Arguments),
    /// Add grains to a cache of guides, or to particle files of another program
    Refine(refine::Arguments),
    /// Sample a mesh file or a shape with particles
    Sample(sample::Arguments),
    /// Export a cache to files for other programs
    Export(export::Arguments),
    /// Make a surface of the sand, frame by frame
    Mesh(mesh::Arguments),
    /// Show the contents of a cache: counts, bounds, energies, timings
    Info(cache::InfoArguments),
    /// Check a scene without running it
    Check(check::CheckArguments),
    /// List the built-in scenes
    Scenes(check::ScenesArguments),
    /// Print the JSON Schema of scene files, for editors
    Schema,
    /// Simulate a scene by several methods, and compare them in pictures and numbers
    Compare(compare::Arguments),
    /// Run a scene for every combination of values, into one table
    Sweep(sweep::Arguments),
    /// Validate a solver against experiments and closed forms
    Validate(validate::Arguments),
    /// Measure the speed of barchan on this machine
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    memory::share();
    // SAFETY: no other thread has been started yet.
    unsafe { set_runtime_dir() };
    let command = Arguments::parse().command;
    finish(use_instructions().and_then(|()| match command {
        None => demo::run(),
        Some(command) => execute(command),
    }))
}

fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Refine(arguments) => refine::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Mesh(arguments) => mesh::run(&arguments),
        Command::Info(arguments) => cache::info(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Scenes(arguments) => {
            check::scenes(&arguments);
            Ok(())
        }
        Command::Schema => {
            check::print_schema();
            Ok(())
        }
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    }
}

/// Rejects a `BARCHAN_SIMD` that names no instruction set of this machine.
fn use_instructions() -> Result<(), Failure> {
    Level::requested().map(|_| ()).map_err(Failure::input)
}

/// Sets an unset XDG_RUNTIME_DIR to its usual value. Mesa's Vulkan layer always looks for a Wayland display, and
/// libwayland prints an error if the variable is missing.
///
/// # Safety
///
/// No other thread may be running.
unsafe fn set_runtime_dir() {
    #[cfg(target_os = "linux")]
    if std::env::var_os("XDG_RUNTIME_DIR").is_none()
        && let Ok(own) = std::fs::metadata("/proc/self")
    {
        let user = std::os::unix::fs::MetadataExt::uid(&own);
        // SAFETY: as above.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", format!("/run/user/{user}")) };
    }
}

/// Prints the failure, if there is one, and returns the exit code.
fn finish(done: Result<(), Failure>) -> ExitCode {
    match done.and_then(|()| failure::noted()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell!("{failure}");
            failure.exit_code()
        }
    }
}

/// Largest number of threads.
const MAX_THREADS: usize = 1024;

/// Sets the number of threads for all parallel work.
fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Failure::input(format!(
            "--threads must be 1 to {MAX_THREADS}, got {threads}"
        )));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|reason| Failure::run(format!("cannot start {threads} threads: {reason}")))
}
