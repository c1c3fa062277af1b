//! `barchan validate`: experiments and closed forms.

use std::path::PathBuf;
use std::time::Instant;

use barchan_validate::{Options, Report, Row, ValidateError, cases, short, validate};
use clap::Args;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::use_threads;

/// Hold a solver to experiments and closed forms.
#[derive(Args)]
pub struct Arguments {
    #[arg(value_name = "CASE", help = cases_help())]
    cases: Vec<String>,

    /// Only runs whose case and variant hold this text, such as "repose 30"
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Change a value of every scene: solver.kind=pbd, solver.pbd.iterations=4
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// One seed, smallest sizes, one negative control
    #[arg(long)]
    quick: bool,

    /// The folder of the report and its plots
    #[arg(long, short, value_name = "DIR", default_value = "validation")]
    output: PathBuf,

    /// Threads to use; all cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object a row
    #[arg(long)]
    json: bool,
}

fn cases_help() -> String {
    let names: Vec<String> = cases().unwrap_or_default().into_iter().map(|case| case.0).collect();
    format!("Cases to run, all if none is named: {}", names.join(", "))
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let options = Options {
        cases: arguments.cases.clone(),
        only: arguments.only.clone(),
        set: arguments.set.clone(),
        quick: arguments.quick,
    };
    let start = Instant::now();
    let progress = Progress::new("validating");
    let rows = validate(
        &options,
        &mut |now| progress.tell_part(now.what, now.done, now.all),
        &mut |row| {
            if arguments.json {
                println!("{}", row.json());
            }
        },
    );
    drop(progress);
    let rows = rows.map_err(failure)?;
    let report = Report {
        options: &options,
        rows: &rows,
        command: command(),
        seconds: start.elapsed().as_secs_f64(),
        threads: rayon::current_num_threads(),
    };
    report.write(&arguments.output).map_err(failure)?;
    if !arguments.json {
        print_table(&rows);
        println!("report: {}", arguments.output.join("report.html").display());
    }
    let missed = rows.iter().filter(|row| row.pass == Some(false)).count();
    match missed {
        0 => Ok(()),
        n => Err(Failure::run(format!("{n} of {} rows miss their band", rows.len()))),
    }
}

/// The command line, without the place of the program.
fn command() -> String {
    let quoted = |word: String| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word,
    };
    let words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    format!("barchan {}", words.join(" "))
}

fn failure(error: ValidateError) -> Failure {
    match error {
        ValidateError::NoCase { .. } | ValidateError::Scene(_) | ValidateError::Simulation { .. } => {
            Failure::input(error.to_string())
        }
        _ => Failure::run(error.to_string()),
    }
}

fn print_table(rows: &[Row]) {
    println!(
        "{:<44} {:<22} {:>14} {:>9} {:>19}  verdict",
        "run", "quantity", "measured", "expected", "band"
    );
    for row in rows {
        let note = match row.note.as_str() {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        println!(
            "{:<44} {:<22} {:>14} {:>9} {:>19}  {}{note}",
            format!("{}: {}", row.case, row.variant),
            row.quantity,
            row.measured_text(),
            short(row.band.expected),
            row.band_text(),
            row.verdict(),
        );
    }
}
