//! `barchan validate`: experiments and closed forms.

use std::path::PathBuf;

use barchan_validate::{Options, Row, ValidateError, validate};
use clap::Args;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::use_threads;

/// Hold a solver to experiments and closed forms.
#[derive(Args)]
pub struct Arguments {
    /// Cases to run; all if none is named
    #[arg(value_name = "CASE")]
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

    /// The report's folder; no report if not given
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Threads to use; all cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object a row
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let options = Options {
        cases: arguments.cases.clone(),
        only: arguments.only.clone(),
        set: arguments.set.clone(),
        quick: arguments.quick,
    };
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
    if !arguments.json {
        print_table(&rows);
    }
    let missed = rows.iter().filter(|row| row.pass == Some(false)).count();
    match missed {
        0 => Ok(()),
        n => Err(Failure::run(format!("{n} of {} rows miss their band", rows.len()))),
    }
}

fn failure(error: ValidateError) -> Failure {
    match error {
        ValidateError::NoCase { .. } | ValidateError::Scene(_) => Failure::input(error.to_string()),
        _ => Failure::run(error.to_string()),
    }
}

fn print_table(rows: &[Row]) {
    let bound = |x: Option<f64>| x.map_or("-".to_owned(), short);
    println!(
        "{:<40} {:<18} {:>10} {:>10} {:>19}  verdict",
        "case", "quantity", "measured", "expected", "band"
    );
    for row in rows {
        let verdict = match row.pass {
            Some(true) => "pass",
            Some(false) => "MISS",
            None => "inconclusive",
        };
        let note = if row.note.is_empty() {
            String::new()
        } else {
            format!(" ({})", row.note)
        };
        println!(
            "{:<40} {:<18} {:>10} {:>10} {:>19}  {verdict}{note}",
            format!("{} {}", row.case, row.variant),
            row.quantity,
            short(row.measured),
            short(row.band.expected),
            format!("{} .. {}", bound(row.band.low), bound(row.band.high)),
        );
    }
}

/// A number with four digits that count.
fn short(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e4 => {
            let decimals = (3 - x.abs().log10().floor() as i32).max(0) as usize;
            format!("{x:.decimals$}")
        }
        _ => format!("{x:.2e}"),
    }
}
