//! `barchan validate`: experiments and closed forms.

use std::path::PathBuf;

use barchan::geometry::text::counted;
use barchan_validate::{
    Options, Report, Row, ValidateError, cases, fingerprint, machine, runs, short, today, validate,
};
use clap::Args;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::{shell, use_threads};

/// Validate a solver against experiments and closed forms.
#[derive(Args)]
pub struct Arguments {
    #[arg(value_name = "CASE", help = cases_help())]
    cases: Vec<String>,

    /// Only runs whose case and variant contain this text, such as "repose 30"
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Change a value of every scene: solver.kind=pbd, solver.pbd.iterations=4
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// One seed, smallest sizes, one negative control
    #[arg(long)]
    quick: bool,

    /// Largest number of seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,

    /// Parallel runs, each on one thread, the longest first
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "threads", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,

    /// Run nothing: list the runs, with the millions of guide steps of each
    #[arg(long)]
    list: bool,

    /// Run nothing: judge the runs in the folder, of any build
    #[arg(long)]
    join: bool,

    /// Folder of the report and its plots; finished runs are kept in it and not repeated by the same program
    #[arg(long, short, value_name = "DIR", default_value = "validation")]
    output: PathBuf,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object per row
    #[arg(long)]
    json: bool,

    /// Print machine, date, command and rows as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
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
        seeds: arguments.seeds,
        jobs: usize::from(arguments.jobs),
        join: arguments.join,
        build: build()?,
    };
    if arguments.list {
        for (what, cost) in runs(&options).map_err(failure)? {
            say!("{:>8.1}  {what}", 1e-6 * cost);
        }
        return Ok(());
    }
    let progress = Progress::new("validating");
    let results = validate(
        &options,
        &arguments.output,
        &|now| progress.show_part(now.what, now.done, now.all),
        &mut |row| {
            if arguments.json {
                say!("{}", row.json());
            }
        },
    );
    drop(progress);
    let results = results.map_err(failure)?;
    let rows = &results.rows;
    let report = Report {
        options: &options,
        rows,
        command: command(),
        seconds: results.seconds,
        threads: if options.jobs > 1 {
            1
        } else {
            rayon::current_num_threads()
        },
    };
    report.write(&arguments.output).map_err(failure)?;
    if arguments.markdown {
        say!("{}", provenance(results.seconds));
        say!("{}", report.markdown().trim_end());
    } else if !arguments.json {
        print_table(rows);
        say!("report: {}", arguments.output.join("report.html").display());
    }
    if results.missing > 0 {
        return Err(Failure::run(format!("missing: {}", counted(results.missing, "run"))));
    }
    let missed = rows.iter().filter(|row| row.pass == Some(false)).count();
    match missed {
        0 => Ok(()),
        n => Err(Failure::run(format!(
            "{n} of {} outside their bands",
            counted(rows.len(), "row")
        ))),
    }
}

/// Returns the identity of this program: a hash of its bytes.
fn build() -> Result<String, Failure> {
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.map_err(|reason| Failure::run(format!("cannot read this program: {reason}")))?;
    Ok(format!("{:016x}", fingerprint(&program)))
}

/// Machine, date, command and duration, for documents.
fn provenance(seconds: f64) -> String {
    format!("{}. {}; `{}`, {seconds:.0} s of runs.\n", machine(), today(), command())
}

/// Returns the command line, without the path of the program.
pub fn command() -> String {
    let words = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    format!("barchan {}", shell::command(words))
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
    say!(
        "{:<44} {:<22} {:>14} {:>9} {:>19}  verdict",
        "run",
        "quantity",
        "measured",
        "expected",
        "band"
    );
    for row in rows {
        let note = match row.note.as_str() {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        say!(
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
