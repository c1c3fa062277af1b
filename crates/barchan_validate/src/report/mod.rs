//! Validation report: measured values beside the laws.

mod chart;
mod gauge;
mod html;
mod machine;

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use barchan::SOLVERS;
use barchan::io::write_atomically;

use crate::ValidateError;
use crate::experiment::{Check, Experiment};
use crate::expression::Parameters;
use crate::plan::{Options, chosen};
use crate::row::{Kind, Row};
use chart::{Chart, Point};
pub use machine::{machine, today};

/// Number of points at which a law is drawn.
const SAMPLES: usize = 60;

/// Contents of a report.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Selection of runs.
    pub options: &'a Options,
    /// The rows.
    pub rows: &'a [Row],
    /// The command line.
    pub command: String,
    /// Total time of all runs [s].
    pub seconds: f64,
    /// Threads per run.
    pub threads: usize,
}

/// A plotted law: the experiment, its quantity, and the plot.
struct Drawing {
    experiment: String,
    quantity: String,
    svg: String,
}

impl Report<'_> {
    /// Writes `report.html`, `table.md`, `rows.jsonl` and one plot per law into the folder `dir`.
    pub fn write(&self, dir: &Path) -> Result<(), ValidateError> {
        let failed = |path: &Path, reason: std::io::Error| ValidateError::Write {
            path: path.display().to_string(),
            reason,
        };
        std::fs::create_dir_all(dir).map_err(|reason| failed(dir, reason))?;
        let experiments = chosen(self.options)?;
        let drawings = self.drawings(&experiments);
        let lines: String = self.rows.iter().map(|row| format!("{}\n", row.json())).collect();
        let mut files = vec![
            ("report.html".to_owned(), html::page(self, &experiments, &drawings)),
            ("table.md".to_owned(), self.markdown()),
            ("rows.jsonl".to_owned(), lines),
        ];
        for drawing in &drawings {
            let name = format!("{}_{}.svg", drawing.experiment, drawing.quantity.replace(' ', "_"));
            files.push((name, drawing.svg.clone()));
        }
        for (name, text) in files {
            let path = dir.join(name);
            write_atomically(&path, |out| out.write_all(text.as_bytes()))
                .map_err(|error| failed(&path, error.reason))?;
        }
        Ok(())
    }

    /// Returns the rows as a Markdown table; failures are bold.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| run | quantity | measured | expected | band | seeds | verdict |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for row in self.rows {
            let kind = match row.kind {
                Kind::Law => String::new(),
                kind => format!(" ({})", kind.word()),
            };
            let verdict = match row.pass {
                Some(true) => "pass",
                Some(false) => "**MISS**",
                None => "**inconclusive**",
            };
            let note = match row.note.as_str() {
                "" => String::new(),
                note => format!(": {note}"),
            };
            let spread = match row.spread {
                s if s > 0.0 => format!(" ± {}", short(s)),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "| {}: {}{kind} | {} | {}{spread} {} | {} | {} | {} | {verdict}{note} |",
                row.case,
                row.variant,
                row.quantity,
                short(row.measured),
                row.unit,
                short(row.band.expected),
                row.band_text(),
                row.seeds,
            );
        }
        text
    }

    fn drawings(&self, experiments: &[Experiment]) -> Vec<Drawing> {
        let mut drawings = Vec::new();
        for experiment in experiments {
            for check in &experiment.checks {
                drawings.extend(self.drawing(experiment, check));
            }
        }
        drawings
    }

    /// Plots the law over the experiment's axis with the measured values; `None` with fewer than two positions on the
    /// axis.
    fn drawing(&self, experiment: &Experiment, check: &Check) -> Option<Drawing> {
        let axis = experiment.plot.as_ref()?;
        let rows = self
            .rows
            .iter()
            .filter(|row| row.experiment == experiment.file && row.kind == Kind::Law && row.quantity == check.quantity);
        let points: Vec<Point> = rows
            .filter_map(|row| {
                Some(Point {
                    x: row.x?,
                    y: row.measured,
                    error: 2.0 * row.spread,
                    pass: row.pass,
                })
            })
            .collect();
        let low = points.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
        if low >= high {
            return None;
        }
        let solver = self.rows.first().map_or(SOLVERS[0].name, |row| row.solver.as_str());
        let margin = 0.08 * (high - low);
        let law = (0..=SAMPLES).filter_map(|k| {
            let x = low - margin + (high - low + 2.0 * margin) * k as f64 / SAMPLES as f64;
            let mut parameters: Parameters = experiment.parameters.clone();
            parameters.set(&axis.parameter, x.to_string());
            let value = |text: &str| parameters.value(text).ok().filter(|y| y.is_finite());
            let (from, to) = check.band(solver);
            let expected = value(&check.expected)?;
            Some([
                x,
                expected,
                from.and_then(value).unwrap_or(f64::NAN),
                to.and_then(value).unwrap_or(f64::NAN),
            ])
        });
        let unit = if check.unit.is_empty() { "-" } else { &check.unit };
        let chart = Chart {
            title: check.quantity.clone(),
            x_label: axis.label.clone(),
            y_label: format!("{} [{unit}]", check.quantity),
            law: law.collect(),
            points,
        };
        Some(Drawing {
            experiment: experiment.file.clone(),
            quantity: check.quantity.clone(),
            svg: chart.svg(),
        })
    }
}

/// Formats a number with four significant digits.
pub fn short(x: f64) -> String {
    match x.abs() {
        a if a.is_nan() => "-".to_owned(),
        0.0 => "0".to_owned(),
        a if (1e-3..1e4).contains(&a) => {
            let decimals = (3 - a.log10().floor() as i32).max(0) as usize;
            let text = format!("{x:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{x:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (30.0, "30"),
            (1.60871, "1.609"),
            (-0.5, "-0.5"),
            (12345.0, "1.23e4"),
            (2.34e-7, "2.34e-7"),
            (1234.5, "1234"),
            (f64::NAN, "-"),
        ];
        for (x, text) in cases {
            assert_eq!(short(x), text);
        }
    }
}
