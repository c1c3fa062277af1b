//! Single runs: simulation, cost, and observation.

use barchan::SimulationError;
use barchan::scene::Scene;
use serde_json::{Value, json};

use crate::ValidateError;
use crate::experiment::Change;
use crate::expression::Parameters;
use crate::pause::Pause;
use crate::plan::{Job, Plan, scene};
use crate::protocols::{Broken, Protocol, protocol};
use crate::stage::{Observation, Stage};

/// A run with one seed.
pub(crate) struct Task {
    /// Its name.
    pub what: String,
    /// Its unique key.
    pub key: String,
    /// Approximate number of guide steps [-].
    pub cost: f64,
    file: String,
    scene: Scene,
    parameters: Parameters,
    change: Option<Change>,
    protocol: Protocol,
}

/// Observation and cost of a run.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub seen: Observation,
    pub seconds: f64,
}

impl Task {
    /// Creates the run of `job` with `seed`.
    pub fn new(job: &Job, plan: &Plan, seed: u64) -> Result<Self, ValidateError> {
        let experiment = job.experiment;
        let wrong = |source| ValidateError::Expression {
            file: experiment.file.clone(),
            source,
        };
        let protocol = protocol(&experiment.protocol).ok_or_else(|| ValidateError::Experiment {
            file: experiment.file.clone(),
            reason: format!("there is no protocol `{}`", experiment.protocol),
        })?;
        let document = plan.document.clone().with(format!("seed={seed}"));
        let (text, said) = (&document.text, &document.overrides);
        let says = format!(
            "{} {:?} {:?} {text} {said:?}",
            experiment.protocol, plan.parameters, plan.change
        );
        let finer = match plan.change {
            Some(Change::HalfStep | Change::TwiceTheIterations) => 2.0,
            _ => 1.0,
        };
        Ok(Self {
            what: format!("{} {}, seed {seed}", experiment.case, job.variant.name),
            key: format!("{:016x}", fingerprint(says.as_bytes())),
            cost: finer * plan.parameters.value(&experiment.cost).map_err(wrong)?,
            file: experiment.file.clone(),
            scene: scene(&document)?,
            parameters: plan.parameters.clone(),
            change: plan.change,
            protocol,
        })
    }

    /// Runs it, or continues it from the checkpoint in `pause`.
    pub fn run(&self, pause: Pause) -> Result<Finished, ValidateError> {
        let (result, seconds) = match Stage::new(self.scene.clone(), self.parameters.clone(), self.change, pause) {
            Ok(mut stage) => ((self.protocol)(&mut stage), stage.end()),
            Err(error) => (Err(error.into()), 0.0),
        };
        let seen = match result {
            Ok(seen) => seen,
            Err(Broken::Expression(source)) => {
                return Err(ValidateError::Expression {
                    file: self.file.clone(),
                    source,
                });
            }
            // A solver that fails misses the band; other runs continue.
            Err(Broken::Simulation(SimulationError::Advance(error))) => Observation {
                notes: vec![format!("broke off: {error}")],
                broken: true,
                ..Observation::default()
            },
            Err(Broken::Simulation(source)) => {
                return Err(ValidateError::Simulation {
                    what: self.what.clone(),
                    source: Box::new(source),
                });
            }
        };
        Ok(Finished { seen, seconds })
    }
}

impl Finished {
    /// Converts to one JSON object.
    pub fn json(&self) -> Value {
        let Observation {
            values,
            notes,
            guides,
            broken,
        } = &self.seen;
        // NaN becomes null: JSON has no NaN.
        let values: Vec<Value> = values.iter().map(|(name, value)| json!([name, value])).collect();
        json!({ "values": values, "notes": notes, "guides": guides, "broken": broken, "seconds": self.seconds })
    }

    /// Converts from JSON; `None` for any other object.
    pub fn read(value: &Value) -> Option<Self> {
        let pair = |pair: &Value| {
            let number = match &pair[1] {
                Value::Null => f64::NAN,
                number => number.as_f64()?,
            };
            Some((pair[0].as_str()?.to_owned().into(), number))
        };
        let note = |note: &Value| note.as_str().map(str::to_owned);
        Some(Self {
            seen: Observation {
                values: value["values"].as_array()?.iter().map(pair).collect::<Option<_>>()?,
                notes: value["notes"].as_array()?.iter().map(note).collect::<Option<_>>()?,
                guides: value["guides"].as_u64()? as usize,
                broken: value["broken"].as_bool()?,
            },
            seconds: value["seconds"].as_f64()?,
        })
    }
}

/// Hashes bytes: 64 bits of FNV-1a.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_showed_comes_back_from_its_file() {
        let finished = Finished {
            seen: Observation {
                values: vec![("angle".into(), 30.25), ("rest".into(), f64::NAN)],
                notes: vec!["small".to_owned()],
                guides: 12,
                broken: false,
            },
            seconds: 1.5,
        };
        let text = finished.json().to_string();
        let back = Finished::read(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(back.seen.value("angle"), Some(30.25));
        assert!(back.seen.value("rest").is_some_and(f64::is_nan));
        assert_eq!((back.seen.guides, back.seconds), (12, 1.5));
        assert_eq!(back.seen.notes, ["small"]);
        assert!(Finished::read(&json!({ "values": [] })).is_none());
    }

    #[test]
    fn fingerprints_are_those_of_the_published_function() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
