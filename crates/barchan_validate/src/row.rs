//! Lines of the table.

use serde_json::{Value, json};

use crate::judge::Band;
use crate::report::short;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A law.
    Law,
    /// A wrong material, which passes when the band rejects it.
    Control,
    /// A change that must change nothing.
    Twin,
}

impl Kind {
    /// As rows say it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Law => "law",
            Self::Control => "control",
            Self::Twin => "twin",
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The experiment's file.
    pub experiment: String,
    /// Which run of it.
    pub variant: String,
    /// What it is about.
    pub kind: Kind,
    /// What moved the guides.
    pub solver: String,
    /// What was measured.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the seeds.
    pub measured: f64,
    /// What it should be and may be.
    pub band: Band,
    /// Right, wrong, or not to be told.
    pub pass: Option<bool>,
    /// Standard deviation over the seeds.
    pub spread: f64,
    /// Number of seeds.
    pub seeds: usize,
    /// Seconds that its runs took.
    pub seconds: f64,
    /// Guides of a run.
    pub guides: usize,
    /// What a reader should know.
    pub note: String,
    /// Where it lies on the plot's axis.
    pub x: Option<f64>,
}

impl Row {
    /// What the band says, in a word.
    pub fn verdict(&self) -> &'static str {
        match self.pass {
            Some(true) => "pass",
            Some(false) => "MISS",
            None => "inconclusive",
        }
    }

    /// The same, as pages call it.
    pub(crate) fn verdict_class(&self) -> &'static str {
        match self.pass {
            Some(true) => "pass",
            Some(false) => "miss",
            None => "open",
        }
    }

    /// The measured value with its unit.
    pub fn measured_text(&self) -> String {
        format!("{} {}", short(self.measured), self.unit).trim_end().to_owned()
    }

    /// From and to.
    pub fn band_text(&self) -> String {
        match (self.band.low, self.band.high) {
            (Some(low), Some(high)) => format!("{} .. {}", short(low), short(high)),
            (None, Some(high)) => format!("≤ {}", short(high)),
            (Some(low), None) => format!("≥ {}", short(low)),
            (None, None) => String::new(),
        }
    }

    /// As one JSON object.
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

/// JSON has no NaN.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}
