//! `barchan bench`: speed of the parts on this machine, beside published figures.

mod dem;
mod markdown;
mod neighbors;
mod pbd;
mod refine;
mod render;
mod sample;
mod scenes;
mod sph;
mod view;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::failure::Failure;
use crate::use_threads;

/// Measure the speed of barchan on this machine.
#[derive(Args)]
pub struct Arguments {
    /// Parts and scenes to measure [default: the papers' scenes that take minutes]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(BENCHES.iter().map(|b| b.0).chain(scenes::NAMES.iter().chain(scenes::LONG).copied())))]
    names: Vec<String>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Add the angle of repose that each pbd setting gives where 30° is specified
    #[arg(long)]
    angles: bool,

    /// Print one JSON object per row
    #[arg(long)]
    json: bool,

    /// Print machine, date, command and rows as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// A benchmark; passes its rows to the printer.
type Bench = fn(&mut Printer);

/// Every benchmark by name.
const BENCHES: &[(&str, Bench)] = &[
    ("neighbors", neighbors::run),
    ("sample", sample::run),
    ("pbd", pbd::run),
    ("refine", refine::run),
    ("sph", sph::run),
    ("dem", dem::run),
    ("render", render::run),
    ("view", view::run),
];

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let mut printer = Printer {
        form: match (arguments.json, arguments.markdown) {
            (true, _) => Form::Json,
            (_, true) => Form::Markdown(Vec::new()),
            _ => Form::Text,
        },
        angles: arguments.angles,
    };
    if arguments.markdown {
        say!("{}", markdown::provenance());
    }
    for (name, measure) in BENCHES {
        if arguments.names.iter().any(|n| n == name) {
            measure(&mut printer);
            printer.finish(name);
        }
    }
    for name in scenes::NAMES.iter().chain(scenes::LONG) {
        let is_usual = arguments.names.is_empty() && scenes::NAMES.contains(name);
        if is_usual || arguments.names.iter().any(|n| n == name) {
            scenes::run(name, &mut printer);
            printer.finish(name);
        }
    }
    Ok(())
}

/// Form of the output.
enum Form {
    /// Cells of a row side by side, as they come.
    Text,
    /// One object per row, as they come.
    Json,
    /// One table per bench; holds the rows of the one in hand.
    Markdown(Vec<Value>),
}

/// Prints rows.
pub struct Printer {
    form: Form,
    /// Rows of flowing sand include the measured angle of repose.
    pub angles: bool,
}

impl Printer {
    /// Prints a row: an object of plain values, `name` and `threads` first.
    pub fn row(&mut self, row: &Value) {
        match &mut self.form {
            Form::Json => return say!("{row}"),
            Form::Markdown(rows) => return rows.push(row.clone()),
            Form::Text => (),
        }
        let fields = row.as_object().expect("a row is an object");
        let cells: Vec<String> = fields.iter().filter(|(_, value)| !value.is_null()).map(cell).collect();
        say!("{}", cells.join("  "));
    }

    /// Ends the bench of that name.
    fn finish(&mut self, name: &str) {
        if let Form::Markdown(rows) = &mut self.form {
            say!("### {name}\n\n{}", markdown::table(&std::mem::take(rows)));
        }
    }
}

fn cell((key, value): (&String, &Value)) -> String {
    match (key.as_str(), value) {
        ("name", Value::String(name)) => format!("{name:<24}"),
        (_, Value::Number(number)) if number.is_f64() => format!("{key} {:.4}", number.as_f64().unwrap_or(f64::NAN)),
        _ => format!("{key} {value}"),
    }
}
