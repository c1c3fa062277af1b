//! The `barchan` program.

mod bench;
mod failure;
mod memory;
mod progress;
mod sample;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Granular material (sand, gravel, grain, snow) in high resolution.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Turn a mesh file or a shape into particles
    Sample(sample::Arguments),
    /// Measure how fast the parts of barchan are on this machine
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

/// Limits the threads that all parallel work uses.
fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Failure::input("--threads must be at least 1"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|reason| Failure::run(format!("cannot start {threads} threads: {reason}")))
}
