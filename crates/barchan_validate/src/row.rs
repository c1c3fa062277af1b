//! Rows of the table.

use serde_json::{Value, json};

use crate::judge::Band;
use crate::report::short;

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A law.
    Law,
    /// A wrong material, which passes if the band rejects it.
    Control,
    /// A change that must not affect the results.
    Twin,
}

impl Kind {
    /// Returns its name in rows.
    pub fn word(self) -> &'static str {
        match self {
            Self::Law => "law",
            Self::Control => "control",
            Self::Twin => "twin",
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The experiment's file.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// Kind of the row.
    pub kind: Kind,
    /// Name of the solver.
    pub solver: String,
    /// Measured quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the seeds.
    pub measured: f64,
    /// Expected value and accepted range.
    pub band: Band,
    /// Passed, failed, or undecided.
    pub pass: Option<bool>,
    /// Standard deviation over the seeds.
    pub spread: f64,
    /// Number of seeds.
    pub seeds: usize,
    /// Time of its runs [s].
    pub seconds: f64,
    /// Number of guides in a run.
    pub guides: usize,
    /// Note for the reader.
    pub note: String,
    /// Position on the plot's axis.
    pub x: Option<f64>,
}

impl Row {
    /// Returns the verdict in one word.
    pub fn verdict(&self) -> &'static str {
        match self.pass {
            Some(true) => "pass",
            Some(false) => "MISS",
            None => "inconclusive",
        }
    }

    /// Returns the verdict as a CSS class.
    pub(crate) fn verdict_class(&self) -> &'static str {
        match self.pass {
            Some(true) => "pass",
            Some(false) => "miss",
            None => "open",
        }
    }

    /// Returns the measured value with its unit.
    pub fn measured_text(&self) -> String {
        format!("{} {}", short(self.measured), self.unit).trim_end().to_owned()
    }

    /// Returns both ends of the band.
    pub fn band_text(&self) -> String {
        match (self.band.low, self.band.high) {
            (Some(low), Some(high)) => format!("{} .. {}", short(low), short(high)),
            (None, Some(high)) => format!("≤ {}", short(high)),
            (Some(low), None) => format!("≥ {}", short(low)),
            (None, None) => String::new(),
        }
    }

    /// Returns one JSON object.
    pub fn json(&self) -> Value {
        json!({
            "case": self.case,
            "variant": self.variant,
            "kind": self.kind.word(),
            "quantity": self.quantity,
            "unit": self.unit,
            "solver": self.solver,
            "measured": number(self.measured),
            "expected": number(self.band.expected),
            "low": self.band.low,
            "high": self.band.high,
            "pass": self.pass,
            "spread": self.spread,
            "seeds": self.seeds,
            "guides": self.guides,
            "seconds": self.seconds,
            "note": self.note,
        })
    }
}

/// Maps NaN to null: JSON has no NaN.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}
